package terminal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"stepback/cmd/stepback/terminal"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "values.json")
	for written, want := range map[string]string{
		"\ufeff{}\r\n": "{}\r\n", "{}": "{}", "": "", "\ufeff": "", "\ufeff\ufeff1": "\ufeff1", "1\ufeff": "1\ufeff",
	} {
		if err := os.WriteFile(name, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := terminal.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%q is read as %q (%v), not %q", written, text, err, want)
		}
	}
	if _, err := terminal.ReadFile(name + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
