package deployment_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/local/services/lambda/deployment"
)

type entry struct {
	name, content string
	mode          fs.FileMode
}

func packed(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(data []byte, dir string) error {
	return deployment.Unpack(bytes.NewReader(data), int64(len(data)), dir)
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := unpack(packed(t,
		entry{"bootstrap", "#!/bin/sh\n", 0o755}, entry{"lib/", "", fs.ModeDir | 0o755}, entry{"lib/a/b.txt", "text",
			0o600},
		entry{"./current", "lib/a", fs.ModeSymlink | 0o777}, entry{"dangling", "later/made", fs.ModeSymlink | 0o777},
	), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"bootstrap": "#!/bin/sh\n", "lib/a/b.txt": "text",
		"current/b.txt": "text"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, executable := range map[string]bool{"bootstrap": true, "lib/a/b.txt": false} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode()&0o100 != 0 != executable {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"no zip": {[]byte("PK no"), "no zip file"},
		"empty":  {packed(t), "non-empty zip"},
		"parent": {packed(t, entry{"../evil", "x", 0o644}),
			`"../evil" of the deployment package: its name leads out`},
		"parent in between":   {packed(t, entry{"a/../../evil", "x", 0o644}), "leads out"},
		"absolute":            {packed(t, entry{"/etc/evil", "x", 0o644}), "no relative path"},
		"backslash":           {packed(t, entry{`..\evil`, "x", 0o644}), "no relative path"},
		"link to the outside": {packed(t, entry{"l", "../../etc", fs.ModeSymlink | 0o777}), "outside the package"},
		"absolute link":       {packed(t, entry{"l", "/etc/passwd", fs.ModeSymlink | 0o777}), "outside the package"},
		"link through a link": {packed(t, entry{"p/q/r/a", "../../..", fs.ModeSymlink | 0o777},
			entry{"b", "p/q/r/a/../..", fs.ModeSymlink | 0o777}), "leads out of it"},
		"device": {packed(t, entry{"null", "", fs.ModeDevice | fs.ModeCharDevice | 0o666}),
			"files, directories and symbolic links"},
		"twice":          {packed(t, entry{"a", "1", 0o644}, entry{"a", "2", 0o644}), "file exists"},
		"through a link": {packed(t, entry{"a", ".", fs.ModeSymlink | 0o777}, entry{"a/b", "x", 0o644}), "exists"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			inner := filepath.Join(dir, "inner", "deeper")
			if err := os.MkdirAll(inner, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := unpack(c.data, inner); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			for _, d := range []string{dir, filepath.Join(dir, "inner")} {
				if all, _ := os.ReadDir(d); len(all) != 1 {
					t.Errorf("something was written outside: %v", all)
				}
			}
		})
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, entry{"bootstrap", "x", 0o755}, entry{"../a", "x", 0o644}, entry{"l", "a", fs.ModeSymlink | 0o777}))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		inner := filepath.Join(dir, "inner")
		if err := os.Mkdir(inner, 0o755); err != nil {
			t.Fatal(err)
		}
		_ = unpack(data, inner)
		if all, _ := os.ReadDir(dir); len(all) != 1 {
			t.Errorf("written outside: %v", all)
		}
	})
}
