package sqlitestore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/csvimport"
	"stepback/csvimport/sqlitestore"
)

// TestCheckFindsACutDatabase checks a sound database, and one of which the second half is missing.
func TestCheckFindsACutDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "users.db")
	s := open(t, path)
	if _, err := s.Apply(t.Context(), csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}, 0,
		csvimport.Increment{UserID: "u", LoginCount: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sqlitestore.Check(t.Context(), path); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	if err := sqlitestore.Check(t.Context(), path); err == nil || !strings.Contains(err.Error(), path+" is damaged") {
		t.Errorf("the cut database: %v", err)
	}
}
