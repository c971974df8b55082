package csvfile

import (
	"bytes"
	"fmt"
	"io"

	"stepback/csvimport"
)

// Items reads the rows that the distributed Map's ItemReader read, either from a file that Check found regular, or
// from a copy written by Normalise. Row i of Items is row i of the Map.
type Items struct {
	scanner *scanner
	set     []func(*csvimport.Record, string)
}

var setters = map[string]func(*csvimport.Record, string){
	"user_id":     func(r *csvimport.Record, v string) { r.UserID = v },
	"login_count": func(r *csvimport.Record, v string) { r.LoginCount = v },
	"post_count":  func(r *csvimport.Record, v string) { r.PostCount = v },
	"line":        func(r *csvimport.Record, v string) { r.Line = v },
	"problem":     func(r *csvimport.Record, v string) { r.Problem = v },
	"letter":      func(r *csvimport.Record, v string) { r.Letter = v },
}

// NewItems returns the items of src after reading the header.
func NewItems(src io.Reader) (*Items, error) {
	it := &Items{scanner: newScanner(src)}
	row, err := it.scanner.next()
	if err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	for i, f := range row.fields {
		set := setters[string(f)]
		if set == nil {
			return nil, fmt.Errorf("column %d %q is not a column of the data file", i+1, abbreviate(string(f)))
		}
		it.set = append(it.set, set)
	}
	return it, nil
}

// Next returns the next record, or io.EOF.
func (it *Items) Next() (csvimport.Record, error) {
	row, err := it.scanner.next()
	if err != nil {
		return csvimport.Record{}, err
	}
	var record csvimport.Record
	for i, f := range row.fields[:min(len(row.fields), len(it.set))] {
		it.set[i](&record, string(unescape(f)))
	}
	return record, nil
}

// unescape undoes the doubling of backslashes by Writer.
func unescape(f []byte) []byte {
	if bytes.IndexByte(f, '\\') < 0 {
		return f
	}
	return bytes.ReplaceAll(f, []byte(`\\`), []byte(`\`))
}
