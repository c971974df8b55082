package jsonata

import (
	"encoding/base64"
	"strings"
)

var encodingFunctions = map[string]*native{
	"base64encode": define("<s-:s>", 1, ofText(encodeBase64)),
	"base64decode": define("<s-:s>", 1, whenDefined(base64decode)),
}

// encodeBase64 encodes the low bytes of the text's UTF-16 code units, as btoa and Node's binary encoding do.
func encodeBase64(s string) string {
	u := units(s)
	data := make([]byte, len(u))
	for i, c := range u {
		data[i] = byte(c)
	}
	return base64.StdEncoding.EncodeToString(data)
}

// base64decode implements $base64decode. If the text has characters that belong to no Base64 alphabet, the service
// fails with an internal error, identified by an ID. The reference implementation skips such characters.
func base64decode(c *call, v value) (value, *Error) {
	s := textOf(v)
	if err := c.ev.budget.spendText(len(s)); err != nil {
		return nil, err
	}
	data, _, _ := strings.Cut(s, "=")
	foreign := func(r rune) bool {
		letter := r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune("+/-_ \t\r\n", r)
	}
	if strings.ContainsFunc(data, foreign) {
		id, _ := uuid(c, nil)
		return nil, &Error{Code: InternalError, Message: textOf(id)}
	}
	return decodeBase64(s), nil
}

// decodeBase64 decodes a text, and converts every byte to a character. It accepts both Base64 alphabets and skips
// all other characters. The first padding character ends the data.
func decodeBase64(s string) string {
	s, _, _ = strings.Cut(s, "=")
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '+', r == '/':
			return r
		case r == '-':
			return '+'
		case r == '_':
			return '/'
		default:
			return -1
		}
	}, s)
	if len(clean)%4 == 1 {
		clean = clean[:len(clean)-1]
	}
	data, _ := base64.RawStdEncoding.DecodeString(clean)
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return string(runes)
}
