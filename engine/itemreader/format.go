package itemreader

import (
	"context"
	"io"

	"stepback/jsonvalue"
)

// Format opens an object of an InputType whose reader is not part of this package, because it would be linked into
// every program with an engine. The object is read in pieces and must not change while it is read. If a Format fails,
// nothing has to be closed.
type Format func(object io.ReaderAt, size int64) (Rows, error)

// Formats maps each InputType to its registered Format. AWS supports PARQUET, which package parquetrows reads.
type Formats map[string]Format

// FormatOf returns a Format for a function that returns its own type of rows, such as parquetrows.Open.
func FormatOf[R Rows](open func(io.ReaderAt, int64) (R, error)) Format {
	return func(object io.ReaderAt, size int64) (Rows, error) { return open(object, size) }
}

// Rows are the items of one object, in order.
type Rows interface {
	// Next returns the next row, or io.EOF after the last one.
	Next() (jsonvalue.Value, error)
	// Skip skips a row, which is cheaper than reading it.
	Skip() error
	// Index returns the number of rows that have been read or skipped.
	Index() int64
	// Close releases the resources that Open acquired.
	Close() error
}

// formatted reads an object through a Format: one item per row.
type formatted struct {
	rows  Rows
	where string
}

func openFormatted(ctx context.Context, objects Objects, cfg *Config, at location) (*formatted, error) {
	open := cfg.Formats[cfg.InputType]
	if open == nil {
		return nil, failf("InputType %s is not supported by this program; add it to the Formats of its engine.Config",
			cfg.InputType)
	}
	object, err := openRanged(ctx, objects, at)
	if err != nil {
		return nil, err
	}
	rows, err := open(object, object.size)
	if err != nil {
		return nil, bodyError(ctx, at.String(), err)
	}
	return &formatted{rows: rows, where: at.String()}, nil
}

func (r *formatted) next() (Item, error) {
	v, err := r.rows.Next()
	if err != nil {
		return Item{}, err
	}
	if !v.FitsIn(MaxItemBytes) {
		return Item{}, failf("%s row %d: the item is larger than 8 MB (%d bytes), the largest that a Map can read; split it",
			r.where, r.rows.Index()-1, MaxItemBytes)
	}
	return Item{Value: v}, nil
}

func (r *formatted) nextText(dst []byte) ([]byte, Item, error) {
	item, err := r.next()
	return asText(dst, item, err)
}

func (r *formatted) skip() error { return r.rows.Skip() }

// offset returns the number of rows read or skipped, not bytes, because a row of a Parquet file is stored in many
// places.
func (r *formatted) offset() int64 { return r.rows.Index() }

func (r *formatted) close() error { return r.rows.Close() }
