package itemreader

import (
	"errors"
	"io"

	"stepback/jsonvalue"
)

// csvRecords reads a delimited text object: one item per row, an object of strings keyed by the header's names.
type csvRecords struct {
	rows   csvRows
	header []string
	frame  csvFrame
	size   int // of the frame, in bytes
}

// newCSVRecords reads the header if it is the first row. An object without rows has no items.
func newCSVRecords(cfg *Config, w window, where string) (*csvRecords, error) {
	r := &csvRecords{rows: csvRows{w: w, where: where, delimiter: delimiters[cfg.CSVDelimiter]}}
	if cfg.CSVHeaderLocation == "GIVEN" {
		r.setHeader(cfg.CSVHeaders)
		return r, nil
	}
	names, err := r.rows.read()
	if errors.Is(err, io.EOF) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := checkHeader(names); err != nil {
		return nil, err
	}
	r.setHeader(append([]string(nil), names...))
	return r, nil
}

func (r *csvRecords) setHeader(names []string) {
	r.header = names
	r.rows.columns = len(names)
	r.frame = newCSVFrame(names)
	r.size = len(r.frame.end)
	for _, text := range r.frame.before {
		r.size += len(text)
	}
}

func (r *csvRecords) next() (Item, error) {
	fields, err := r.rows.read()
	if err != nil {
		return Item{}, err
	}
	row := jsonvalue.NewObject(len(r.header))
	for i, name := range r.header {
		if i < len(fields) {
			row.Set(name, jsonvalue.OfString(fields[i]))
		} else {
			row.Set(name, jsonvalue.OfString(""))
		}
	}
	return Item{Value: row.Value()}, nil
}

func (r *csvRecords) skip() error { return r.rows.skip() }

func (r *csvRecords) offset() int64 { return r.rows.w.base }
