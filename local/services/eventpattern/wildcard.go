package eventpattern

import (
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// wildcard matches a text with any number of characters between its parts. A text without a * has a single part.
type wildcard []string

// wildcardOf parses a text with *, in which \* and \\ stand for the characters themselves. problem counts positions
// from the quote before the text, as AWS does.
func wildcardOf(s string) (w wildcard, problem string) {
	part := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '*' && i+1 < len(s) && s[i+1] == '*':
			return nil, fmt.Sprintf("Consecutive wildcard characters at pos %d", i+1)
		case c == '*':
			w, part = append(w, string(part)), part[:0]
		case c != '\\':
			part = append(part, c)
		case i+1 < len(s) && (s[i+1] == '*' || s[i+1] == '\\'):
			i++
			part = append(part, s[i])
		default:
			return nil, fmt.Sprintf("Invalid escape character at pos %d", i+1)
		}
	}
	return append(w, string(part)), ""
}

// mostComplex is the complexity from which a wildcard is refused. AWS does not publish its limit, which is at most that
// of *:*:*:*:*:event-bus/* in its documentation.
const mostComplex = 10

// tooComplex is AWS's reason for refusing a wildcard.
const tooComplex = "Rule is too complex - try using fewer wildcard characters or fewer repeating character sequences " +
	"after a wildcard character"

// complexity returns how many prefixes of the wildcard a value may match at the same time: those that end in a *, and
// those that end in the same character after a *.
func (w wildcard) complexity() int {
	stars := len(w) - 1
	same, most := map[byte]int{}, 0
	for _, part := range w[1:] {
		if part != "" {
			same[part[0]]++
			most = max(most, same[part[0]])
		}
	}
	return stars + most
}

func (w wildcard) matches(v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.String {
		return false
	}
	text, last := v.Text(), len(w)-1
	if last == 0 {
		return text == w[0]
	}
	if !strings.HasPrefix(text, w[0]) {
		return false
	}
	text = text[len(w[0]):]
	for _, part := range w[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, w[last])
}
