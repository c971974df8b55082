package itemreader

import (
	"slices"
	"unicode/utf8"

	"stepback/jsonvalue"
)

// csvFrame is the JSON text around the fields of every row: before each field, and after the last.
type csvFrame struct {
	before [][]byte // {"first":" and then ","name":"
	end    []byte
}

func newCSVFrame(header []string) csvFrame {
	f := csvFrame{end: []byte(`"}`)}
	for i, name := range header {
		text := []byte(`","`)
		if i == 0 {
			text = []byte(`{"`)
		}
		text = jsonvalue.AppendQuoted(text[:len(text)-1], name)
		f.before = append(f.before, append(text, `:"`...))
	}
	return f
}

// nextText implements records.
func (r *csvRecords) nextText(dst []byte) ([]byte, Item, error) {
	if len(r.header) == 0 {
		item, err := r.next()
		return asText(dst, item, err)
	}
	n, plain, err := r.rows.frame()
	if err != nil {
		return dst, Item{}, err
	}
	if plain {
		line := dropReturn(r.rows.w.view()[:n])
		if !utf8.Valid(line) {
			return dst, Item{}, r.rows.w.notUTF8(r.rows.where, n)
		}
		if text, ok := r.appendPlain(dst, line); ok {
			r.rows.endLine(n)
			return text, Item{}, nil
		}
	}
	fields, err := r.rows.read()
	if err != nil {
		return dst, Item{}, err
	}
	return r.appendFields(dst, fields), Item{}, nil
}

// appendPlain appends the JSON of a line without quotation marks and backslashes. It returns false if a field has
// control characters, which JSON escapes.
func (r *csvRecords) appendPlain(dst, line []byte) ([]byte, bool) {
	dst = slices.Grow(dst, r.size+len(line))
	column, from := 0, 0
	dst = append(dst, r.frame.before[0]...)
	for i, c := range line {
		switch {
		case c == r.rows.delimiter:
			dst = append(dst, line[from:i]...)
			from = i + 1
			if column++; column == len(r.header) {
				return append(dst, r.frame.end...), true // anything after the last column is dropped
			}
			dst = append(dst, r.frame.before[column]...)
		case c < ' ':
			return dst, false
		}
	}
	dst = append(dst, line[from:]...)
	for column++; column < len(r.header); column++ {
		dst = append(dst, r.frame.before[column]...)
	}
	return append(dst, r.frame.end...), true
}

// appendFields appends the JSON of a row with arbitrary fields.
func (r *csvRecords) appendFields(dst []byte, fields []string) []byte {
	for i, before := range r.frame.before {
		dst = append(dst, before[:len(before)-1]...)
		if i < len(fields) {
			dst = jsonvalue.AppendQuoted(dst, fields[i])
		} else {
			dst = append(dst, `""`...)
		}
		dst = dst[:len(dst)-1] // the closing quotation mark is part of the frame after the field
	}
	return append(dst, r.frame.end...)
}
