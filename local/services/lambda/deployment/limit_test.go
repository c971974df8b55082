package deployment

import (
	"archive/zip"
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheLimitCountsWhatIsWritten(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"a", "b"} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(strings.Repeat("\x00", 500))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]error{1000: nil, 999: ErrTooLarge, 499: ErrTooLarge} {
		if err := unpackWithin(limit, bytes.NewReader(b.Bytes()), int64(b.Len()), t.TempDir()); !errors.Is(err, want) {
			t.Errorf("limit %d: %v, want %v", limit, err, want)
		}
	}
}

func FuzzCleanName(f *testing.F) {
	for _, name := range []string{"a/b", "../a", "a/../../b", "/a", `a\b`, "./a//b/", "a\x00", "..", "."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if clean, err := cleanName(name); err == nil && !filepath.IsLocal(filepath.FromSlash(clean)) {
			t.Errorf("%q became %q", name, clean)
		}
	})
}
