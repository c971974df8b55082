package jsonvalue

import "sync"

// ParseCompact parses text written by AppendJSON. Large arrays and objects in it stay text until they are accessed,
// and are written unchanged. If AppendJSON did not write the text, the value is written unchanged as well, but
// accessing parts that are not JSON panics.
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

// rawText is an array or object that has not been accessed yet.
type rawText struct {
	text string
	once sync.Once
}

// open parses the node's children. The text is kept, because AppendJSON writes it unchanged.
func (r *rawText) open(n *node) {
	r.once.Do(func() {
		inside := parsed(Parse(r.text))
		n.keys, n.vals, n.index = inside.node.keys, inside.node.vals, inside.node.index
	})
}

// parsed returns v, whose text is known to be JSON. It panics on an error, which can only be a defect of the caller.
func parsed(v Value, err error) Value {
	if err != nil {
		panic("jsonvalue: the document is not JSON: " + err.Error())
	}
	return v
}

// unopenedFrom is the minimum size in bytes of an array or object that is kept as text.
const unopenedFrom = 512

// unopened skips an array or object that is large enough to stay text, and returns it as a value. It returns false
// for any other value.
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

// structural marks the bytes that extent has to handle.
var structural = [256]bool{'"': true, '[': true, ']': true, '{': true, '}': true}

// extent returns the number of bytes of the array or object at the start of s; 0 if it does not end in s.
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
