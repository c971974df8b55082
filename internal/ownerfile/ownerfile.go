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
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}
