//go:build !lean

package local

import (
	"stepback/engine/itemreader"
	"stepback/engine/itemreader/parquetrows"
)

// itemFormats returns the readers of item formats that the engine itself does not link.
func itemFormats() itemreader.Formats {
	return itemreader.Formats{"PARQUET": itemreader.FormatOf(parquetrows.Open)}
}
