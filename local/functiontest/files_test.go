package functiontest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A change of the function's own code concerns its tests, and one of installed packages does not.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pay.py": "", "cards.py": "", "lib/rates.py": "", "lib/__pycache__/rates.cpython-313.pyc": "", ".git/HEAD": "",
		"boto3/__init__.py": "", "six.py": "", "boto3-1.0.dist-info/RECORD": "boto3/__init__.py,sha256=x,0\nsix.py,sha256=y,0\n",
		"node_modules/a/index.js": "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := parse(t, dir, "function: pay.handler\ntests: [{name: one, expect: {status: FAILED}}]\n")
	files := f.Files()
	slices.Sort(files)
	var got []string
	for _, path := range slices.Compact(files) {
		got = append(got, strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, dir)), "/"))
	}
	if want := []string{"", "cards.py", "lib", "lib/rates.py", "pay.py"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
