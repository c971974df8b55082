package jsonvalue

import "sync"

// ParseCompact is Parse for a text that AppendJSON has written. Large arrays and objects within it stay text until
// somebody looks inside, and are written as they stand. A text that is another one gives a value that is written as it
// stands, too, and whose parts panic when they are looked into and are not JSON.
func ParseCompact(text string) (Value, error) {
	p := parser{s: text, compact: true}
	v, err := p.value(0)
	if err == nil && p.i < len(p.s) {
		err = p.trailing()
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// rawText is an array or an object that has not been looked into.
type rawText struct {
	text string
	once sync.Once
}

// open gives the node its children. The text stays: it is what is written.
func (r *rawText) open(n *node) {
	r.once.Do(func() {
		inside := parsed(Parse(r.text))
		n.keys, n.vals, n.index = inside.node.keys, inside.node.vals, inside.node.index
	})
}

// parsed is a value whose text is known to be JSON: one that does not parse can only be a defect of its caller.
func parsed(v Value, err error) Value {
	if err != nil {
		panic("jsonvalue: the document is not JSON: " + err.Error())
	}
	return v
}

// unopenedFrom is how many bytes an array or object has, at least, that is left as text.
const unopenedFrom = 512

// unopened passes over an array or object that is large enough to stay text.
func (p *parser) unopened() (Value, bool) {
	kind := Array
	switch p.s[p.i] {
	case '{':
		kind = Object
	case '[':
	default:
		return Value{}, false
	}
	size := extent(p.s[p.i:])
	if size < unopenedFrom {
		return Value{}, false
	}
	n := &node{raw: &rawText{text: p.s[p.i : p.i+size]}}
	p.i += size
	return Value{kind: kind, node: n}, true
}

// structural are the bytes at which extent does something.
var structural = [256]bool{'"': true, '[': true, ']': true, '{': true, '}': true}

// extent is the number of bytes of the array or object at the beginning of a text; 0 when it does not end there.
func extent(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		if !structural[s[i]] {
			continue
		}
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			depth++
		default:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
