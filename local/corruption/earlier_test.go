package corruption_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"stepback/local"
)

// TestADirectoryOfTheVersionBefore opens a data directory of the last version without anchors, seals and an inventory.
// All of its content is there, nothing is reported, and from the next start on it is protected.
func TestADirectoryOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	dir := unpacked(t, "testdata/data-directory-2026-11-26.tar.gz")
	written := content{
		"item/0": {"an item"}, "message/0-0": {"message 0 in round 0;"}, "/parameter/0": {"a parameter"}, "secret/0": {"a secret"},
		"execution/0-0": {`"an execution"`}, "event/1795736582000": {"an event"}, "object/plain/folder/object-0": {"an object"},
		"metadata/plain/folder/object-0": {"0"}, "function": {"a function"}, "code": {"the code"},
	}
	v := judge(t.Context(), dir, written)
	if len(v.told)+len(v.wrong) > 0 {
		t.Errorf("told %q, wrong %q", v.told, v.wrong)
	}
	object := filepath.Join(dir, "objects", "plain", "folder", "object-0")
	info, err := os.Stat(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(object, []byte("An object"), 0o600), os.Chtimes(object, info.ModTime(), info.ModTime())); err != nil {
		t.Fatal(err)
	}
	told := 0
	if _, err := local.CheckData(t.Context(), dir, func(error) { told++ }); err != nil || told != 1 {
		t.Errorf("a changed object of the version before: told %d times, %v", told, err)
	}
}

// unpacked extracts the folder d of an archive.
func unpacked(t *testing.T, archive string) string {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(dir, "d")
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var text []byte
			if text, err = io.ReadAll(files); err == nil {
				err = os.WriteFile(path, text, h.FileInfo().Mode())
			}
			if err == nil {
				err = os.Chtimes(path, h.ModTime, h.ModTime) // objects are known by it
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
