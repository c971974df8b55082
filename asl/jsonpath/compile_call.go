package jsonpath

import (
	"strings"

	"stepback/jsonvalue"
)

// call parses the arguments of a function at the cursor, which is at the opening parenthesis.
func (p *parser) call(name string) error {
	open := p.i
	parts, end := splitArguments(p.s, open)
	if end < 0 {
		return p.fail(open, "Arguments to function: '%s' are not closed properly.", name)
	}
	call, ok := functions[name]
	if !ok {
		return p.fail(open-len(name), "Function with name: %s does not exist.", name)
	}
	s := &functionStep{name: name, call: call}
	for _, part := range parts {
		a, ok, err := p.argument(part)
		if err != nil {
			return err
		}
		if ok {
			s.arguments = append(s.arguments, a)
		}
	}
	s.arguments = withLengthOfMembers(name, s.arguments)
	p.list = append(p.list, s)
	p.i = end + 1
	return nil
}

// span is a part of a text.
type span struct{ from, to int }

// splitArguments returns the parts between commas, and the offset of the parenthesis that closes the one at open;
// end is -1 if it is missing. As in Jayway, only double quotes protect characters.
func splitArguments(s string, open int) (parts []span, end int) {
	depth, from := 0, open+1
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '"':
			if i = unescapedIndex(s, i+1, '"'); i < 0 {
				return nil, -1
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 1 {
				parts = append(parts, span{from, i})
				from = i + 1
			}
		}
		if depth == 0 {
			return append(parts, span{from, i}), i
		}
	}
	return nil, -1
}

// argument parses one argument: a path, or JSON that starts like an object, a number or a string. It returns false
// for anything else, such as a string in single quotes, which Jayway drops.
func (p *parser) argument(part span) (argument, bool, error) {
	text := strings.TrimSpace(p.s[part.from:part.to])
	if text == "" {
		return argument{}, false, nil
	}
	at := part.from + strings.Index(p.s[part.from:part.to], text)
	switch c := text[0]; {
	case c == '$' || c == '@':
		path, _, err := p.c.compile(text, p.offset+at)
		return argument{path: &path}, true, err
	case c == '{' || c == '"' || c == '-' || c >= '0' && c <= '9':
		v, err := jsonvalue.Parse(text)
		if err != nil {
			return argument{}, false, p.fail(at, "Argument %s is not valid JSON: %v", text, err)
		}
		return argument{constant: v}, true, nil
	default:
		return argument{}, false, nil
	}
}
