package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// suffix is the suffix of the names of files that are still being written. A killed process may leave such a file,
// which can be removed.
const suffix = ".new"

// Write atomically replaces the file at path, whose directory must exist, with content. The file gets the permissions
// perm, before the umask, even if it replaces another.
func Write(path string, content []byte, perm fs.FileMode) error {
	return WriteFrom(path, perm, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteFrom works like Write, with content that write produces piece by piece; the writer is buffered. If write
// fails, the old content stays and WriteFrom returns write's error.
func WriteFrom(path string, perm fs.FileMode, write func(io.Writer) error) error {
	f, err := create(path, perm)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = Move(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// create creates a new temporary file beside path.
func create(path string, perm fs.FileMode) (*os.File, error) {
	const attempts = 100
	dir, base := filepath.Split(path)
	for i := 0; ; i++ {
		name := dir + "." + base + "." + strconv.FormatUint(rand.Uint64(), 36) + suffix
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
		if i < attempts && errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, err
	}
}

// Move renames a file or directory that is already on the disk, replacing a file at the new path, and ensures that
// the new name is on the disk as well.
func Move(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// syncDir syncs a directory's entries to the disk. Windows does so itself and rejects the request.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
