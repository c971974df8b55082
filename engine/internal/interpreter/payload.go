package interpreter

import (
	"strconv"

	"stepback/jsonvalue"
)

// MaxPayload is the limit in bytes of every input, output and result.
const MaxPayload = 262_144

// join returns an array of the documents.
func join(elements []*jsonvalue.Document) *jsonvalue.Document {
	size := 2
	for _, e := range elements {
		size += len(e.Text()) + 1
	}
	dst := make([]byte, 0, size)
	dst = append(dst, '[')
	for i, e := range elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, e.Text()...)
	}
	return jsonvalue.TextDocument(string(append(dst, ']')))
}

func itoa(i int64) string { return strconv.FormatInt(i, 10) }
