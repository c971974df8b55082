package itemreader

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"stepback/jsonvalue"
)

// jsonlRecords reads JSON Lines: one JSON value a line, blank lines skipped.
type jsonlRecords struct {
	w     window
	where string
}

func (r *jsonlRecords) next() (Item, error) {
	n, err := r.frame()
	if err != nil {
		return Item{}, err
	}
	if !utf8.Valid(r.w.view()[:n]) {
		return Item{}, r.w.notUTF8(r.where, n)
	}
	v, err := jsonvalue.Parse(string(r.w.view()[:n]))
	if err != nil {
		return Item{}, r.syntaxError(err)
	}
	r.endLine(n)
	return Item{Value: v}, nil
}

func (r *jsonlRecords) nextText(dst []byte) ([]byte, Item, error) {
	item, err := r.next()
	return asText(dst, item, err)
}

func (r *jsonlRecords) skip() error {
	n, err := r.frame()
	if err == nil {
		r.endLine(n)
	}
	return err
}

func (r *jsonlRecords) offset() int64 { return r.w.base }

// frame returns the length of the next line that is not blank.
func (r *jsonlRecords) frame() (int, error) {
	for {
		n, err := r.w.newline(0)
		if err != nil && err != io.EOF {
			return 0, r.w.readError(r.where, err)
		}
		if len(bytes.TrimSpace(r.w.view()[:n])) > 0 {
			return n, nil
		}
		r.endLine(n)
		if err == io.EOF {
			return 0, io.EOF
		}
	}
}

func (r *jsonlRecords) endLine(n int) {
	if n < len(r.w.view()) {
		r.w.advance(n+1, 1)
	} else {
		r.w.advance(n, 0)
	}
}

func (r *jsonlRecords) syntaxError(err error) error {
	var syntax *jsonvalue.SyntaxError
	if !errors.As(err, &syntax) {
		return r.w.readError(r.where, err)
	}
	return &Error{Cause: jsonFault(r.where, r.w.line, r.w.base+int64(syntax.Offset), syntax.Message) +
		"; JSON Lines holds one complete JSON value per line", Err: err}
}
