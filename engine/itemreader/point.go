package itemreader

import (
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// Point returns the value at an ItemsPointer, a JSON Pointer (RFC 6901), in a JSON document in memory. The error is
// an *Error.
func Point(document jsonvalue.Value, pointer string) (jsonvalue.Value, error) {
	steps, err := parsePointer(pointer)
	if err != nil {
		return document, err
	}
	at := document
	for i, step := range steps {
		found := false
		switch at.Kind() {
		case jsonvalue.Object:
			at, found = at.Get(step)
		case jsonvalue.Array:
			if n, err := strconv.Atoi(step); err == nil && n >= 0 && n < at.Len() {
				at, found = at.At(n), true
			}
		default:
		}
		if !found {
			return at, failf("ItemsPointer %q finds nothing: there is no %q in the JSON document", pointer,
				"/"+strings.Join(steps[:i+1], "/"))
		}
	}
	return at, nil
}
