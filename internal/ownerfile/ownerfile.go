// Package ownerfile creates database files that only their owner can read. Unlike package ownerfs it links no store.
package ownerfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Create creates an empty file that only its owner can read and write, and the missing directories of its path, which
// only their owner can enter. A file and directories that exist stay as they are. SQLite gives the files that it keeps
// beside a database the permissions of the database.
func Create(path string) error {
	if dir := filepath.Dir(path); dir != "." {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create the directory of %s: %w", path, err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return create(path)
}

// create creates the file under another name and links it. If it created the file under its own name, another goroutine
// could open the database before the new file is closed, and closing a file ends all locks that this process has on it.
func create(path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // with the permissions 0600
	if err != nil {
		return err
	}
	err = file.Close()
	if err == nil {
		err = os.Link(file.Name(), path)
	}
	removed := os.Remove(file.Name())
	switch {
	case err == nil || errors.Is(err, fs.ErrExist):
		return removed
	case errors.Is(err, fs.ErrNotExist): // another process removed the directory
		return errors.Join(err, removed)
	}
	// The file system has no hard links.
	file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return removed
	}
	if err == nil {
		err = file.Close()
	}
	return errors.Join(err, removed)
}
