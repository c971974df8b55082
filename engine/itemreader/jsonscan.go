package itemreader

import (
	"fmt"
	"io"
)

// peek skips blanks and returns the byte at the cursor without consuming it, or endOfText.
func (r *jsonRecords) peek() (int, error) {
	for {
		view := r.w.view()
		for i, b := range view {
			if b != ' ' && b != '\n' && b != '\t' && b != '\r' {
				if i > 0 {
					r.w.consume(i)
				}
				return int(b), nil
			}
		}
		r.w.consume(len(view))
		if err := r.w.more(); err == io.EOF {
			return endOfText, nil
		} else if err != nil {
			return 0, r.w.readError(r.where, err)
		}
	}
}

// toValue moves the cursor to a value.
func (r *jsonRecords) toValue() error {
	b, err := r.peek()
	if err != nil {
		return err
	}
	switch b {
	case ',', ']', '}', ':':
		return r.fault(fmt.Sprintf("expected a value instead of '%c'", b))
	case endOfText:
		return r.fault("unexpected end of the file, expected a value")
	}
	return nil
}

// frame returns the length of the value at the cursor, after reading all of it into the view.
func (r *jsonRecords) frame() (int, error) {
	var s valueScan
	for i := 0; ; {
		n, ended := s.scan(r.w.view()[i:])
		i += n
		if ended {
			return i, nil
		}
		if err := r.w.more(); err == io.EOF {
			return i, nil // the parser reports what is missing
		} else if err != nil {
			return 0, r.w.readError(r.where, err)
		}
	}
}

// pass consumes the value at the cursor without holding it.
func (r *jsonRecords) pass() error {
	if err := r.toValue(); err != nil {
		return err
	}
	var s valueScan
	for {
		n, ended := s.scan(r.w.view())
		r.w.consume(n)
		if ended {
			return nil
		}
		if err := r.w.more(); err == io.EOF {
			if s.scalar {
				return nil
			}
			return r.fault("unexpected end of the file inside a value")
		} else if err != nil {
			return r.w.readError(r.where, err)
		}
	}
}

// valueScan finds the end of a JSON value, considering only brackets and strings. It can be fed piece by piece.
type valueScan struct {
	depth   int
	scalar  bool // a number or a word, which ends before the next blank or punctuation
	inText  bool
	escaped bool
}

// scan scans the next piece and returns how much of it belongs to the value, and whether the value ends there.
func (s *valueScan) scan(piece []byte) (int, bool) {
	for i := 0; i < len(piece); i++ {
		if s.inText {
			i += s.text(piece[i:])
			if s.inText {
				return len(piece), false
			}
			if s.depth == 0 {
				return i + 1, true
			}
			continue
		}
		switch b := piece[i]; b {
		case '"':
			if s.scalar {
				return i, true
			}
			s.inText = true
		case '{', '[':
			if s.scalar {
				return i, true
			}
			s.depth++
		case '}', ']':
			if s.depth == 0 {
				return i, true
			}
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		case ' ', '\t', '\n', '\r', ',', ':':
			if s.depth == 0 {
				return i, true
			}
		default:
			s.scalar = s.depth == 0
		}
	}
	return len(piece), false
}

// text scans a string up to its closing quotation mark and returns the position of that; inText stays true if the
// piece ends first.
func (s *valueScan) text(piece []byte) int {
	for i := range piece {
		if s.escaped {
			s.escaped = false
			continue
		}
		switch piece[i] {
		case '"':
			s.inText = false
			return i
		case '\\':
			s.escaped = true
		}
	}
	return len(piece)
}
