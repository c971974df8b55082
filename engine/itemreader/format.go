package itemreader

import (
	"context"
	"io"

	"stepback/jsonvalue"
)

// Format opens an object of an InputType whose reader is not part of this package, because it would be linked into
// every program with an engine. The object is read in pieces and stays what it is while that lasts. Nothing has to be
// closed when a Format fails.
type Format func(object io.ReaderAt, size int64) (Rows, error)

// Formats are the formats that a program has, by InputType. The one that AWS knows is PARQUET; package parquetrows
// reads it.
type Formats map[string]Format

// FormatOf makes a Format of a function that returns rows of its own type, as parquetrows.Open does.
func FormatOf[R Rows](open func(io.ReaderAt, int64) (R, error)) Format {
	return func(object io.ReaderAt, size int64) (Rows, error) { return open(object, size) }
}

// Rows are the items of one object, in order.
type Rows interface {
	// Next returns the next row, or io.EOF behind the last one.
	Next() (jsonvalue.Value, error)
	// Skip passes over a row, cheaper than reading it.
	Skip() error
	// Index counts the rows that were read or passed over.
	Index() int64
	// Close releases what Open took.
	Close() error
}

// formatted reads an object whose rows a Format yields: one item per row.
type formatted struct {
	rows  Rows
	where string
}

func openFormatted(ctx context.Context, objects Objects, cfg *Config, at location) (*formatted, error) {
	open := cfg.Formats[cfg.InputType]
	if open == nil {
		return nil, failf("InputType %s is not among the formats of this program; add it to the Formats of its engine.Config",
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

// offset counts rows: a row of a Parquet file lies in many places.
func (r *formatted) offset() int64 { return r.rows.Index() }

func (r *formatted) close() error { return r.rows.Close() }
