package deployment

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"stepback/internal/ownerfs"
)

// Limits of a deployment package, as on Lambda.
const (
	// MaxUnzipped is the maximum total size of all files, in bytes.
	MaxUnzipped = 262_144_000
	// maxFiles is the maximum number of files and directories. Lambda has no such limit; the packages of real
	// functions stay far below it.
	maxFiles = 100_000
	// maxLink is the maximum length of a symbolic link's target.
	maxLink = 4096
)

var (
	// ErrEmpty is returned if a package has no files.
	ErrEmpty = errors.New("Uploaded file must be a non-empty zip") //nolint:staticcheck // Lambda's words
	// ErrTooLarge is returned if a package exceeds a limit.
	//nolint:staticcheck // Lambda's words
	ErrTooLarge = fmt.Errorf("Unzipped size must be smaller than %d bytes", int64(MaxUnzipped))
)

// Unpack extracts a zip file into dir, which must exist and be empty. The error is ErrEmpty, ErrTooLarge, or names
// the entry at fault. Files written before an error remain.
func Unpack(r io.ReaderAt, size int64, dir string) error {
	return unpackWithin(MaxUnzipped, r, size, dir)
}

func unpackWithin(limit int64, r io.ReaderAt, size int64, dir string) error {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return fmt.Errorf("the deployment package is no zip file: %w", err)
	}
	switch {
	case len(archive.File) == 0:
		return ErrEmpty
	case len(archive.File) > maxFiles:
		return fmt.Errorf("the deployment package has %d entries, which is more than %d", len(archive.File), maxFiles)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	u := unpacking{root: root, left: limit}
	for _, f := range archive.File {
		if err := u.entry(f); errors.Is(err, ErrTooLarge) {
			return ErrTooLarge
		} else if err != nil {
			return fmt.Errorf("the entry %q of the deployment package: %w", f.Name, err)
		}
	}
	return u.makeLinks()
}

// unpacking extracts a package below root. Links are created last, so that no entry is written through one.
type unpacking struct {
	root  *os.Root
	left  int64
	links []link
}

type link struct{ name, target string }

func (u *unpacking) entry(f *zip.File) error {
	name, err := cleanName(f.Name)
	if err != nil || name == "." {
		return err
	}
	mode := f.Mode()
	switch {
	case strings.HasSuffix(f.Name, "/") || mode.IsDir():
		return u.root.MkdirAll(name, ownerfs.Dir)
	case mode&fs.ModeSymlink != 0:
		return u.noteLink(f, name)
	case !mode.IsRegular():
		return fmt.Errorf("it is a %s; files, directories and symbolic links are allowed", mode.Type())
	}
	return u.file(f, name)
}

// cleanName returns the cleaned name, or an error if the entry would be written outside the package.
func cleanName(name string) (string, error) {
	if strings.ContainsAny(name, "\\\x00") || path.IsAbs(name) {
		return "", errors.New("its name is no relative path with forward slashes")
	}
	clean := path.Clean(name)
	if !fs.ValidPath(clean) {
		return "", errors.New("its name leads out of the package")
	}
	return clean, nil
}

// file writes a regular file. It takes the executable bits from the package and ignores all other permissions.
func (u *unpacking) file(f *zip.File, name string) error {
	if err := u.root.MkdirAll(path.Dir(name), ownerfs.Dir); err != nil {
		return err
	}
	body, err := f.Open()
	if err != nil {
		return err
	}
	defer body.Close()
	permissions := ownerfs.File | f.Mode()&0o100
	out, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, permissions)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(body, u.left+1))
	u.left -= n
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if u.left < 0 {
		return ErrTooLarge
	}
	return nil
}

func (u *unpacking) noteLink(f *zip.File, name string) error {
	body, err := f.Open()
	if err != nil {
		return err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxLink+1))
	if err != nil {
		return err
	}
	target := string(text)
	inside := path.Join(path.Dir(name), target)
	if len(text) > maxLink || strings.ContainsAny(target, "\\\x00") || path.IsAbs(target) || !fs.ValidPath(inside) {
		return fmt.Errorf("it is a symbolic link to %.100q, outside the package", target)
	}
	u.links = append(u.links, link{name, target})
	return nil
}

// makeLinks creates the links, then checks that no link leads out of the package by way of another link.
func (u *unpacking) makeLinks() error {
	for _, l := range u.links {
		if err := u.root.MkdirAll(path.Dir(l.name), ownerfs.Dir); err != nil {
			return err
		}
		if err := u.root.Symlink(l.target, l.name); err != nil {
			return err
		}
	}
	for _, l := range u.links {
		if _, err := u.root.Stat(l.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the entry %q of the deployment package is a symbolic link that leads out of it: %w",
				l.name, err)
		}
	}
	return nil
}
