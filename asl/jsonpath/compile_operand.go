package jsonpath

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"stepback/jsonvalue"
)

// brokenLiteral is an error in a literal from which Jayway cannot recover, unlike a missing literal.
type brokenLiteral struct{ error }

// source reads one side of a comparison.
func (f *filterParser) source() (source, error) {
	switch c := f.peek(); c {
	case '!':
		f.i++
		if next := f.peek(); next != '@' && next != '$' {
			return nil, f.fail("Unexpected character: !")
		}
		path, err := f.path()
		if err != nil {
			return nil, err
		}
		path.negated = true
		return path, nil
	case '@', '$':
		return f.path()
	case '\'', '"':
		return f.quoted(c)
	case '[', '{':
		return f.json(c)
	case '/':
		return f.pattern()
	case 't':
		return f.word("true", "boolean literal", jsonvalue.OfBool(true))
	case 'f':
		return f.word("false", "boolean literal", jsonvalue.OfBool(false))
	case 'n':
		return f.word("null", "<null> value", jsonvalue.Value{})
	default:
		return f.number()
	}
}

// bare parses the right-hand side of a comparison that is not quoted and has no other recognised form, such as open
// in [?(@.state == open)] or the path of a parameter in [?(@.Name == /app/key)]. As at AWS, it is text up to the end
// of the comparison, without the surrounding blanks.
func (f *filterParser) bare() (source, error) {
	f.blanks()
	if f.i >= len(f.s) || strings.IndexByte("'\"[{@$!()&|<>=~", f.s[f.i]) >= 0 {
		return nil, f.fail("Expected a value to compare with")
	}
	start, open := f.i, 0
	for ; f.i < len(f.s); f.i++ {
		rest := f.s[f.i:]
		if strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "||") {
			break
		}
		if rest[0] == '(' {
			open++
		}
		if rest[0] == ')' {
			if open--; open < 0 {
				break
			}
		}
	}
	text := strings.TrimRight(f.s[start:f.i], " ")
	if at := strings.IndexAny(text, "'\"[]{}@$"); at >= 0 {
		f.i = start + at
		return nil, f.malformed()
	}
	return literal{value: jsonvalue.OfString(text)}, nil
}

// comparisonEnds reports whether a comparison can end at the cursor.
func (f *filterParser) comparisonEnds() bool {
	c := f.peek()
	return c == 0 || c == ')' || strings.HasPrefix(f.s[f.i:], "&&") || strings.HasPrefix(f.s[f.i:], "||")
}

func (f *filterParser) word(word, what string, v jsonvalue.Value) (source, error) {
	if !f.accept(word) {
		return nil, f.fail("Expected %s", what)
	}
	return literal{value: v}, nil
}

func (f *filterParser) quoted(quote byte) (source, error) {
	end := unescapedIndex(f.s, f.i+1, quote)
	if end < 0 {
		return nil, f.fail("String literal does not have matching quotes. Expected %c in %s", quote, f.s)
	}
	text := unescape(f.s[f.i+1 : end])
	f.i = end + 1
	return literal{value: jsonvalue.OfString(text)}, nil
}

func (f *filterParser) number() (source, error) {
	start := f.i
	for f.i < len(f.s) && strings.IndexByte("0123456789-.", f.s[f.i]) >= 0 {
		f.i++
	}
	v, ok := spelledNumber(f.s[start:f.i])
	if !ok {
		return nil, &brokenLiteral{f.malformed()}
	}
	return literal{value: v}, nil
}

func (f *filterParser) json(opening byte) (source, error) {
	end := matchingClose(f.s, f.i, opening+2, false) // ] and } come two code points after [ and {
	if end < 0 {
		return nil, f.fail("String not closed. Expected ' in %s", f.s)
	}
	v, ok := parseLenient(f.s[f.i : end+1])
	if !ok {
		return nil, f.fail("The literal %s is not JSON", f.s[f.i:end+1])
	}
	f.i = end + 1
	return literal{value: v}, nil
}

// patternFlags maps the flags of Jayway's patterns to Go's. Flags that map to "" have no effect here.
var patternFlags = map[byte]string{'i': "i", 'm': "m", 's': "s", 'd': "", 'u': "", 'U': ""}

func (f *filterParser) pattern() (source, error) {
	end := unescapedIndex(f.s, f.i+1, '/')
	if end < 0 {
		return nil, f.fail("Pattern not closed. Expected / in %s", f.s)
	}
	text, flags := f.s[f.i+1:end], []string(nil)
	end++
	for ; end < len(f.s); end++ {
		flag, ok := patternFlags[f.s[end]]
		if !ok {
			break
		}
		flags = append(flags, flag)
	}
	options := strings.Join(flags, "")
	if options != "" {
		options = "(?" + options + ")"
	}
	whole := options + `\A(?:` + text + `)\z`
	re, err := regexp.Compile(whole)
	if err != nil {
		return nil, &brokenLiteral{f.fail("The pattern /%s/ cannot be used: %v", text, err)}
	}
	f.i = end
	return literal{pattern: re, effort: 2 * programSize(whole)}, nil
}

// programSize returns the number of instructions of a compiled pattern, the factor by which the time of a match
// exceeds that of reading the text. It returns 0 for a pattern that does not compile.
func programSize(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// path parses a path from the item or the root. It ends at a blank, at an operator, or at a closing parenthesis
// that does not belong to it.
func (f *filterParser) path() (*pathOperand, error) {
	start, calls := f.i, 0
	f.i++
scan:
	for f.i < len(f.s) {
		c := f.s[f.i]
		switch {
		case c == '[':
			end := matchingClose(f.s, f.i, ']', false)
			if end < 0 {
				return nil, f.fail("Square brackets does not match in filter %s", f.s)
			}
			f.i = end
		case c == '(':
			calls++
		case c == ')' && calls > 0:
			calls--
		case calls == 0 && (c == ')' || c == ' ' || isOperatorSymbol(c)):
			break scan
		}
		f.i++
	}
	s, _, err := f.c.compile(f.s[start:f.i], f.offset+start)
	if err != nil {
		return nil, err
	}
	return &pathOperand{steps: s}, nil
}
