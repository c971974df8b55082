package sqlitestore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/csvimport"
	"stepback/csvimport/sqlitestore"
)

// TestAChangedDatabaseIsRefused changes a counter, cuts the file and removes it.
func TestAChangedDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	made := filepath.Join(t.TempDir(), "users.db")
	s := open(t, made)
	if _, err := s.Apply(t.Context(), csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}, 0,
		csvimport.Increment{UserID: "somebody", LoginCount: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, harm := range map[string]func(path string, content []byte) error{
		"a changed byte": func(path string, content []byte) error {
			at := strings.Index(string(content), "somebody")
			content[at] ^= 2
			return os.WriteFile(path, content, 0o600)
		},
		"cut":     func(path string, content []byte) error { return os.Truncate(path, int64(len(content)/2)) },
		"missing": func(path string, _ []byte) error { return os.Remove(path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Dir(made))); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "users.db")
			if err := sqlitestore.Check(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := harm(path, content); err != nil {
				t.Fatal(err)
			}
			for range 2 { // it is not forgotten
				if err := sqlitestore.Check(t.Context(), path); err == nil || !strings.Contains(err.Error(), path+" is damaged") {
					t.Errorf("checked: %v", err)
				}
				if _, err := sqlitestore.Open(t.Context(), path, sqlitestore.Full); err == nil ||
					!strings.Contains(err.Error(), "stepback data repair") {
					t.Errorf("opened: %v", err)
				}
			}
		})
	}
}
