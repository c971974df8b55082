package intrinsic

import (
	"fmt"
	"strings"

	"stepback/asl/jsonpath"
)

// path parses a path. The path ends at the first comma or closing parenthesis outside its own brackets, parentheses
// and quotes.
func (p *parser) path() (argument, error) {
	start := p.i
	text := strings.TrimRight(p.s[start:start+pathLength(p.s[start:])], " \t\r\n")
	p.i += len(text)
	path, err := jsonpath.Compile(text)
	if err != nil {
		return nil, &SyntaxError{Column: start + 1, Message: fmt.Sprintf("invalid path '%s'", text), Err: err}
	}
	return pathArgument{path}, nil
}

func pathLength(s string) int {
	open := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '[' || c == '(':
			open++
		case open == 0 && (c == ',' || c == ')'):
			return i
		case c == ']' || c == ')':
			open--
		}
	}
	return len(s)
}
