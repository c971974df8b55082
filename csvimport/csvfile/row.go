package csvfile

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"stepback/csvimport"
	"stepback/internal/spelling"
	"stepback/statemachine"
)

// MaxValueBytes is the maximum length of a value that a row keeps, in bytes. Values of this length are never valid,
// so only values of rows with a problem are truncated.
const MaxValueBytes = 1024

// Row is a row of data. It is valid until the next call of Reader.Next.
type Row struct {
	Index      int64 // from 0, not counting blank lines and the header
	Line       int64 // line of the row's first byte in the file, from 1
	UserID     string
	LoginCount string
	PostCount  string
	Letter     string              // ID of the dead letter that the row came out of; empty if there is none
	Problems   []csvimport.Problem // empty if the row can be imported
}

// Next returns the next row that is not blank, or io.EOF. It fails with CSVEncodingUnsupported at a byte that is
// invalid in the file's encoding, and instead of io.EOF if the whole file shows that it is in mixed encodings, damaged
// or cut off. Do not use the rows before Next has returned io.EOF.
func (r *Reader) Next() (*Row, error) {
	raw, err := r.split()
	for err == nil && raw.blank() {
		r.irregular = true
		raw, err = r.split()
	}
	if err == io.EOF {
		return nil, r.ended()
	}
	if err != nil {
		return nil, err
	}
	if raw.traits&traitNonASCII != 0 && !r.part {
		if err := r.checkEncoding(raw); err != nil {
			return nil, err
		}
	}
	r.row = Row{Index: r.index, Line: raw.line, Problems: r.row.Problems[:0]}
	r.dropEmptyLast(raw)
	r.index++
	r.setValues(raw)
	r.check(raw)
	if raw.traits&^(traitNonASCII|traitQuoted) != 0 || len(r.row.Problems) > 0 {
		r.irregular = true
	}
	return &r.row, nil
}

// split returns the next row, including blank lines, or io.EOF.
func (r *Reader) split() (*rawRow, error) {
	if r.scanner.offset >= r.limit {
		return nil, io.EOF
	}
	return r.scanner.next()
}

// dropEmptyLast drops an empty field after the last column. Excel writes one into every row of a sheet with an empty
// last column, so the header or the first row decides whether rows have it: a later row that has one more field than
// the rows before it is in doubt.
func (r *Reader) dropEmptyLast(raw *rawRow) {
	last := len(raw.fields) - 1
	if last != len(r.header.columns) || len(raw.fields[last]) > 0 {
		return
	}
	if r.emptyLast = r.emptyLast || r.index == 0 && !r.part; r.emptyLast {
		raw.fields = raw.fields[:last]
		r.irregular = true
	}
}

func (r *Reader) checkEncoding(raw *rawRow) error {
	for i, f := range raw.fields {
		if !notInEncoding(f, r.format.Encoding) {
			continue
		}
		if err := r.wrongEncoding(); err != nil {
			return err
		}
		return csvimport.Fail(statemachine.CSVEncodingUnsupported, "line %d, column %d: bytes that are not %s; %s",
			raw.line, i+1, r.format.Encoding, acceptedEncodings)
	}
	return nil
}

// ended returns io.EOF if the whole file is in the encoding in which it was read.
func (r *Reader) ended() error {
	if r.part {
		return io.EOF
	}
	r.evidence.end()
	if err := r.wrongEncoding(); err != nil {
		return err
	}
	if r.format.Encoding == ShiftJIS {
		if _, err := r.evidence.encoding(true); err != nil {
			return err
		}
	}
	return io.EOF
}

// wrongEncoding returns an error if a byte has been read that is not in the file's encoding.
func (r *Reader) wrongEncoding() error {
	e := r.evidence
	switch {
	case r.format.Encoding == ShiftJIS && e.neither != nil:
		_, err := e.encoding(false)
		return err
	case r.format.Encoding == ShiftJIS:
		return nil
	case e.escape != nil:
		_, err := e.encoding(false)
		return err
	case e.invalid != nil && e.cut:
		return notDecodable(*e.invalid, "a whole character of UTF-8, and the file ends there: it was cut off")
	case e.invalid != nil:
		return notDecodable(*e.invalid, "UTF-8")
	}
	return nil
}

// setValues copies the values out of the scanner's buffer, in one allocation.
func (r *Reader) setValues(raw *rawRow) {
	var bounds [columnLetter + 1][2]int
	text := r.text[:0]
	for i, f := range raw.fields {
		if i >= len(r.header.columns) {
			break
		}
		c := r.header.columns[i]
		if c < columnUserID || c > columnLetter {
			continue
		}
		if r.header.correction {
			f = unguard(f)
		}
		begin := len(text)
		text = append(text, shorten(f)...)
		bounds[c] = [2]int{begin, len(text)}
	}
	r.text = text
	all := string(text)
	at := func(c column) string { return all[bounds[c][0]:bounds[c][1]] }
	r.row.UserID, r.row.LoginCount, r.row.PostCount = at(columnUserID), at(columnLoginCount), at(columnPostCount)
	r.row.Letter = strings.TrimSpace(at(columnLetter))
}

// check records what is wrong with the row. If the row could not be split, it records only that, because the values
// are not in their columns.
func (r *Reader) check(raw *rawRow) {
	switch {
	case raw.traits&(traitTooLong|traitOpenQuote|traitAfterQuote) != 0:
		r.note("the row " + faultOf(raw.traits))
	case len(raw.fields) < len(r.header.columns):
		r.note(fmt.Sprintf("the row has %s, the header has %s: add what is missing",
			spelling.Counted(len(raw.fields), "field"), spelling.Counted(len(r.header.columns), "column")))
	case len(raw.fields) > len(r.header.columns):
		advice := fmt.Sprintf("put a value that contains the %s in double quotes", r.format.Delimiter)
		if len(raw.fields[len(raw.fields)-1]) == 0 {
			advice += ", or remove the empty last column"
		}
		r.note(fmt.Sprintf("the row has %s, the header has %s: %s", spelling.Counted(len(raw.fields), "field"),
			spelling.Counted(len(r.header.columns), "column"), advice))
	default:
		_, problems := csvimport.ParseFields(r.row.UserID, r.row.LoginCount, r.row.PostCount)
		for _, p := range problems {
			p.Line = raw.line
			r.row.Problems = append(r.row.Problems, p)
		}
	}
	if raw.traits&traitNUL != 0 && len(r.row.Problems) == 0 {
		r.note("the row holds a NUL byte: remove it") // in an ignored column
	}
}

func (r *Reader) note(message string) {
	r.row.Problems = append(r.row.Problems, csvimport.Problem{Line: r.row.Line, Message: message})
}

// faultOf returns why a row could not be split.
func faultOf(traits trait) string {
	switch {
	case traits&traitTooLong != 0:
		return "is longer than " + strconv.Itoa(MaxRowBytes) + " bytes: check for a missing line end or quote"
	case traits&traitOpenQuote != 0:
		return "opens a double quote that is not closed: close it, or write \"\" for a quote inside a value"
	}
	return "has text after a closing double quote: write \"\" for a quote inside a value"
}

// shorten cuts a value to at most MaxValueBytes, between characters.
func shorten(f []byte) []byte {
	if len(f) <= MaxValueBytes {
		return f
	}
	n := MaxValueBytes
	for n > 0 && !utf8.RuneStart(f[n]) {
		n--
	}
	return f[:n]
}
