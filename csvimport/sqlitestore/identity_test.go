//go:build unix

package sqlitestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stepback/csvimport"
	"stepback/csvimport/storetest"
	"stepback/retry"
)

func TestTheFileIsTakenAway(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "users.db")
			s := open(t, path)
			defer s.Close()
			run := csvimport.Run{File: csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}, Name: "r"}
			if _, err := s.Apply(t.Context(), run, 0, csvimport.Increment{UserID: "u", LoginCount: 1}); err != nil {
				t.Fatal(err)
			}
			if err := take(path); err != nil {
				t.Fatal(err)
			}
			_, err := s.Apply(t.Context(), run, 1, csvimport.Increment{UserID: "u", LoginCount: 1})
			storetest.WantName(t, err, retry.StorageError)
		})
	}
}
