package ramdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestNew(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	first, err := create(base)
	if err != nil {
		t.Fatal(err)
	}
	second, err := create(base) // leaves the first alone
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(first.Path); err != nil || info.Mode().Perm()&0o077 != 0 || first.Path == second.Path {
		t.Errorf("%v, %v, %s and %s", info, err, first.Path, second.Path)
	}
	// What a killed process leaves: a directory, also with a folder that cannot be written to, and a free lock.
	left := filepath.Join(base, prefix()+"left")
	if err := os.MkdirAll(filepath.Join(left, "sealed", "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(left+lockSuffix, nil, 0o600), os.Chmod(filepath.Join(left, "sealed"), 0o500)); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(base, "another-"+prefix())
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	third, err := create(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{left, left + lockSuffix} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, d := range []*Dir{first, second, third} {
		if _, err := os.Stat(d.Path); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if entries, err := os.ReadDir(base); err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(other) {
		t.Errorf("%v, %v", entries, err)
	}
}
