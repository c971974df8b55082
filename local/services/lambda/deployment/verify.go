package deployment

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Differs compares the files in a directory with the packages that were unpacked into it, of which later ones override
// earlier ones. It returns the path of a file that is missing or changed, or "". Files that no package has are ignored. The
// error names the package that cannot be read.
func Differs(dir string, packages ...string) (string, error) {
	want := map[string]*zip.File{}
	for _, name := range packages {
		archive, err := zip.OpenReader(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		defer archive.Close()
		for _, f := range archive.File {
			clean, err := cleanName(f.Name)
			if err == nil && clean != "." && !strings.HasSuffix(f.Name, "/") && !f.Mode().IsDir() {
				want[clean] = f
			}
		}
	}
	for name, f := range want {
		if hidden(want, name) {
			continue
		}
		same, err := unpackedFrom(f, filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !same {
			return filepath.Join(dir, filepath.FromSlash(name)), err
		}
	}
	return "", nil
}

// hidden reports whether another package has a file where this entry needs a directory, or the other way round.
func hidden(all map[string]*zip.File, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if all[dir] != nil {
			return true
		}
	}
	return false
}

// unpackedFrom reports whether a file has the content of an entry.
func unpackedFrom(f *zip.File, name string) (bool, error) {
	if f.Mode()&fs.ModeSymlink != 0 {
		_, err := os.Readlink(name)
		return err == nil, nil
	}
	opened, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer opened.Close()
	sum := crc32.NewIEEE()
	n, err := io.Copy(sum, opened)
	if errors.Is(err, fs.ErrInvalid) || err != nil && isDirectory(name) {
		return false, nil
	}
	return uint64(n) == f.UncompressedSize64 && sum.Sum32() == f.CRC32, err
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
