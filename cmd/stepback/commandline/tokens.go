package commandline

import (
	"strings"
)

// tokenKind is the kind of a token of the line.
type tokenKind int

const (
	word       tokenKind = iota // as it was typed
	endOfLine                   // no more tokens
	longFlag                    // the name after two dashes
	flagValue                   // the text after the equals sign
	shortFlag                   // the letter after a dash
	shortTail                   // the text after that letter
	positional                  // never a flag, however it begins
)

func (k tokenKind) String() string {
	return [...]string{
		"untyped", "<EOL>", "long flag", "flag value", "short flag", "short flag remainder", "positional argument",
	}[k]
}

type token struct {
	text string
	kind tokenKind
}

func (t token) String() string {
	switch t.kind {
	case longFlag:
		return "--" + t.text
	case shortFlag:
		return "-" + t.text
	case endOfLine:
		return "EOL"
	default:
		return t.text
	}
}

// looks returns the token's kind; a word is classified by its first letters.
func (t token) looks() tokenKind {
	switch {
	case t.kind != word:
		return t.kind
	case strings.HasPrefix(t.text, "--"):
		return longFlag
	case t.text == "-":
		return positional
	case strings.HasPrefix(t.text, "-"):
		return shortFlag
	default:
		return word
	}
}

// isValue reports whether the token may be the value of a flag or argument.
func (t token) isValue() bool {
	switch t.looks() {
	case flagValue, shortTail, positional, word:
		return true
	default:
		return false
	}
}

// scanner is the unread part of the line.
type scanner struct {
	tokens []token
}

func scan(words []string, kind tokenKind) *scanner {
	s := &scanner{tokens: make([]token, 0, len(words))}
	for _, w := range words {
		s.tokens = append(s.tokens, token{w, kind})
	}
	return s
}

func (s *scanner) peek() token {
	if len(s.tokens) == 0 {
		return token{kind: endOfLine}
	}
	return s.tokens[0]
}

func (s *scanner) pop() token {
	t := s.peek()
	if len(s.tokens) > 0 {
		s.tokens = s.tokens[1:]
	}
	return t
}

func (s *scanner) push(text string, kind tokenKind) {
	s.tokens = append([]token{{text, kind}}, s.tokens...)
}

// popValue removes a value from the line.
func (s *scanner) popValue(of string) (string, error) {
	t := s.pop()
	if !t.isValue() {
		return "", &expectedError{of: of, got: t}
	}
	return t.text, nil
}

// end turns all remaining tokens into arguments.
func (s *scanner) end() {
	for i := range s.tokens {
		s.tokens[i] = token{s.tokens[i].String(), positional}
	}
}
