package parquetrows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

func ExampleOpen() {
	var content bytes.Buffer
	if err := parquet.Write(&content, []struct {
		UserID string `parquet:"user_id"`
		Points *int32 `parquet:"points"`
	}{{UserID: "u1"}, {UserID: "u2", Points: new(int32)}}); err != nil {
		fmt.Println(err)
		return
	}
	rows, err := Open(bytes.NewReader(content.Bytes()), int64(content.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		row, err := rows.Next()
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(row.JSON())
	}
	// Output:
	// {"user_id":"u1","points":null}
	// {"user_id":"u2","points":0}
	// EOF
}

type numbered struct {
	N    int64   `parquet:"n"`
	Tags []int32 `parquet:"tags,list"`
}

func numberedRows(n int) []numbered {
	rows := make([]numbered, n)
	for i := range rows {
		rows[i].N = int64(i)
		for j := range i % 5 {
			rows[i].Tags = append(rows[i].Tags, int32(j))
		}
	}
	return rows
}

func TestCompression(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"none": "", "snappy": "", "gzip": "", "zstd": "",
		"brotli": `the column "n" is compressed with BROTLI; a Map reads SNAPPY, GZIP, ZSTD and uncompressed columns`,
		"lz4":    `the column "n" is compressed with LZ4_RAW; a Map reads SNAPPY, GZIP, ZSTD and uncompressed columns`,
	} {
		codecs := map[string]parquet.WriterOption{
			"none": parquet.Compression(&parquet.Uncompressed), "snappy": parquet.Compression(&parquet.Snappy),
			"gzip": parquet.Compression(&parquet.Gzip),
			"zstd": parquet.Compression(&parquet.Zstd), "brotli": parquet.Compression(&parquet.Brotli),
			"lz4": parquet.Compression(&parquet.Lz4Raw),
		}
		got, err := all(file(t, 0, numberedRows(3), codecs[name]))
		switch {
		case want == "" && (err != nil ||
			got != "{\"n\":0,\"tags\":[]}\n{\"n\":1,\"tags\":[0]}\n{\"n\":2,\"tags\":[0,1]}\n"):
			t.Errorf("%s: %v, %s", name, err, got)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestNoRows(t *testing.T) {
	t.Parallel()
	wantRows(t, file(t, 0, []numbered(nil)), "")
}

// counting counts the bytes that are read.
type counting struct {
	io.ReaderAt
	read int64
}

func (c *counting) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, offset)
	c.read += int64(n)
	return n, err
}

// TestSkippedGroupsAreNotRead resumes near the end of a file, as after a crash.
func TestSkippedGroupsAreNotRead(t *testing.T) {
	t.Parallel()
	rows := make([]struct {
		Text string `parquet:"text,plain"`
	}, 1000)
	for i := range rows {
		rows[i].Text = fmt.Sprintf("%d %s", i, strings.Repeat("x", 1000))
	}
	content := file(t, 100, rows, parquet.Compression(&parquet.Uncompressed))
	counted := &counting{ReaderAt: bytes.NewReader(content)}
	r, err := Open(counted, int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for range 950 {
		if err := r.Skip(); err != nil {
			t.Fatal(err)
		}
	}
	v, err := r.Next()
	if text, _ := v.Get("text"); err != nil || !strings.HasPrefix(text.Text(), "950 x") {
		t.Errorf("got %s, %v", v.JSON(), err)
	}
	if counted.read > 250_000 {
		t.Errorf("%d bytes of %d were read", counted.read, len(content))
	}
}

// TestSkipIsReading compares random mixtures of reading and skipping with reading alone.
func TestSkipIsReading(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 300).Draw(t, "rows")
		rows := numberedRows(count)
		var b bytes.Buffer
		w := parquet.NewGenericWriter[numbered](&b, parquet.MaxRowsPerRowGroup(rapid.Int64Range(1, 150).Draw(t,
			"group")),
			parquet.PageBufferSize(rapid.IntRange(1, 500).Draw(t, "page")),
			parquet.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")))
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; ; at++ {
			if r.Index() != int64(at) {
				t.Fatalf("at row %d the index is %d", at, r.Index())
			}
			if skip := rapid.IntRange(0, 3).Draw(t, "skip") > 0; skip {
				if err := r.Skip(); err != nil {
					ended(t, err, at, count)
					return
				}
				continue
			}
			v, err := r.Next()
			if err != nil {
				ended(t, err, at, count)
				return
			}
			n, _ := v.Get("n")
			tags, _ := v.Get("tags")
			if i, _ := n.Int(); i != int64(at) || tags.Len() != at%5 {
				t.Fatalf("row %d is %s", at, v.JSON())
			}
		}
	})
}

func ended(t *rapid.T, err error, at, count int) {
	if !errors.Is(err, io.EOF) || at != count {
		t.Fatalf("row %d of %d: %v", at, count, err)
	}
}

func TestClosed(t *testing.T) {
	t.Parallel()
	r := open(t, file(t, 0, numberedRows(3)))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}
