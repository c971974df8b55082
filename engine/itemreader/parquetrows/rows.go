package parquetrows

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"stepback/jsonvalue"
)

// batchRows is the number of rows decoded at once.
const batchRows = 64

// Rows reads the rows of one file, in the file's order. It must be used by one goroutine at a time.
type Rows struct {
	groups []parquet.RowGroup
	total  int64 // rows of all groups
	index  int64 // of the next row, including pending ones
	rows   assembler

	pending int64        // rows to skip before the next one is read
	open    parquet.Rows // rows of groups[0]; nil until its first row is needed
	left    int64        // rows of groups[0] that have not been decoded yet
	batch   []parquet.Row
	decoded []parquet.Row // the part of batch that has not been consumed
}

// Index returns the number of rows that have been read or skipped.
func (r *Rows) Index() int64 { return r.index }

// Next returns the next row as an object with a member for each column, in the order of the schema, or io.EOF after
// the last row.
func (r *Rows) Next() (v jsonvalue.Value, err error) {
	if r.index == r.total {
		return v, io.EOF
	}
	defer r.damage(&err)
	for len(r.decoded) == 0 || r.pending > 0 {
		if err := r.advance(); err != nil {
			return v, err
		}
	}
	v, err = r.rows.object(r.decoded[0])
	r.decoded = r.decoded[1:]
	r.index++
	return v, err
}

// Skip skips the next row, or returns io.EOF. It reads nothing: row groups that are skipped as a whole are never
// read.
func (r *Rows) Skip() error {
	if r.index == r.total {
		return io.EOF
	}
	r.index++
	r.pending++
	return nil
}

// Close releases the open row group. It does not close the file.
func (r *Rows) Close() (err error) {
	defer r.damage(&err)
	r.index, r.pending, r.decoded = r.total, 0, nil
	return r.closeGroup()
}

// advance makes one step towards the next row: it skips rows, or opens a row group.
func (r *Rows) advance() error {
	switch {
	case len(r.decoded) > 0:
		n := min(r.pending, int64(len(r.decoded)))
		r.decoded = r.decoded[n:]
		r.pending -= n
		return nil
	case len(r.groups) == 0:
		return io.ErrUnexpectedEOF // according to total there should be more
	case r.open == nil && r.pending >= r.groups[0].NumRows():
		r.pending -= r.groups[0].NumRows()
		r.groups = r.groups[1:]
		return nil
	case r.open == nil:
		r.open, r.left = r.groups[0].Rows(), r.groups[0].NumRows()
		return nil
	case r.left == 0:
		r.groups = r.groups[1:]
		return r.closeGroup()
	}
	return r.decode()
}

// decode decodes the next rows of the open group.
func (r *Rows) decode() error {
	if r.batch == nil {
		r.batch = make([]parquet.Row, batchRows)
	}
	n, err := r.open.ReadRows(r.batch[:min(r.left, batchRows)])
	if err != nil && (!errors.Is(err, io.EOF) || n == 0) {
		return unexpectedEOF(err)
	}
	if n == 0 {
		return io.ErrNoProgress
	}
	r.decoded = r.batch[:n]
	r.left -= int64(n)
	return nil
}

func (r *Rows) closeGroup() error {
	if r.open == nil {
		return nil
	}
	open := r.open
	r.open = nil
	return open.Close()
}

// damage converts a panic to an error, and adds the row to errors. The decoders belong to another project and files
// can come from anywhere: an unexpected file must not end the process.
func (r *Rows) damage(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the file is damaged: %v", p)
	}
	if *err != nil {
		*err = fmt.Errorf("row %d: %w", r.index, *err)
	}
}

// unexpectedEOF converts a premature io.EOF to io.ErrUnexpectedEOF, so that it is not mistaken for the end of the rows.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
