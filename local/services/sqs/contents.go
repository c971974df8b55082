package sqs

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
)

// contents holds the stored parts of a message except its state.
type contents struct {
	body, sender, deduplication, trace string
	attributes                         map[string]attribute
}

// attribute is a message attribute, as in requests and responses.
type attribute struct {
	DataType     string
	StringValue  *string  `json:",omitempty"`
	BinaryValue  []byte   `json:",omitempty"`
	StringValues []string `json:"StringListValues,omitempty"`
	BinaryValues [][]byte `json:"BinaryListValues,omitempty"`
}

// value returns the attribute's value as bytes, and whether it is text.
func (a attribute) value() (value []byte, text bool) {
	if a.StringValue != nil {
		return []byte(*a.StringValue), true
	}
	return a.BinaryValue, false
}

// The bytes that precede a value in checksums and in the store.
const (
	markText   = 1
	markBinary = 2
)

// encode encodes the contents; each text is preceded by its length.
func (c *contents) encode() []byte {
	b := make([]byte, 0, len(c.body)+len(c.sender)+64)
	for _, text := range []string{c.body, c.sender, c.deduplication, c.trace} {
		b = appendText(b, text)
	}
	for _, name := range slices.Sorted(maps.Keys(c.attributes)) {
		a := c.attributes[name]
		value, text := a.value()
		mark := byte(markBinary)
		if text {
			mark = markText
		}
		b = append(appendText(appendText(b, name), a.DataType), mark)
		b = appendText(b, string(value))
	}
	return b
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

var errContents = errors.New("the contents of a message in the store of the queues are damaged")

func decode(b []byte) (*contents, error) {
	next := func() (string, bool) {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return "", false
		}
		text := string(b[size : size+int(n)])
		b = b[size+int(n):]
		return text, true
	}
	c := &contents{}
	for _, to := range []*string{&c.body, &c.sender, &c.deduplication, &c.trace} {
		text, ok := next()
		if !ok {
			return nil, errContents
		}
		*to = text
	}
	for len(b) > 0 {
		name, ok1 := next()
		kind, ok2 := next()
		if !ok1 || !ok2 || len(b) == 0 {
			return nil, errContents
		}
		mark := b[0]
		b = b[1:]
		value, ok := next()
		if !ok {
			return nil, errContents
		}
		a := attribute{DataType: kind}
		if mark == markText {
			a.StringValue = &value
		} else {
			a.BinaryValue = []byte(value)
		}
		if c.attributes == nil {
			c.attributes = map[string]attribute{}
		}
		c.attributes[name] = a
	}
	return c, nil
}

// sumOfText returns the MD5 of a body in hexadecimal.
func sumOfText(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// sumOf returns the MD5 of attributes as SQS's developer guide defines it: sorted by name, with name, type and value
// each preceded by its length in four bytes. It returns "" if there are no attributes.
func sumOf(attributes map[string]attribute) string {
	if len(attributes) == 0 {
		return ""
	}
	var b []byte
	put := func(text []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		put([]byte(name))
		put([]byte(a.DataType))
		value, text := a.value()
		if text {
			b = append(b, markText)
		} else {
			b = append(b, markBinary)
		}
		put(value)
	}
	return sumOfText(string(b))
}
