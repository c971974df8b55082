package jsonata

import (
	"strings"
	"unicode/utf8"

	"stepback/jsonvalue"
)

const hexDigits = "0123456789abcdef"

// stringifier writes values as JSON text.
type stringifier struct {
	out []byte
	// precise rounds numbers to 15 digits and shows functions as empty strings, as $string does.
	precise bool
	pretty  bool
	// budget is charged for the output.
	budget *budget
}

func (w *stringifier) write(v value, depth int) *Error {
	if err := w.budget.nest(depth); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		w.out = append(w.out, "null"...)
	case null:
		w.out = append(w.out, "null"...)
	case bool:
		if v {
			w.out = append(w.out, "true"...)
		} else {
			w.out = append(w.out, "false"...)
		}
	case float64:
		return w.number(v)
	case string:
		if err := w.budget.growText(len(w.out), len(v)); err != nil {
			return err
		}
		w.out = appendQuoted(w.out, v)
	case *array:
		return w.array(v.list(), depth)
	case *object:
		return w.object(v, depth)
	case *tuple:
		return w.object(v.object(), depth)
	default:
		if w.precise {
			w.out = append(w.out, `""`...)
		} else {
			w.out = append(w.out, "null"...)
		}
	}
	return nil
}

func (w *stringifier) number(f float64) *Error {
	if !w.precise {
		w.out = numberJSON(f).AppendJSON(w.out)
		return nil
	}
	if _, _, err := numeric(f); err != nil {
		return err
	}
	w.out = numberJSON(precise(f)).AppendJSON(w.out)
	return nil
}

func (w *stringifier) array(items []value, depth int) *Error {
	if len(items) == 0 {
		w.out = append(w.out, "[]"...)
		return nil
	}
	w.out = append(w.out, '[')
	for i, item := range items {
		if err := w.separate(i, depth+1); err != nil {
			return err
		}
		if err := w.write(item, depth+1); err != nil {
			return err
		}
	}
	w.newline(depth)
	w.out = append(w.out, ']')
	return nil
}

func (w *stringifier) object(o *object, depth int) *Error {
	w.out = append(w.out, '{')
	written := 0
	for i, key := range o.names() {
		member := o.at(i)
		if member == nil || !w.precise && isFunction(member) {
			continue
		}
		if err := w.separate(written, depth+1); err != nil {
			return err
		}
		written++
		if err := w.budget.growText(len(w.out), len(key)); err != nil {
			return err
		}
		w.out = append(appendQuoted(w.out, key), ':')
		if w.pretty {
			w.out = append(w.out, ' ')
		}
		if err := w.write(member, depth+1); err != nil {
			return err
		}
	}
	if written > 0 {
		w.newline(depth)
	}
	w.out = append(w.out, '}')
	return nil
}

// separate begins the i-th element and charges for it.
func (w *stringifier) separate(i, depth int) *Error {
	if i > 0 {
		w.out = append(w.out, ',')
	}
	w.newline(depth)
	return w.budget.growText(len(w.out), bytesPerStep)
}

func (w *stringifier) newline(depth int) {
	if w.pretty {
		w.out = append(append(w.out, '\n'), strings.Repeat("  ", depth)...)
	}
}

// appendQuoted writes a string as JSON.stringify does; a lone surrogate is written as an escape.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			unit, size := decodeUnit(s[i:])
			if isSurrogate(unit) {
				dst = append(dst, '\\', 'u', hexDigits[unit>>12], hexDigits[unit>>8&15], hexDigits[unit>>4&15],
					hexDigits[unit&15])
			} else {
				dst = append(dst, s[i:i+size]...)
			}
			i += size
			continue
		}
		dst = appendASCII(dst, c)
		i++
	}
	return append(dst, '"')
}

func appendASCII(dst []byte, c byte) []byte {
	if c == '"' || c == '\\' || c < 0x20 {
		return jsonvalue.AppendEscape(dst, c)
	}
	return append(dst, c)
}
