package csvfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"stepback/csvimport"
	"stepback/internal/spelling"
)

// Correction is a row of a corrections file: a record that was not applied, and why.
type Correction struct {
	UserID, LoginCount, PostCount string
	Line                          int64 // line of the row in the imported file, from 1
	Error, Reason                 string
	Letter                        string // ID of the row's dead letter; empty in files of earlier versions
}

// Corrections writes a corrections file, which users correct and import again. Its values can be read back byte for
// byte by a [Reader], except that a long Reason is shortened.
type Corrections struct{ w *Writer }

// maxReason is the maximum length of a reason in bytes, so that a row stays far below MaxRowBytes.
const maxReason = 4 << 10

var correctionColumns = []string{"user_id", "login_count", "post_count", "line", "error", "reason", "letter"}

// NewCorrections writes the header of a corrections file and returns a writer of its rows.
func NewCorrections(out io.Writer) (*Corrections, error) {
	c := &Corrections{NewPlainWriter(out)}
	return c, c.w.Write(correctionColumns...)
}

// MoreCorrections returns a writer of further rows, without a header.
func MoreCorrections(out io.Writer) *Corrections { return &Corrections{NewPlainWriter(out)} }

// CorrectionsHeader returns the header of a corrections file, as NewCorrections writes it.
func CorrectionsHeader() string { return strings.Join(correctionColumns, ",") + "\n" }

// Write adds one row.
func (c *Corrections) Write(x Correction) error {
	reason := x.Reason
	if len(reason) > maxReason {
		n := maxReason
		for !utf8.RuneStart(reason[n]) {
			n--
		}
		reason = reason[:n] + "…"
	}
	return c.w.Write(Guard(x.UserID), Guard(x.LoginCount), Guard(x.PostCount), strconv.FormatInt(x.Line, 10),
		Guard(x.Error), Guard(reason), x.Letter)
}

// Flush writes buffered data. It returns the first error of any Write.
func (c *Corrections) Flush() error { return c.w.Flush() }

// ReadCorrections calls visit for each row of a corrections file that Corrections wrote. It also reads files of earlier
// versions, which have no column letter and double their backslashes.
func ReadCorrections(src io.Reader, visit func(Correction) error) error {
	s := newScanner(src)
	header, err := s.next()
	if err != nil {
		return fmt.Errorf("a corrections file has no header: %w", err)
	}
	columns := len(header.fields)
	text := string(bytes.Join(header.fields, []byte(",")))
	if columns < len(correctionColumns)-1 || text != strings.Join(correctionColumns[:min(columns, len(correctionColumns))], ",") {
		return fmt.Errorf("%q is not the header of a corrections file", abbreviate(text))
	}
	for {
		row, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(row.fields) != columns {
			return fmt.Errorf("line %d has %s, the header has %s", row.line,
				spelling.Counted(len(row.fields), "field"), spelling.Counted(columns, "column"))
		}
		value := func(i int) string { return string(unguard(row.fields[i])) }
		x := Correction{}
		if columns == len(correctionColumns) {
			x.Letter = string(row.fields[6])
		} else {
			value = func(i int) string { return string(unguard(unescape(row.fields[i]))) }
		}
		x.UserID, x.LoginCount, x.PostCount, x.Error, x.Reason = value(0), value(1), value(2), value(4), value(5)
		if x.Line, err = strconv.ParseInt(string(row.fields[3]), 10, 64); err != nil {
			return fmt.Errorf("line %d: the line of the imported file: %w", row.line, err)
		}
		if err := visit(x); err != nil {
			return err
		}
	}
}

// LettersFile writes records that came out of dead letters as a file that an import reads. A record's ID of its letter
// says which one it came out of.
func LettersFile(out io.Writer, records []csvimport.Record) error {
	w := NewPlainWriter(out)
	if err := w.Write("user_id", "login_count", "post_count", "letter"); err != nil {
		return err
	}
	for i := range records {
		x := &records[i]
		if err := w.Write(Guard(x.UserID), Guard(x.LoginCount), Guard(x.PostCount), x.Letter); err != nil {
			return err
		}
	}
	return w.Flush()
}
