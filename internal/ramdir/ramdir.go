// Package ramdir creates directories in the memory of the machine, for data that ends with the process.
package ramdir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stepback/internal/ownerfs"
)

// Dir is a directory for data that ends with the process.
type Dir struct {
	Path string
	// InMemory is true if no file of the directory is on a disk. It is false on systems without a file system in memory
	// that a user can write to; the directory is then an ordinary temporary one.
	InMemory bool

	lock io.Closer
}

// New creates a directory that only the user can read, in the file system in memory with the most free space (on Linux
// /dev/shm, or a temporary directory that is a tmpfs). It first removes the directories of processes that were killed.
// Close removes the directory.
func New() (*Dir, error) {
	base, inMemory := mounted()
	d, err := create(base)
	if err != nil {
		return nil, err
	}
	d.InMemory = inMemory
	return d, nil
}

// prefix begins the names of a user's directories, and of the lock beside each.
func prefix() string { return fmt.Sprintf("stepback-memory-%d-", os.Getuid()) }

const lockSuffix = ".lock"

func create(base string) (*Dir, error) {
	if err := removeAbandoned(base); err != nil {
		return nil, err
	}
	path := filepath.Join(base, prefix()+rand.Text())
	lock, err := ownerfs.System.Lock(path + lockSuffix)
	if err != nil {
		return nil, fmt.Errorf("creating a directory in memory: %w", err)
	}
	if err := os.Mkdir(path, ownerfs.Dir); err != nil {
		return nil, errors.Join(fmt.Errorf("creating a directory in memory: %w", err), unlock(path, lock))
	}
	return &Dir{Path: path, lock: lock}, nil
}

// removeAbandoned removes the directories whose processes have ended without closing them: their locks are free.
func removeAbandoned(base string) error {
	entries, err := os.ReadDir(base)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, isLock := strings.CutSuffix(e.Name(), lockSuffix)
		if !isLock || !strings.HasPrefix(name, prefix()) {
			continue
		}
		path := filepath.Join(base, name)
		lock, err := ownerfs.System.Lock(path + lockSuffix)
		if err != nil {
			continue // its process runs
		}
		if err := errors.Join(removeWhole(path), unlock(path, lock)); err != nil {
			return fmt.Errorf("removing what a killed process left in memory: %w", err)
		}
	}
	return nil
}

// removeWhole removes a directory with what is in it, also from folders that cannot be written to.
func removeWhole(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	_ = fs.WalkDir(root.FS(), ".", func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = root.Chmod(p, ownerfs.Dir)
		}
		return nil
	})
	return errors.Join(root.Close(), os.RemoveAll(path))
}

// Close removes the directory with everything in it.
func (d *Dir) Close() error {
	return errors.Join(removeWhole(d.Path), unlock(d.Path, d.lock))
}

// unlock ends a lock and removes its file. Another process may have removed the file in between.
func unlock(path string, lock io.Closer) error {
	err := lock.Close()
	if e := os.Remove(path + lockSuffix); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}
