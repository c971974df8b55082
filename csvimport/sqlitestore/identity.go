package sqlitestore

import (
	"os"

	"stepback/csvimport"
	"stepback/retry"
)

// identity identifies the file that was opened. If a file in use is removed or replaced, SQLite continues to write to
// the old one, and its commits are lost with it.
type identity struct {
	path string
	file os.FileInfo
}

func identify(path string) (identity, error) {
	file, err := os.Stat(path)
	return identity{path, file}, err
}

// check reports an error unless the path still refers to the file that was opened.
func (i identity) check() error {
	now, err := os.Stat(i.path)
	if err == nil && os.SameFile(now, i.file) {
		return nil
	}
	return csvimport.Fail(retry.StorageError,
		"the database %s was removed or replaced while it was in use: restore it and start again, or start again with a new one", i.path)
}
