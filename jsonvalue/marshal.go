package jsonvalue

import (
	"bytes"
	"encoding/json"
)

// Marshal returns the JSON text of a Go value. A json.RawMessage or a []byte is JSON text already: it is returned as it
// is and not checked. A Value is printed. Every other value is encoded as json.Marshal does, a string as a JSON string,
// except that <, > and & are not escaped.
func Marshal(v any) (string, error) {
	switch v := v.(type) {
	case json.RawMessage:
		return string(v), nil
	case []byte:
		return string(v), nil
	case Value:
		return v.JSON(), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
