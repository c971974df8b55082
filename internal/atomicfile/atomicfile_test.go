package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"stepback/internal/atomicfile"
)

// only fails the test unless the directory holds exactly one file, with the given content.
func only(t *testing.T, dir, name, content string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v %v", entries, err)
	}
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || string(got) != content {
		t.Errorf("%q %v, want %q", got, err, content)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	for _, content := range []string{"first", "", "third"} {
		if err := atomicfile.Write(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		only(t, dir, "a.json", content)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestWriteThatFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := atomicfile.Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no more")
	err := atomicfile.WriteFrom(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, failure)
	})
	if !errors.Is(err, failure) {
		t.Errorf("%v", err)
	}
	only(t, dir, "a", "old")
	if err := atomicfile.Write(filepath.Join(dir, "none", "a"), nil, 0o600); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in a directory that is not there: %v", err)
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for name, content := range map[string]string{from: "new", to: "old"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.Move(from, to); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "to", "new")
	if err := atomicfile.Move(from, to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("moved what is not there: %v", err)
	}
}
