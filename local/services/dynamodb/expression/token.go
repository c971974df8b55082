package expression

import (
	"strconv"

	"stepback/local/services/dynamodb/item"
)

// MaxBytes is the maximum length of an expression.
const MaxBytes = 4096

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a name or a keyword
	tokenName             // #name
	tokenValue            // :value
	tokenNumber           // digits
	tokenSign             // = <> < <= > >= + - , . ( ) [ ]
	tokenBad              // a character that no expression may contain
)

type token struct {
	kind     tokenKind
	text     string
	from, to int
}

func wordByte(c byte) bool { return letter(c) || digit(c) || c == '_' }
func letter(c byte) bool   { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func digit(c byte) bool    { return '0' <= c && c <= '9' }
func blank(c byte) bool    { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// tokens splits an expression into tokens; the last one is the end.
func tokens(text string) []token {
	found := make([]token, 0, 2+len(text)/3)
	for i := 0; ; {
		for i < len(text) && blank(text[i]) {
			i++
		}
		if i == len(text) {
			return append(found, token{tokenEnd, "<EOF>", i, i})
		}
		t := token{from: i}
		i++
		while := func(in func(byte) bool) {
			for i < len(text) && in(text[i]) {
				i++
			}
		}
		switch c := text[t.from]; {
		case letter(c):
			t.kind = tokenWord
			while(wordByte)
		case digit(c):
			t.kind = tokenNumber
			while(digit)
		case c == '#' || c == ':':
			t.kind = tokenName
			if c == ':' {
				t.kind = tokenValue
			}
			while(wordByte)
			if i == t.from+1 {
				t.kind = tokenBad
			}
		case c == '<' || c == '>':
			t.kind = tokenSign
			if i < len(text) && (text[i] == '=' || c == '<' && text[i] == '>') {
				i++
			}
		case c == '=' || c == '+' || c == '-' || c == ',' || c == '.' || c == '(' || c == ')' || c == '[' || c == ']':
			t.kind = tokenSign
		default:
			t.kind = tokenBad
			while(func(c byte) bool { return c >= 0x80 }) // a multi-byte character is kept whole
		}
		t.text, t.to = text[t.from:i], i
		found = append(found, t)
	}
}

// parser parses one expression. It records errors other than syntax errors, and afterwards reports the one that
// DynamoDB checks first.
type parser struct {
	text   string
	tokens []token
	at     int
	params *Parameters
	noted  [mistakes]item.Invalid
	// judging is true if the expression is a condition. In conditions, the error in the first faulty part is
	// reported.
	judging   bool
	operators int // number of operators and functions
}

// mostOperators is the maximum number of operators and functions in an expression.
const mostOperators = 300

// syntaxError is the panic value that ends parsing; parse recovers it.
type syntaxError struct{ message item.Invalid }

// parse runs a grammar on an expression, and prefixes errors with the kind of expression.
func parse(kind, text string, params *Parameters, grammar func(*parser)) (err error) {
	prefix := item.Invalid("Invalid " + kind + ": ")
	switch {
	case text == "":
		return prefix + "The expression can not be empty;"
	case len(text) > MaxBytes:
		return prefix + "Expression size has exceeded the maximum allowed size; expression size: " +
			item.Invalid(strconv.Itoa(len(text)))
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case syntaxError:
			err = prefix + e.message
		default:
			panic(e)
		}
	}()
	p := &parser{text: text, tokens: tokens(text), params: params}
	grammar(p)
	if p.peek().kind != tokenEnd {
		p.fail()
	}
	if p.operators > mostOperators {
		return prefix + "The expression contains too many operators; operator count: " +
			item.Invalid(strconv.Itoa(mostOperators+1))
	}
	for _, message := range p.noted {
		if message != "" {
			return prefix + message
		}
	}
	return nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

// accept consumes a sign if it is next.
func (p *parser) accept(sign string) bool {
	t := p.peek()
	if t.kind != tokenSign || t.text != sign {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(sign string) {
	if !p.accept(sign) {
		p.fail()
	}
}

// keyword consumes a keyword if it is next, in any case.
func (p *parser) keyword(word string) bool {
	t := p.peek()
	if t.kind != tokenWord || !equalFold(t.text, word) {
		return false
	}
	p.at++
	return true
}

func equalFold(text, word string) bool {
	if len(text) != len(word) {
		return false
	}
	for i := range len(text) {
		if text[i]&^0x20 != word[i] && text[i] != word[i] {
			return false
		}
	}
	return true
}

// fail reports a syntax error at the next token. The message quotes the text from the previous token to the
// following one.
func (p *parser) fail() {
	t := p.peek()
	from, to := t.from, t.to
	if p.at > 0 {
		from = p.tokens[p.at-1].from
	}
	if p.at+1 < len(p.tokens) {
		to = p.tokens[p.at+1].to
	}
	panic(syntaxError{item.Invalid("Syntax error; token: \"" + t.text + "\", near: \"" + p.text[from:to] + "\"")})
}
