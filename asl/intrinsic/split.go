package intrinsic

import (
	"strings"

	"stepback/asl/jsonvalue"
)

// stringSplit is States.StringSplit(string, delimiters): cut at every character of the second argument, without empty pieces.
func stringSplit(o *operands) (jsonvalue.Value, error) {
	delimiters := o.values[1].Text()
	pieces := strings.FieldsFunc(o.values[0].Text(), func(r rune) bool { return strings.ContainsRune(delimiters, r) })
	elements := make([]jsonvalue.Value, len(pieces))
	for i, piece := range pieces {
		elements[i] = jsonvalue.OfString(piece)
	}
	return jsonvalue.OfArray(elements), nil
}
