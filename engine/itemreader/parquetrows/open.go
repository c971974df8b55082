package parquetrows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Limits of the real service, as documented.
const (
	// MaxFooterBytes is the size of the largest footer, 5 MB.
	MaxFooterBytes = 5 << 20
	// MaxRowGroupBytes is the size of the largest row group, 256 MB before compression.
	MaxRowGroupBytes = 256 << 20
)

const (
	trailerBytes = 8        // the footer's length and the magic number
	tailBytes    = 64 << 10 // read at once from the end; most footers are smaller
	// Each column has a read buffer; together they have about buffersBytes.
	buffersBytes     = 16 << 20
	minBuffer        = 4 << 10
	maxBuffer        = 256 << 10
	magic, encrypted = "PAR1", "PARE"
)

// Open reads the footer of a file of size bytes. The file must not change while its rows are read. If Open fails,
// nothing has to be closed.
func Open(file io.ReaderAt, size int64) (rows *Rows, err error) {
	defer func() {
		if p := recover(); p != nil { // see Rows.damage
			rows, err = nil, fmt.Errorf("the footer is damaged: %v", p)
		}
	}()
	file, err = withFooter(file, size)
	if err != nil {
		return nil, err
	}
	f, err := openFile(file, size, maxBuffer)
	if err != nil {
		return nil, err
	}
	schema, leaves, err := newSchema(f.Metadata().Schema)
	if err != nil {
		return nil, err
	}
	if buffer := max(buffersBytes/leaves, minBuffer); buffer < maxBuffer {
		if f, err = openFile(file, size, buffer); err != nil {
			return nil, err
		}
	}
	rows = &Rows{rows: assembler{schema: schema, columns: make([][]parquet.Value, leaves)}}
	if err := rows.takeGroups(f); err != nil {
		return nil, err
	}
	return rows, nil
}

func openFile(file io.ReaderAt, size int64, buffer int) (*parquet.File, error) {
	f, err := parquet.OpenFile(file, size, &parquet.FileConfig{
		SkipMagicBytes: true, SkipPageIndex: true, SkipBloomFilters: true, ReadBufferSize: buffer,
	})
	if err != nil {
		return nil, fmt.Errorf("the footer is damaged: %w", err)
	}
	return f, nil
}

// takeGroups checks the row groups and counts their rows.
func (r *Rows) takeGroups(f *parquet.File) error {
	r.groups = f.RowGroups()
	for i, g := range f.Metadata().RowGroups {
		switch {
		case g.NumRows < 0:
			return fmt.Errorf("the footer is damaged: row group %d has %d rows", i, g.NumRows)
		case g.TotalByteSize > MaxRowGroupBytes:
			return fmt.Errorf("row group %d is larger than 256 MB (%d bytes), the largest that a Map can read; write the file with smaller row groups",
				i, int64(MaxRowGroupBytes))
		}
		if err := checkCompression(g.Columns); err != nil {
			return err
		}
		r.total += g.NumRows
	}
	return nil
}

// checkCompression refuses codecs that a Map is not documented to support.
func checkCompression(chunks []format.ColumnChunk) error {
	for _, c := range chunks {
		switch codec := c.MetaData.Codec; codec {
		case format.Uncompressed, format.Snappy, format.Gzip, format.Zstd:
		default:
			return fmt.Errorf("the column %q is compressed with %v; a Map reads SNAPPY, GZIP, ZSTD and uncompressed columns",
				strings.Join(c.MetaData.PathInSchema, "."), codec)
		}
	}
	return nil
}

// withFooter checks the end of the file, reads the footer, and returns a file that caches what was read, so that it
// is read only once.
func withFooter(file io.ReaderAt, size int64) (io.ReaderAt, error) {
	if size < trailerBytes+int64(len(magic)) {
		return nil, fmt.Errorf("it is not a Parquet file: it has %d bytes", size)
	}
	t := tail{file: file, from: max(size-tailBytes, 0)}
	if err := t.read(size); err != nil {
		return nil, err
	}
	trailer := t.content[len(t.content)-trailerBytes:]
	switch string(trailer[4:]) {
	case magic:
	case encrypted:
		return nil, errors.New("its footer is encrypted; Parquet encryption is not supported")
	default:
		return nil, fmt.Errorf("it is not a Parquet file: its last four bytes are %q instead of %q", trailer[4:], magic)
	}
	footer := int64(binary.LittleEndian.Uint32(trailer))
	switch {
	case footer > MaxFooterBytes:
		return nil, fmt.Errorf("its footer is larger than 5 MB (%d bytes), the largest that a Map can read; write the data to several files",
			int64(MaxFooterBytes))
	case footer > size-trailerBytes:
		return nil, fmt.Errorf("the footer is damaged: it would be %d bytes long in a file of %d", footer, size)
	case footer > int64(len(t.content))-trailerBytes:
		t.from = size - trailerBytes - footer
		if err := t.read(size); err != nil {
			return nil, err
		}
	}
	return &t, nil
}

// tail is a file whose end is cached in memory.
type tail struct {
	file    io.ReaderAt
	from    int64
	content []byte
}

func (t *tail) read(size int64) error {
	t.content = make([]byte, size-t.from)
	n, err := t.file.ReadAt(t.content, t.from)
	if n == len(t.content) {
		return nil
	}
	return fmt.Errorf("reading the footer: %w", unexpectedEOF(err))
}

// ReadAt implements io.ReaderAt.
func (t *tail) ReadAt(p []byte, offset int64) (int, error) {
	if offset < t.from {
		return t.file.ReadAt(p, offset)
	}
	if offset-t.from >= int64(len(t.content)) {
		return 0, io.EOF
	}
	n := copy(p, t.content[offset-t.from:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
