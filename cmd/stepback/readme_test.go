package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheReadmeRuns runs the lines of the shell blocks of the README and of the tour verbatim, in an empty directory
// next to the examples.
func TestTheReadmeRuns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	var readme []byte
	for _, page := range []string{"../../README.md", "../../docs/overview.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\n```sh\n") {
			t.Errorf("%s has no shell block", page)
		}
		readme = append(readme, text...)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	theirs, err := filepath.Abs(theExamples)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "docs", "examples"), os.DirFS(theirs)); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nSTEPBACK_TEST_AS_COMMAND=yes exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "stepback"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for text := string(readme); ; {
		_, rest, found := strings.Cut(text, "\n```sh\n")
		if !found {
			break
		}
		block, after, _ := strings.Cut(rest, "\n```")
		text = after
		for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
			c := exec.CommandContext(t.Context(), "sh", "-c", line)
			c.Dir = dir
			c.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s%v\n%s", line, err, out)
			}
		}
	}
}
