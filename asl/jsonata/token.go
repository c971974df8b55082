package jsonata

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"stepback/asl/jsonata/internal/ecma"
)

type tokenKind uint8

const (
	endToken tokenKind = iota
	nameToken
	variableToken
	operatorToken
	stringToken
	numberToken
	valueToken // true, false and null
	regexToken
)

// token is one lexical element. position is the offset after a symbol or literal, and the end of a name, as in the
// reference implementation.
type token struct {
	kind     tokenKind
	text     string // of names, variables, operators and strings
	literal  value  // of strings, numbers and values
	regex    *ecma.Regexp
	position int
}

// value returns the form of the token that messages show.
func (t *token) value() value {
	switch t.kind {
	case endToken:
		return "(end)"
	case stringToken, numberToken, valueToken:
		return t.literal
	case regexToken:
		return newObject(0)
	default:
		return t.text
	}
}

// lexer splits an expression into tokens.
type lexer struct {
	source   string
	position int
}

const (
	blanks = " \t\n\r\v"
	// stops holds the characters that end a name.
	stops = ".[]{}(),@#;:?+-*/%|=<>^&!~"
)

var doubleOperators = []string{"..", ":=", "!=", ">=", "<=", "**", "~>"}

// next returns the next token. infix is true if an operator may follow; a slash is then a division and does not
// open a regular expression.
func (l *lexer) next(infix bool) (token, *Error) {
	if err := l.skip(); err != nil {
		return token{}, err
	}
	if l.position >= len(l.source) {
		return token{}, nil
	}
	rest := l.source[l.position:]
	if rest[0] == '/' && !infix {
		l.position++
		return l.regex()
	}
	for _, operator := range doubleOperators {
		if strings.HasPrefix(rest, operator) {
			l.position += 2
			return token{kind: operatorToken, text: operator, position: l.position}, nil
		}
	}
	switch c := rest[0]; {
	case strings.IndexByte(stops, c) >= 0:
		l.position++
		return token{kind: operatorToken, text: rest[:1], position: l.position}, nil
	case c == '"' || c == '\'':
		l.position++
		return l.quoted(c)
	case c >= '0' && c <= '9':
		return l.number()
	case c == '`':
		return l.backquoted()
	default:
		return l.name(), nil
	}
}

// skip skips blanks and comments.
func (l *lexer) skip() *Error {
	for {
		for l.position < len(l.source) && strings.IndexByte(blanks, l.source[l.position]) >= 0 {
			l.position++
		}
		if !strings.HasPrefix(l.source[l.position:], "/*") {
			return nil
		}
		end := strings.Index(l.source[l.position+2:], "*/")
		if end < 0 {
			return &Error{Code: "S0106", Position: l.position}
		}
		l.position += 2 + end + 2
	}
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (l *lexer) quoted(quote byte) (token, *Error) {
	var text []byte
	for l.position < len(l.source) {
		c := l.source[l.position]
		switch c {
		case quote:
			l.position++
			s := string(text)
			return token{kind: stringToken, text: s, literal: s, position: l.position}, nil
		case '\\':
			l.position++
			var err *Error
			if text, err = l.escape(text); err != nil {
				return token{}, err
			}
		default:
			text = append(text, c)
			l.position++
		}
	}
	return token{}, &Error{Code: "S0101", Position: l.position}
}

// escape reads the rest of an escape, after its backslash.
func (l *lexer) escape(text []byte) ([]byte, *Error) {
	if l.position >= len(l.source) {
		return nil, l.badEscape("")
	}
	c := l.source[l.position]
	if plain, ok := escapes[c]; ok {
		l.position++
		return append(text, plain), nil
	}
	if c != 'u' {
		_, n := utf8.DecodeRuneInString(l.source[l.position:])
		return nil, l.badEscape(l.source[l.position : l.position+n])
	}
	digits := l.source[l.position+1 : min(l.position+5, len(l.source))]
	unit, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return nil, &Error{Code: "S0104", Position: l.position}
	}
	l.position += 1 + len(digits)
	return appendUnit(text, rune(unit)), nil
}

func (l *lexer) badEscape(found string) *Error {
	err := &Error{Code: "S0103", Position: l.position}
	err.setToken(found)
	return err
}

