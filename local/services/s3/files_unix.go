//go:build unix

package s3

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"stepback/internal/ownerfs"
)

// newBodyFile creates a file for a body in a directory. os.CreateTemp makes five more system calls, to find out that a
// file cannot be polled.
func newBodyFile(dir string) (bodyFile, error) {
	name := filepath.Join(dir, "body-"+rand.Text())
	const flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_EXCL | syscall.O_CLOEXEC
	for {
		fd, err := syscall.Open(name, flags, uint32(ownerfs.File))
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), name), nil
		case !errors.Is(err, syscall.EINTR):
			return nil, &os.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

// rename renames a file. os.Rename first looks whether the new name is that of a directory, which rename(2) rejects,
// too.
func rename(from, to string) error {
	for {
		err := syscall.Rename(from, to)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EINTR):
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
	}
}
