package ownerfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"stepback/internal/ownerfile"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not those of Unix")
	}
	root := t.TempDir()
	path := filepath.Join(root, "a", "b", "app.db")
	if err := ownerfile.Create(path); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"a": 0o700, "a/b": 0o700, "a/b/app.db": 0o600} {
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %o", name, info.Mode().Perm(), err, want)
		}
	}
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil { // the owner shares it
		t.Fatal(err)
	}
	if err := ownerfile.Create(path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 || info.Size() != 4 {
		t.Errorf("an existing file has changed: %v %v", info, err)
	}
	if err := ownerfile.Create(filepath.Join(path, "x.db")); err == nil {
		t.Error("a file cannot be a directory")
	}
}
