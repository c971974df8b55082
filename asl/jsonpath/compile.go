package jsonpath

import (
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// Limits that keep compilation and evaluation cheap for any text. JSON itself nests at most 1,000 levels.
const (
	maxSteps   = 1000
	maxNesting = 20 // filters, parentheses and function arguments inside one another
)

// compiler holds the state shared by the parsers of one text.
type compiler struct {
	whole   string // the text as the user wrote it
	nesting int
}

// compile compiles a path that starts with $ or @. offset is its position in the whole text.
func (c *compiler) compile(text string, offset int) (s steps, trailing bool, err error) {
	c.nesting++
	defer func() { c.nesting-- }()
	p := &parser{c: c, s: text, offset: offset}
	if c.nesting > maxNesting {
		return steps{}, false, p.fail(0, "The path nests filters and arguments deeper than %d levels", maxNesting)
	}
	if err := p.path(); err != nil {
		return steps{}, false, err
	}
	return newSteps(p.list, text[0] == '@'), p.i < len(p.s), nil
}

// parser parses the steps of one path. Like Jayway it stops at the last character once a step is complete, so that
// a single character after a step is ignored.
type parser struct {
	c      *compiler
	s      string
	i      int
	offset int // of s in the whole text
	list   []step
}

// fail returns a syntax error at position at of the path.
func (p *parser) fail(at int, format string, args ...any) error {
	return &SyntaxError{Path: p.c.whole, Column: p.offset + at + 1, Message: fmt.Sprintf(format, args...)}
}

// position converts an offset in the path to Jayway's, which counts UTF-16 units.
func (p *parser) position(at int) int { return jsonvalue.LenUTF16(p.s[:min(at, len(p.s))]) }

func (p *parser) path() error {
	if strings.HasSuffix(p.s, ".") {
		return p.fail(len(p.s)-1, "Path must not end with a '.' or '..'")
	}
	p.i = 1
	if len(p.s) == 1 {
		return nil
	}
	if p.s[1] != '.' && p.s[1] != '[' {
		return p.fail(1, "Illegal character at position 1 expected '.' or '['")
	}
	for {
		if err := p.next(); err != nil {
			return err
		}
		if len(p.list) > maxSteps {
			return p.fail(p.i, "The path has more than %d steps", maxSteps)
		}
		if p.i >= len(p.s)-1 {
			return nil
		}
	}
}

// next parses one step, including the dots before it.
func (p *parser) next() error {
	if p.s[p.i] == '.' {
		p.i++
		if p.is(p.i, '.') {
			p.list = append(p.list, &scanStep{})
			p.i++
		}
		if p.i >= len(p.s) {
			return p.fail(len(p.s)-1, "Path must not end with a '.'")
		}
		if p.s[p.i] == '.' {
			return p.fail(p.i, "Character '.' on position %d is not valid.", p.position(p.i))
		}
	}
	switch p.s[p.i] {
	case '[':
		return p.bracket()
	case '*':
		p.i++
		p.list = append(p.list, &wildcardStep{})
		return nil
	case ' ':
		return p.fail(p.i, "Could not parse token starting at position %d", p.position(p.i))
	default:
		return p.name()
	}
}

// name reads a member name or a function call.
func (p *parser) name() error {
	start := p.i
	end := start
	for end < len(p.s) && !strings.ContainsRune(".[(", rune(p.s[end])) {
		if p.s[end] == ' ' {
			return p.fail(end, "Use bracket notion ['my prop'] if your property contains blank characters. position: %d", p.position(start))
		}
		end++
	}
	p.i = end
	if p.is(end, '(') {
		return p.call(p.s[start:end])
	}
	p.list = append(p.list, &propertyStep{names: []string{p.s[start:end]}})
	return nil
}

func (p *parser) bracket() error {
	switch c := p.significant(p.i); {
	case c == '\'' || c == '"':
		return p.quotedNames(c)
	case c == '*':
		return p.bracketWildcard()
	case c == '?':
		return p.filter()
	case c == '-' || c == ':' || c >= '0' && c <= '9':
		if done, err := p.indexes(); done || err != nil {
			return err
		}
	}
	return p.unexpected()
}

func (p *parser) unexpected() error {
	return p.fail(p.i, "Could not parse token starting at position %d. Expected ?, ', 0-9, * ", p.position(p.i))
}

func (p *parser) bracketWildcard() error {
	star := p.i + 1 + strings.IndexByte(p.s[p.i+1:], '*')
	end := p.significantAt(star)
	if !p.is(end, ']') {
		return p.fail(star+1, "Expected wildcard token to end with ']' on position %d", p.position(star+1))
	}
	p.list = append(p.list, &wildcardStep{})
	p.i = end + 1
	return nil
}

// is reports whether the character at this offset exists and is c.
func (p *parser) is(at int, c byte) bool { return at >= 0 && at < len(p.s) && p.s[at] == c }

// significantAt returns the offset of the first character after at that is not a blank.
func (p *parser) significantAt(at int) int {
	at++
	for p.is(at, ' ') {
		at++
	}
	return at
}

// significant returns the first character after at that is not a blank, or a blank at the end of the text.
func (p *parser) significant(at int) byte {
	if at = p.significantAt(at); at < len(p.s) {
		return p.s[at]
	}
	return ' '
}
