package deployment

import (
	"archive/zip"
	"bytes"
	"errors"
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
