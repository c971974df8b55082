package parquetrows

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// FuzzRows reads arbitrary files: they may be refused, but reading must neither panic nor loop forever.
func FuzzRows(f *testing.F) {
	f.Add(file(f, 2, numberedRows(6)))
	f.Add(file(f, 0, numberedRows(6), parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(2)))
	f.Add(footed(f, oneColumn()))
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"))
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		for range 1000 {
			if _, err := r.Next(); err != nil {
				break
			}
		}
		_ = r.Close() // may fail: the file is damaged
	})
}

// TestDamage changes every byte of a file, one at a time.
func TestDamage(t *testing.T) {
	t.Parallel()
	content := file(t, 3, numberedRows(6))
	for i := range content {
		for _, flip := range []byte{0x01, 0x80, 0xFF} {
			damaged := bytes.Clone(content)
			damaged[i] ^= flip
			_, _ = all(damaged) // some changes have no effect; what matters is that it returns
		}
	}
}
