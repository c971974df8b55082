package sqlitestore

import (
	"os"

	"stepback/csvimport"
	"stepback/retry"
)

// identity is the file that was opened. Where a file in use can be removed or replaced, SQLite goes on writing to the
// old one, and what it commits is lost with it.
type identity struct {
	path string
	file os.FileInfo
}

func identify(path string) (identity, error) {
	file, err := os.Stat(path)
	return identity{path, file}, err
}

// check tells whether the path still leads to the file that was opened.
func (i identity) check() error {
	now, err := os.Stat(i.path)
	if err == nil && os.SameFile(now, i.file) {
		return nil
	}
	return csvimport.Fail(retry.StorageError,
		"the database %s was removed or replaced while it was in use: put it back and start again, or start again to count into a new one", i.path)
}
