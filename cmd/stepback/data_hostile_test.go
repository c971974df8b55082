package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
	"stepback/engine/journal/pebble"
)

// aRun returns a data directory with an import in it.
func aRun(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	stepback(t, "run", "--data", data, "--shape", "batch", "--csv",
		write(t, "user_id,login_count,post_count\nanna,1,2\nbert,3,4\n")).ends(t, 0)
	return data
}

func tell(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// files returns the files of a data directory's journal with their contents.
func files(t *testing.T, data string) map[string]string {
	t.Helper()
	found := map[string]string{}
	names, err := filepath.Glob(filepath.Join(data, "journal", "*"))
	tell(t, err)
	for _, name := range names {
		b, err := os.ReadFile(name)
		tell(t, err)
		found[filepath.Base(name)] = string(b)
	}
	return found
}

// The commands cope with data directories that are not what they expect.
func TestHostileDataDirectories(t *testing.T) {
	t.Parallel()
	within := func(data, name string) string { return filepath.Join(data, "journal", name) }
	tests := []struct {
		name string
		make func(t *testing.T, data string) // of an import's data directory
		want string
	}{
		{"no journal", func(t *testing.T, data string) { tell(t, os.RemoveAll(within(data, ""))) },
			"there is no journal in "},
		{"an empty directory", func(t *testing.T, data string) {
			tell(t, os.RemoveAll(within(data, "")))
			tell(t, os.Mkdir(within(data, ""), 0o755))
		}, "there is no journal in "},
		{"a file", func(t *testing.T, data string) {
			tell(t, os.RemoveAll(within(data, "")))
			tell(t, os.WriteFile(within(data, ""), []byte("hello"), 0o600))
		}, "not a directory"},
		{"foreign files", func(t *testing.T, data string) {
			tell(t, os.RemoveAll(within(data, "")))
			tell(t, os.Mkdir(within(data, ""), 0o755))
			tell(t, os.WriteFile(within(data, "CURRENT"), []byte("x"), 0o600))
		}, "those of another program: restore a backup"},
		{"a truncated table", func(t *testing.T, data string) { cut(t, data, ".sst") }, "object size mismatch"},
		{"no tables", func(t *testing.T, data string) { remove(t, data, ".sst") }, "restore a backup"},
		{"no marker of the format", func(t *testing.T, data string) { remove(t, data, "marker.format") },
			"restore a backup"},
		{"a damaged table", func(t *testing.T, data string) {
			for name, content := range files(t, data) {
				if strings.HasSuffix(name, ".sst") {
					bad := []byte(content)
					for at := 100; at < len(bad)-2048; at += 512 { // the rest locates all the data
						copy(bad[at:], "ZZZZ")
					}
					tell(t, os.WriteFile(within(data, name), bad, 0o600))
				}
			}
		}, "the journal is damaged: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := aRun(t)
			tt.make(t, data)
			before := files(t, data)
			for _, verb := range []string{"check", "export"} {
				s := stepback(t, "data", verb, "--data", data)
				s.complains(t, exit.Failure, tt.want)
				if strings.Contains(s.err, "goroutine") || strings.Count(s.err, "\n") > 1 {
					t.Errorf("%s says: %s", verb, s.err)
				}
			}
			after := files(t, data)
			delete(before, "LOCK") // even a failed attempt to open takes the lock
			delete(after, "LOCK")
			if len(before) != len(after) {
				t.Errorf("reading changed the journal: %d files before, %d after", len(before), len(after))
			}
			for name, content := range before {
				if after[name] != content {
					t.Errorf("reading changed %s", name)
				}
			}
			if s := stepback(t, "data", "compact", "--data", data); s.code != exit.Failure &&
				tt.name != "a damaged table" {
				t.Errorf("compact ended with %d: %s%s", s.code, s.out, s.err)
			}
		})
	}
}

func some(t *testing.T, data, part string, do func(path, content string)) {
	t.Helper()
	names := 0
	for name, content := range files(t, data) {
		if strings.Contains(name, part) {
			names++
			do(filepath.Join(data, "journal", name), content)
		}
	}
	if names == 0 {
		t.Fatalf("the journal has no file with %s in its name", part)
	}
}

func cut(t *testing.T, data, part string) {
	t.Helper()
	some(t, data, part, func(path, content string) {
		tell(t, os.WriteFile(path, []byte(content[:len(content)/2]),
			0o600))
	})
}

func remove(t *testing.T, data, part string) {
	t.Helper()
	some(t, data, part, func(path, _ string) { tell(t, os.Remove(path)) })
}

// Checking and exporting a journal changes nothing in it.
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	data := aRun(t)
	before := files(t, data)
	stepback(t, "data", "check", "--data", data).ends(t, 0, "problems: 0")
	stepback(t, "data", "export", "--data", data).ends(t, 0)
	after := files(t, data)
	names := func(of map[string]string) (all []string) {
		for name := range of {
			all = append(all, name)
		}
		slices.Sort(all)
		return all
	}
	if !slices.Equal(names(before), names(after)) {
		t.Errorf("files %v, before %v", names(after), names(before))
	}
	for name, content := range before {
		if after[name] != content {
			t.Errorf("%s has changed", name)
		}
	}
}

// A data directory that is in use is reported as such.
func TestALockedDataDirectory(t *testing.T) {
	t.Parallel()
	data := aRun(t)
	j, err := pebble.Open(filepath.Join(data, "journal"), pebble.Config{Retention: -1})
	tell(t, err)
	defer j.Close()
	for _, args := range [][]string{{"data", "check"}, {"data", "compact"}, {"data", "export"}, {"history", "x"},
		{"run"}, {"serve", "--listen", "127.0.0.1:0"}} {
		stepback(t, append(args, "--data", data)...).complains(t, exit.Failure,
			"is another stepback using this data directory?")
	}
}

// A file instead of a data directory is reported as such.
func TestReadingADataDirectoryThatIsAFile(t *testing.T) {
	t.Parallel()
	data := write(t, "user_id,login_count,post_count\n")
	for _, args := range [][]string{{"data", "check"}, {"data", "compact"}, {"data", "export"}, {"export", "users"},
		{"history", "x"}, {"run"}} {
		stepback(t, append(args, "--data", data)...).complains(t, exit.Failure, "not a directory")
	}
}

// A data directory of another user, without permissions, is reported as such.
func TestADataDirectoryWithoutPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root is let in everywhere")
	}
	data := aRun(t)
	tell(t, os.Chmod(data, 0))
	t.Cleanup(func() { tell(t, os.Chmod(data, 0o700)) })
	for _, args := range [][]string{{"data", "check"}, {"data", "compact"}, {"data", "export"}, {"export", "users"},
		{"history", "x"}, {"run"}} {
		stepback(t, append(args, "--data", data)...).complains(t, exit.Failure, "permission denied")
	}
}
