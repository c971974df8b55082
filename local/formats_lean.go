//go:build lean

package local

import (
	"errors"
	"io"

	"stepback/engine/itemreader"
)

// itemFormats returns a format that rejects every Parquet file: the build tag lean leaves the reader out.
func itemFormats() itemreader.Formats {
	return itemreader.Formats{"PARQUET": func(io.ReaderAt, int64) (itemreader.Rows, error) {
		return nil, errors.New("this build of stepback leaves out the reader of Parquet files; build it with make build")
	}}
}
