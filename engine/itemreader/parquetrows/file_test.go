package parquetrows

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// file writes a Parquet file with the rows, in row groups of size rows; 0 means a single row group.
func file[T any](t testing.TB, size int64, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	if size > 0 {
		options = append(options, parquet.MaxRowsPerRowGroup(size))
	}
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// footed returns a file that consists only of a footer.
func footed(t testing.TB, metadata *format.FileMetaData) []byte {
	t.Helper()
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), metadata)
	if err != nil {
		t.Fatal(err)
	}
	b := append([]byte(magic), footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, magic...)
}

func open(t testing.TB, content []byte) *Rows {
	t.Helper()
	r, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// all returns the rows of a file, one a line, and the error that ended them, if any.
func all(content []byte) (string, error) {
	r, err := Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return "", err
	}
	var out []byte
	for {
		v, err := r.Next()
		if errors.Is(err, io.EOF) {
			return string(out), r.Close()
		}
		if err != nil {
			return string(out), err
		}
		out = append(v.AppendJSON(out), '\n')
	}
}

func wantRows(t *testing.T, content []byte, want string) {
	t.Helper()
	got, err := all(content)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("rows\n got %s\nwant %s", got, want)
	}
}
