package csvfile

import (
	"bytes"
	"unicode/utf8"
)

// splitResult says where a split ended.
type splitResult int

const (
	splitDone    splitResult = iota // reached the end of a row
	splitCut                        // reached the end of the window outside quotes
	splitInQuote                    // reached the end of the window inside quotes
)

// special marks the bytes that end a plain field or need special treatment. The delimiter is compared separately.
var special = func() (table [256]bool) {
	for _, c := range []byte{'\n', '\r', '"', '\\', 0} {
		table[c] = true
	}
	for c := 0x80; c < 0x100; c++ {
		table[c] = true
	}
	return table
}()

// split splits the row at the start of window into s.row and returns its length. final is true if the end of the
// window is the end of the file.
func (s *scanner) split(window []byte, final bool) (int, splitResult) {
	s.row.fields = s.row.fields[:0]
	s.row.traits = 0
	s.scratch = s.scratch[:0]
	s.breaks = 0
	i := 0
	for {
		var field []byte
		if i < len(window) && window[i] == '"' {
			var open bool
			field, i, open = s.quoted(window, i+1)
			if open {
				return i, splitInQuote
			}
		} else {
			field, i = s.plain(window, i)
		}
		s.row.fields = append(s.row.fields, field)
		if i == len(window) {
			if !final {
				return i, splitCut
			}
			return i, splitDone
		}
		switch window[i] {
		case '\n':
			s.breaks++
			return i + 1, splitDone
		case '\r':
			if i+1 == len(window) && !final {
				return i, splitCut
			}
			s.breaks++
			s.row.traits |= traitCarriageReturn
			return i + breakLength(window[i:]), splitDone
		}
		i++ // the delimiter
	}
}

// plain reads an unquoted field that starts at i, up to its delimiter or line end.
func (s *scanner) plain(window []byte, i int) ([]byte, int) {
	begin := i
	for ; i < len(window); i++ {
		c := window[i]
		if c == s.delimiter {
			break
		}
		if !special[c] {
			continue
		}
		if c == '\n' || c == '\r' {
			break
		}
		s.row.traits |= traitOf(c)
	}
	return window[begin:i], i
}

func traitOf(c byte) trait {
	switch {
	case c == '"':
		return traitBareQuote
	case c == '\\':
		return traitBackslash
	case c == 0:
		return traitNUL
	case c >= 0x80:
		return traitNonASCII
	}
	return 0
}

// quoted reads a field whose opening quote is before i. It returns the text between the quotes and where the field
// ends; open is true if the quote is not closed.
func (s *scanner) quoted(window []byte, i int) (field []byte, end int, open bool) {
	s.row.traits |= traitQuoted
	begin, copied := i, -1 // copied: where the text starts in scratch
	for ; i < len(window); i++ {
		c := window[i]
		if !special[c] {
			continue
		}
		switch c {
		case '"':
			if i+1 < len(window) && window[i+1] == '"' {
				if copied < 0 {
					copied = len(s.scratch)
				}
				s.scratch = append(s.scratch, window[begin:i+1]...)
				i++
				begin = i + 1
				continue
			}
			field = window[begin:i]
			if copied >= 0 {
				s.scratch = append(s.scratch, field...)
				field = s.scratch[copied:]
			}
			return field, s.afterQuote(window, i+1), false
		case '\n':
			s.row.traits |= traitQuotedBreak
			s.breaks++
		case '\r':
			s.row.traits |= traitQuotedBreak
			if i+1 == len(window) || window[i+1] != '\n' {
				s.breaks++
			}
		default:
			s.row.traits |= traitOf(c)
		}
	}
	return nil, i, true
}

// afterQuote skips the text between a closing quote and the end of the field. Blanks are padding; anything else is
// an error.
func (s *scanner) afterQuote(window []byte, i int) int {
	rest, end := s.plain(window, i)
	if len(rest) > 0 {
		if len(bytes.TrimSpace(rest)) == 0 {
			s.row.traits |= traitPadding
		} else {
			s.row.traits |= traitAfterQuote
		}
	}
	return end
}

// trimPartialRune drops an incomplete rune at the end of b.
func trimPartialRune(b []byte) []byte {
	for back := 1; back <= utf8.UTFMax && back <= len(b); back++ {
		if c := b[len(b)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-back:]) {
				return b[:len(b)-back]
			}
			return b
		}
	}
	return b
}
