// Package ownerfs makes files and directories accessible to their owner alone, without the process's umask, which
// child processes would inherit.
package ownerfs

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The permissions of the files and directories of a data directory.
const (
	File fs.FileMode = 0o600
	Dir  fs.FileMode = 0o700
)

// others are the permissions of everybody but the owner.
const others fs.FileMode = 0o077

// Tighten removes the permissions of everybody but the owner from a directory, if it exists. changed is true if there
// were any.
func Tighten(dir string) (changed bool, err error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !info.IsDir() || info.Mode().Perm()&others == 0 {
		return false, err
	}
	return true, os.Chmod(dir, info.Mode().Perm()&^others)
}

// System is the operating system's file system, in which files and directories are created for their owner alone. It
// tightens directories that exist and that a store is opened in.
var System vfs.FS = files{vfs.Default}

type files struct{ vfs.FS }

// Create implements vfs.FS.
func (f files) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return owned(name)(f.FS.Create(name, category))
}

// OpenReadWrite implements vfs.FS.
func (f files) OpenReadWrite(name string, category vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return owned(name)(f.FS.OpenReadWrite(name, category, o...))
}

// ReuseForWrite implements vfs.FS.
func (f files) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return owned(to)(f.FS.ReuseForWrite(from, to, category))
}

// owned returns a function that restricts a file that has been opened.
func owned(name string) func(vfs.File, error) (vfs.File, error) {
	return func(f vfs.File, err error) (vfs.File, error) {
		if err != nil {
			return nil, err
		}
		if err := os.Chmod(name, File); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
}

// MkdirAll implements vfs.FS.
func (f files) MkdirAll(dir string, _ os.FileMode) error {
	if err := f.FS.MkdirAll(dir, Dir); err != nil {
		return err
	}
	_, err := Tighten(dir)
	return err
}

// Lock implements vfs.FS.
func (f files) Lock(name string) (io.Closer, error) {
	held, err := f.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(name, File); err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// Unwrap implements vfs.FS.
func (f files) Unwrap() vfs.FS { return f.FS }
