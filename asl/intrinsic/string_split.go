package intrinsic

import (
	"strings"

	"stepback/jsonvalue"
)

// stringSplit implements States.StringSplit: it splits at any single character of the delimiters and drops empty
// pieces.
func stringSplit(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	for i, what := range [...]string{"the string", "the delimiter"} {
		if values[i].Kind() != jsonvalue.String {
			return jsonvalue.Value{}, wrongKind(what, values[i], jsonvalue.String)
		}
	}
	delimiters := map[rune]bool{}
	for _, r := range values[1].Text() {
		delimiters[r] = true
	}
	parts := strings.FieldsFunc(values[0].Text(), func(r rune) bool { return delimiters[r] })
	pieces := make([]jsonvalue.Value, len(parts))
	for i, part := range parts {
		pieces[i] = jsonvalue.OfString(part)
	}
	return jsonvalue.OfArray(pieces), nil
}