func (l *lexer) number() (token, *Error) {
	start := l.position
	end := start + 1
	if l.source[start] != '0' {
		end = l.digits(start)
	}
	if end < len(l.source) && l.source[end] == '.' {
		if fraction := l.digits(end + 1); fraction > end+1 {
			end = fraction
		}
	}
	if end < len(l.source) && (l.source[end] == 'e' || l.source[end] == 'E') {
		from := end + 1
		if from < len(l.source) && (l.source[from] == '+' || l.source[from] == '-') {
			from++
		}
		if exponent := l.digits(from); exponent > from {
			end = exponent
		}
	}
	text := l.source[start:end]
	f, _ := strconv.ParseFloat(text, 64)
	if math.IsInf(f, 0) {
		err := &Error{Code: "S0102", Position: l.position}
		err.setToken(text)
		return token{}, err
	}
	l.position = end
	return token{kind: numberToken, text: text, literal: f, position: end}, nil
}

// digits returns the end of the run of digits that starts at from.
func (l *lexer) digits(from int) int {
	for from < len(l.source) && l.source[from] >= '0' && l.source[from] <= '9' {
		from++
	}
	return from
}

func (l *lexer) backquoted() (token, *Error) {
	start := l.position + 1
	end := strings.IndexByte(l.source[start:], '`')
	if end < 0 {
		l.position = len(l.source)
		return token{}, &Error{Code: "S0105", Position: l.position}
	}
	l.position = start + end + 1
	return token{kind: nameToken, text: l.source[start : start+end], position: l.position}, nil
}

func (l *lexer) name() token {
	start := l.position
	end := start
	for end < len(l.source) && strings.IndexByte(stops, l.source[end]) < 0 && strings.IndexByte(blanks,
		l.source[end]) < 0 {
		end++
	}
	l.position = end
	name := l.source[start:end]
	if variable, ok := strings.CutPrefix(name, "$"); ok {
		return token{kind: variableToken, text: variable, position: end}
	}
	switch name {
	case "or", "in", "and":
		return token{kind: operatorToken, text: name, position: end}
	case "true", "false":
		return token{kind: valueToken, literal: name == "true", position: end}
	case "null":
		return token{kind: valueToken, literal: null{}, position: end}
	default:
		return token{kind: nameToken, text: name, position: end}
	}
}

// regex reads a regular expression after its opening slash. It ends at a slash that is neither escaped nor inside
// brackets.
func (l *lexer) regex() (token, *Error) {
	start := l.position
	depth := 0
	for ; l.position < len(l.source); l.position++ {
		c := l.source[l.position]
		if c == '/' && depth == 0 && !l.escapedAt(l.position) {
			return l.flags(l.source[start:l.position])
		}
		if l.source[l.position-1] == '\\' {
			continue
		}
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
	}
	return token{}, &Error{Code: "S0302", Position: l.position}
}

// escapedAt reports whether an odd number of backslashes precedes a position.
func (l *lexer) escapedAt(position int) bool {
	n := 0
	for position-n > 0 && l.source[position-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

func (l *lexer) flags(pattern string) (token, *Error) {
	if pattern == "" {
		return token{}, &Error{Code: "S0301", Position: l.position}
	}
	l.position++
	start := l.position
	for l.position < len(l.source) && (l.source[l.position] == 'i' || l.source[l.position] == 'm') {
		l.position++
	}
	flags := l.source[start:l.position]
	if strings.Count(flags, "i") > 1 || strings.Count(flags, "m") > 1 {
		return token{}, runtimeError("Invalid flags supplied to RegExp constructor '" + flags + "g'")
	}
	re, err := ecma.Compile(units(pattern), strings.Contains(flags, "i"), strings.Contains(flags, "m"))
	if err != nil {
		sorted := []byte("g")
		for _, flag := range []byte("im") {
			if strings.IndexByte(flags, flag) >= 0 {
				sorted = append(sorted, flag)
			}
		}
		return token{}, runtimeError("Invalid regular expression: /" + pattern + "/" + string(sorted) + ": " +
			err.Error())
	}
	return token{kind: regexToken, text: pattern, regex: re, position: l.position}, nil
}
