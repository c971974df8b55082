package itemreader

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"stepback/jsonvalue"
)

// jsonRecords reads the elements of an array, or the members of an object, from a JSON document. It holds one item at
// a time. What it skips, on the way to ItemsPointer or in skip, is not held at all, and only its brackets are
// checked.
type jsonRecords struct {
	w       window
	where   string
	closing byte // ']' or '}'
	whole   bool // the array is the whole document, so nothing may follow it
	begun   bool
	done    bool
}

func newJSONRecords(cfg *Config, w window, where string) (*jsonRecords, error) {
	r := &jsonRecords{w: w, where: where, whole: cfg.ItemsPointer == ""}
	steps, err := parsePointer(cfg.ItemsPointer)
	if err != nil {
		return nil, err
	}
	b, err := r.peek()
	if err != nil {
		return nil, err
	}
	if b == endOfText {
		return nil, failf("%s is empty, expected a JSON array", where)
	}
	if err := r.descend(cfg.ItemsPointer, steps); err != nil {
		return nil, err
	}
	b, err = r.peek()
	switch {
	case err != nil:
		return nil, err
	case !r.whole && r.w.base >= MaxPointedOffset:
		return nil, failf("%s: ItemsPointer %q points to byte %d; the value must start within the first 16 MB of the document",
			where, cfg.ItemsPointer, r.w.base)
	case b == '[':
		r.closing = ']'
	case b == '{' && !r.whole:
		r.closing = '}'
	default:
		return nil, r.notIterable(b)
	}
	r.w.advance(1, 0)
	return r, nil
}

// notIterable returns the error for a value that is not an array. It has the service's wording unless the value is
// not valid JSON; an object is not checked for that.
func (r *jsonRecords) notIterable(first int) error {
	if first != '{' {
		if _, err := r.value(); err != nil {
			return err
		}
	}
	return &Error{Cause: causeNotIterable}
}

func (r *jsonRecords) next() (Item, error) {
	if more, err := r.element(); err != nil || !more {
		return Item{}, r.endOr(err)
	}
	item := Item{}
	if r.closing == '}' {
		key, err := r.memberName()
		if err != nil {
			return Item{}, err
		}
		item.Key, item.Keyed = key, true
	}
	v, err := r.value()
	item.Value = v
	return item, err
}

func (r *jsonRecords) nextText(dst []byte) ([]byte, Item, error) {
	item, err := r.next()
	return asText(dst, item, err)
}

func (r *jsonRecords) skip() error {
	if more, err := r.element(); err != nil || !more {
		return r.endOr(err)
	}
	if r.closing == '}' {
		if _, err := r.memberName(); err != nil {
			return err
		}
	}
	return r.pass()
}

func (r *jsonRecords) offset() int64 { return r.w.base }

func (r *jsonRecords) endOr(err error) error {
	if err != nil {
		return err
	}
	return io.EOF
}

// element moves to the next element; it returns false at the closing bracket.
func (r *jsonRecords) element() (bool, error) {
	if r.done {
		return false, nil
	}
	more, err := r.separator(r.closing, !r.begun)
	r.begun = true
	if err != nil || more {
		return more, err
	}
	r.done = true
	if !r.whole {
		return false, nil
	}
	b, err := r.peek()
	if err == nil && b != endOfText {
		err = r.fault("unexpected text behind the end of the document")
	}
	return false, err
}

// separator consumes the separator between two elements of an array or object: it returns true for a comma and false
// for the closing bracket. No comma is expected before the first element.
func (r *jsonRecords) separator(closing byte, first bool) (bool, error) {
	b, err := r.peek()
	switch {
	case err != nil:
		return false, err
	case b == int(closing):
		r.w.advance(1, 0)
		return false, nil
	case first:
		return true, nil
	case b != ',':
		return false, r.fault(fmt.Sprintf("expected ',' or '%c'", closing))
	}
	r.w.advance(1, 0)
	return true, nil
}

// memberName reads a member's name and its colon.
func (r *jsonRecords) memberName() (string, error) {
	b, err := r.peek()
	if err != nil {
		return "", err
	}
	if b != '"' {
		return "", r.fault("expected a member name in double quotes")
	}
	name, err := r.value()
	if err != nil {
		return "", err
	}
	b, err = r.peek()
	if err != nil {
		return "", err
	}
	if b != ':' {
		return "", r.fault("expected ':' behind the member name")
	}
	r.w.advance(1, 0)
	return name.Text(), nil
}

// value reads the value at the cursor.
func (r *jsonRecords) value() (jsonvalue.Value, error) {
	if err := r.toValue(); err != nil {
		return jsonvalue.Value{}, err
	}
	n, err := r.frame()
	if err != nil {
		return jsonvalue.Value{}, err
	}
	if !utf8.Valid(r.w.view()[:n]) {
		return jsonvalue.Value{}, r.w.notUTF8(r.where, n)
	}
	v, err := jsonvalue.Parse(string(r.w.view()[:n]))
	var syntax *jsonvalue.SyntaxError
	if errors.As(err, &syntax) {
		line, at := r.w.line+int64(syntax.Line)-1, r.w.base+int64(syntax.Offset)
		return v, &Error{Cause: jsonFault(r.where, line, at, syntax.Message), Err: err}
	}
	r.w.consume(n)
	return v, err
}

func (r *jsonRecords) fault(message string) error {
	return &Error{Cause: jsonFault(r.where, r.w.line, r.w.base, message)}
}

func jsonFault(where string, line, offset int64, message string) string {
	return fmt.Sprintf("%s line %d (byte %d) is not JSON: %s", where, line, offset, message)
}
