package itemreader

import (
	"context"

	"stepback/engine/itemreader/parquetrows"
)

// parquetRecords reads a Parquet object: one item per row, an object with the columns' names as keys.
type parquetRecords struct {
	rows  *parquetrows.Rows
	where string
}

func openParquet(ctx context.Context, objects Objects, at location) (*parquetRecords, error) {
	object, err := openRanged(ctx, objects, at)
	if err != nil {
		return nil, err
	}
	rows, err := parquetrows.Open(object, object.size)
	if err != nil {
		return nil, bodyError(ctx, at.String(), err)
	}
	return &parquetRecords{rows: rows, where: at.String()}, nil
}

func (r *parquetRecords) next() (Item, error) {
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

func (r *parquetRecords) skip() error { return r.rows.Skip() }

// offset counts rows: a row of a Parquet file lies in many places.
func (r *parquetRecords) offset() int64 { return r.rows.Index() }

func (r *parquetRecords) close() error { return r.rows.Close() }
