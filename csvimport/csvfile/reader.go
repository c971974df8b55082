package csvfile

import (
	"bufio"
	"errors"
	"io"
	"math"

	"stepback/csvimport"
	"stepback/statemachine"
)

const headBytes = 64 << 10

// Format is the encoding and delimiter of a file.
type Format struct {
	Encoding  Encoding
	Delimiter Delimiter
}

// Reader reads the rows of a file, one at a time.
type Reader struct {
	scanner   *scanner
	format    Format
	header    header
	emptyLast bool // rows may end with a delimiter
	index     int64
	limit     int64 // offset in the file at and after which no row is read
	irregular bool  // something that AWS's ItemReader might read differently
	part      bool  // reads a range of the file, which does not show the encoding of the whole
	evidence  *evidence
	text      []byte
	row       Row
}

// NewReader determines the encoding and delimiter from the head of a file, and reads its header. assume is the
// encoding to use instead of the one that the head suggests; it may be empty. Whether the whole file is in that
// encoding is known at its end: [Reader.Next] fails if it is not.
//
// It fails with CSVFileEmpty, CSVFileBinary, CSVEncodingUnsupported or CSVHeaderInvalid, or with the error of src.
func NewReader(src io.Reader, assume Encoding) (*Reader, error) {
	buffered := bufio.NewReaderSize(src, headBytes)
	head, err := buffered.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := unsupportedMark(head); err != nil {
		return nil, err
	}
	encoding := assume
	if encoding == "" {
		if encoding, err = detect(head, err != nil); err != nil {
			return nil, firstError(binaryFileError(head), utf16Error(head), binaryContentError(head), err)
		}
	}
	irregular := encoding != UTF8
	if encoding == UTF8BOM {
		if _, err := buffered.Discard(len(byteOrderMark)); err != nil {
			return nil, err
		}
	}
	r := &Reader{irregular: irregular, limit: math.MaxInt64, evidence: &evidence{utf8Only: encoding != ShiftJIS}}
	if encoding == UTF8BOM {
		r.evidence.offset = int64(len(byteOrderMark))
	}
	r.scan(io.TeeReader(buffered, r.evidence), encoding)
	r.scanner.offset = r.evidence.offset
	head = append([]byte(nil), head...) // the header may extend beyond bufio's buffer
	if err := r.readHeader(); err != nil {
		var f *csvimport.Failure
		if errors.As(err, &f) && f.Name == statemachine.CSVHeaderInvalid {
			return nil, firstError(binaryFileError(head), utf16Error(head), binaryContentError(head), err)
		}
		return nil, err
	}
	return r, nil
}

// scan prepares the reader to split the text of src.
func (r *Reader) scan(src io.Reader, encoding Encoding) {
	r.scanner = newScanner(decoder(src, encoding))
	r.scanner.width = widthIn(encoding)
	r.format.Encoding = encoding
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// readHeader skips blank lines and a separator line, tries each delimiter, and uses the one with which the header has
// the most known column names. A separator line leaves no choice.
func (r *Reader) readHeader() error {
	s := r.scanner
	var chosen Delimiter // by a line such as sep=;
	for {
		if _, err := s.locate(); errors.Is(err, io.EOF) {
			return csvimport.Fail(statemachine.CSVFileEmpty,
				"the object holds nothing but blank lines; upload a file with a header and rows")
		} else if err != nil {
			return err
		}
		d := separatorLine(&s.row)
		if d != 0 && chosen == 0 {
			chosen = d
		} else if !s.row.blank() {
			break
		}
		if _, err := s.next(); err != nil {
			return err
		}
		r.irregular = true
	}
	best, bestKnown, bestFields := Comma, -1, 0
	for _, d := range []Delimiter{Comma, Tab, Semicolon} {
		if chosen != 0 && d != chosen {
			continue
		}
		s.delimiter = byte(d)
		if _, err := s.locate(); err != nil {
			return err
		}
		if n := known(s.row.fields); n > bestKnown || n == bestKnown && len(s.row.fields) > bestFields {
			best, bestKnown, bestFields = d, n, len(s.row.fields)
		}
	}
	s.delimiter = byte(best)
	r.format.Delimiter = best
	row, err := s.next()
	if err != nil {
		return err
	}
	if row.traits&(traitTooLong|traitOpenQuote|traitAfterQuote) != 0 {
		return csvimport.Fail(statemachine.CSVHeaderInvalid, "line %d: the header %s; %s", row.line,
			faultOf(row.traits), acceptedHeader)
	}
	r.header, err = readHeader(row, best)
	r.emptyLast = r.header.emptyLast
	r.irregular = r.irregular || !r.header.canonical
	return err
}

// Format returns the file's encoding and delimiter.
func (r *Reader) Format() Format { return r.format }

// Regular reports whether AWS's ItemReader and any other CSV reader interpret everything read so far in the same
// way. It requires UTF-8, the canonical header, commas and LF, and that there are no blank lines, line breaks in
// quotes, backslashes or problems.
func (r *Reader) Regular() bool { return !r.irregular }
