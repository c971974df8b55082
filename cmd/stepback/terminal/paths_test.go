package terminal

import (
	"os"
	"path/filepath"
	"testing"
)

func TestShortPath(t *testing.T) {
	t.Parallel()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "data", "a.csv"):           filepath.Join("data", "a.csv"),
		"sqlite:" + filepath.Join(dir, "users.db"):    "sqlite:users.db",
		filepath.Join(filepath.Dir(dir), "elsewhere"): filepath.Join(filepath.Dir(dir), "elsewhere"),
		"sqlite:relative.db":                          "sqlite:relative.db",
		"postgres://u:xxxxx@host" + dir + "/db":       "postgres://u:xxxxx@host" + dir + "/db",
	} {
		if got := ShortPath(path); got != want {
			t.Errorf("%s is written %s, want %s", path, got, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	for a, want := range map[string]string{
		"x.csv": "x.csv", "my file.csv": "'my file.csv'", "it's": `'it'\''s'`, "": "''", "利用": "'利用'",
	} {
		if got := Quoted(a); got != want {
			t.Errorf("%q is quoted %s, want %s", a, got, want)
		}
	}
}
