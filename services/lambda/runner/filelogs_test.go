package runner_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"stepback/services/lambda/runner"
)

func TestALogIsRotatedAndLosesNoLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	logs, err := runner.OpenFileLogs(dir, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 65 {
				logs.WriteLog("F", fmt.Appendf(nil, "%d %02d\n", w, i))
			}
		})
	}
	wg.Wait()
	if err := logs.Close(); err != nil {
		t.Fatal(err)
	}
	path, older := runner.LogPath(dir, "F")
	var sizes []int
	for _, p := range []string{older, path} {
		text, err := os.ReadFile(p)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if len(text) > 1000+4*5 || strings.Count(string(text), "\n")*5 != len(text) {
			t.Errorf("%s has %d bytes", p, len(text))
		}
		sizes = append(sizes, len(text))
	}
	if total := sizes[0] + sizes[1]; total != 1300 ||
		sizes[0] <= 1000 { // 260 lines of five bytes; nothing is rotated twice
		t.Errorf("%d bytes are left", total)
	}
	logs.WriteLog("F", []byte("late\n"))
}

func TestALogGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 3 {
		logs, err := runner.OpenFileLogs(dir, 15)
		if err != nil {
			t.Fatal(err)
		}
		logs.WriteLog("F", []byte("a line\n"))
		if err := logs.Close(); err != nil {
			t.Fatal(err)
		}
	}
	path, older := runner.LogPath(dir, "F")
	if text, err := os.ReadFile(older); err != nil || string(text) != "a line\na line\na line\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}
