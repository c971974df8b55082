package csvfile

import (
	"bytes"
	"io"
)

const (
	// MaxRowBytes is the maximum length of a row, in bytes. A longer row, or a quote that is not closed within this
	// length, is reported as a problem of the row.
	MaxRowBytes = 64 << 10
	bufferBytes = 4 * MaxRowBytes
)

// trait is a property that distinguishes a row from a plain `a,b,c\n`.
type trait uint16

const (
	traitCarriageReturn trait = 1 << iota // the row ends with CR or CRLF
	traitQuotedBreak                      // a line break inside quotes
	traitBareQuote                        // a quote inside an unquoted field
	traitBackslash                        // AWS's reader would take it as an escape
	traitNUL                              // a NUL byte
	traitNonASCII                         // a byte above 0x7F
	traitQuoted                           // at least one quoted field
	traitPadding                          // blanks between a closing quote and the delimiter
	traitAfterQuote                       // other text there: an error
	traitOpenQuote                        // a quote that is not closed: an error
	traitTooLong                          // longer than MaxRowBytes: an error
)

// rawRow is a row split into fields. Fields are valid until the next call.
type rawRow struct {
	line   int64 // line of the row's first byte, from 1
	fields [][]byte
	traits trait
}

// blank reports whether the row is an empty or white-space line.
func (r *rawRow) blank() bool {
	return len(r.fields) == 1 && r.traits&traitQuoted == 0 && len(bytes.TrimSpace(r.fields[0])) == 0
}

// scanner splits UTF-8 text into rows. Rows end with LF, CRLF or CR. A quoted field may contain delimiters and line
// breaks; `""` in it is one quote.
type scanner struct {
	src        io.Reader
	buf        []byte
	start, end int // the unread part of buf
	eof        bool
	line       int64 // the line of buf[start]
	offset     int64 // the offset of buf[start] in the file, in bytes of the file's encoding
	width      width // computes offset for a file that is decoded; nil if the text is the file's bytes
	delimiter  byte
	row        rawRow
	scratch    []byte // unquoted text that is not a slice of buf
	breaks     int64  // line ends consumed by the last split
	skip       bool   // the row's line continues after the part that was split
}

func newScanner(src io.Reader) *scanner {
	return &scanner{src: src, buf: make([]byte, bufferBytes), line: 1, delimiter: ','}
}

// next returns the next row, including blank lines, or io.EOF.
func (s *scanner) next() (*rawRow, error) {
	n, err := s.locate()
	if err != nil {
		return nil, err
	}
	s.row.line = s.line
	s.consume(n)
	s.line += s.breaks
	if s.skip {
		s.skip = false
		err = s.skipLine()
	}
	return &s.row, err
}

// consume advances the read position by n bytes.
func (s *scanner) consume(n int) {
	if s.width == nil {
		s.offset += int64(n)
	} else {
		s.offset += s.width(s.buf[s.start : s.start+n])
	}
	s.start += n
}

// locate splits the row at the read position without consuming it and returns its length in bytes.
func (s *scanner) locate() (int, error) {
	for {
		window := s.buf[s.start:min(s.end, s.start+MaxRowBytes)]
		final := s.eof && s.start+len(window) == s.end
		if final && len(window) == 0 {
			return 0, io.EOF
		}
		n, how := s.split(window, final)
		switch {
		case how == splitDone:
			return n, nil
		case len(window) == MaxRowBytes || final:
			return s.giveUp(window, how), nil
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// fill moves the unread part to the front and reads until the buffer is full.
func (s *scanner) fill() error {
	copy(s.buf, s.buf[s.start:s.end])
	s.end -= s.start
	s.start = 0
	for s.end < len(s.buf) {
		n, err := s.src.Read(s.buf[s.end:])
		s.end += n
		if err == io.EOF {
			s.eof = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// giveUp is called for a window in which no row ends. It returns the window's first line as a row, so that an
// unclosed quote costs only its own line and not the rest of the file.
func (s *scanner) giveUp(window []byte, how splitResult) int {
	line, n := window, len(window)
	end := bytes.IndexAny(window, "\r\n")
	s.breaks, s.skip = 0, end < 0
	switch {
	case end == len(window)-1: // skipLine consumes the line end, since the other half of a CRLF may follow
		line, n, s.skip = window[:end], end, true
	case end >= 0:
		line, n = window[:end], end+breakLength(window[end:])
		s.breaks = 1
	}
	s.row.traits = traitTooLong
	if how == splitInQuote && (end >= 0 || len(window) < MaxRowBytes) {
		s.row.traits = traitOpenQuote
	}
	if bytes.IndexByte(line, 0) >= 0 {
		s.row.traits |= traitNUL
	}
	if !isASCII(line) {
		s.row.traits |= traitNonASCII
		if s.skip && (!s.eof || s.start+len(window) < s.end) {
			line = trimPartialRune(line)
		}
	}
	s.row.fields = append(s.row.fields[:0], bytes.Split(line, []byte{s.delimiter})...)
	return n
}

// skipLine drops the rest of a line that is too long, whatever its length.
func (s *scanner) skipLine() error {
	// The row's fields point into the buffer that is about to be reused.
	for i, f := range s.row.fields {
		s.row.fields[i] = bytes.Clone(f)
	}
	for {
		if i := bytes.IndexAny(s.buf[s.start:s.end], "\r\n"); i >= 0 {
			s.consume(i)
			if s.end-s.start < 2 && !s.eof {
				if err := s.fill(); err != nil {
					return err
				}
			}
			s.consume(breakLength(s.buf[s.start:s.end]))
			s.line++
			return nil
		}
		s.consume(s.end - s.start)
		if s.eof {
			return nil
		}
		if err := s.fill(); err != nil {
			return err
		}
	}
}

// breakLength returns the length of the line end at the start of b.
func breakLength(b []byte) int {
	if len(b) > 1 && b[0] == '\r' && b[1] == '\n' {
		return 2
	}
	return 1
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
