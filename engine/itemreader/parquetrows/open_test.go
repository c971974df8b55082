package parquetrows

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// oneColumn returns the metadata of a file with one row group of one column.
func oneColumn() *format.FileMetaData {
	return &format.FileMetaData{
		Version: 1,
		Schema: []format.SchemaElement{
			{Name: "root", NumChildren: thrift.New(int32(1))},
			{Name: "n", Type: thrift.New(format.Int32), RepetitionType: thrift.New(format.Required)},
		},
		NumRows: 1,
		RowGroups: []format.RowGroup{{NumRows: 1, Columns: []format.ColumnChunk{{
			MetaData: format.ColumnMetaData{Type: format.Int32, PathInSchema: []string{"n"}, NumValues: 1,
				DataPageOffset: 4, TotalCompressedSize: 10},
		}}}},
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	large := footed(t, oneColumn())
	binary.LittleEndian.PutUint32(large[len(large)-8:], MaxFooterBytes+1)
	long := footed(t, oneColumn())
	binary.LittleEndian.PutUint32(long[len(long)-8:], 4096)
	secret := footed(t, oneColumn())
	copy(secret[len(secret)-4:], encrypted)
	groups := oneColumn()
	groups.RowGroups[0].TotalByteSize = MaxRowGroupBytes + 1
	codec := oneColumn()
	codec.RowGroups[0].Columns[0].MetaData.Codec = format.LZO
	for _, test := range []struct {
		content []byte
		want    string
	}{
		{nil, "it is not a Parquet file: it has 0 bytes"},
		{[]byte("user_id,points\nu1,1\n"), `it is not a Parquet file: its last four bytes are "1,1\n" instead of "PAR1"`},
		{large, "its footer is larger than 5 MB (5242880 bytes), the largest that a Map can read; write the data to several files"},
		{long, "the footer is damaged: it would be 4096 bytes long in a file of 74"},
		{secret, "its footer is encrypted; Parquet encryption is not supported"},
		{footed(t, groups), "row group 0 is larger than 256 MB (268435456 bytes), the largest that a Map can read; write the file with smaller row groups"},
		{footed(t, codec), `the column "n" is compressed with LZO; a Map reads SNAPPY, GZIP, ZSTD and uncompressed columns`},
	} {
		if _, err := Open(bytes.NewReader(test.content), int64(len(test.content))); err == nil ||
			err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

// TestLargeFooter has a footer that extends beyond the first piece that is read.
func TestLargeFooter(t *testing.T) {
	t.Parallel()
	m := oneColumn()
	m.RowGroups, m.NumRows = nil, 0
	m.KeyValueMetadata = []format.KeyValue{{Key: "notes", Value: string(bytes.Repeat([]byte{'x'}, 3*tailBytes))}}
	wantRows(t, footed(t, m), "")
}

// TestMissingRows has a footer that claims more rows than exist.
func TestMissingRows(t *testing.T) {
	t.Parallel()
	content := file(t, 0, numberedRows(3))
	r := open(t, content)
	r.total++
	for range 3 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Next(); err == nil || err.Error() != "row 3: unexpected EOF" {
		t.Errorf("got %v", err)
	}
}
