package partiql

import (
	"strings"

	"stepback/local/services/dynamodb/item"
)

type tokenKind uint8

const (
	endToken    tokenKind = iota
	wordToken             // a keyword or an unquoted name
	nameToken             // "a name"
	textToken             // 'a text'
	numberToken           // 1.5e3
	signToken
)

type token struct {
	kind tokenKind
	text string
}

// signs lists the signs that have more than one character.
var signs = []string{"<<", ">>", "<>", "<=", ">=", "!=", "||"}

func wrong(reason string) error {
	return item.Invalid("Statement wasn't well formed, can't be processed: " + reason)
}

// comment returns the end of a comment at the position at; ok is false if there is none.
func comment(text string, at int) (end int, ok bool) {
	for _, c := range []struct{ opened, closed string }{{"--", "\n"}, {"/*", "*/"}} {
		if !strings.HasPrefix(text[at:], c.opened) {
			continue
		}
		n := strings.Index(text[at+len(c.opened):], c.closed)
		switch {
		case n >= 0:
			return at + len(c.opened) + n + len(c.closed), true
		case c.opened == "--": // the last line
			return len(text), true
		}
	}
	return at, false
}

// tokens splits a statement into tokens.
func tokens(text string) (all []token, err error) {
	for at := 0; at < len(text); {
		if end, ok := comment(text, at); ok {
			at = end
			continue
		}
		c := text[at]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			at++
		case c == '\'' || c == '"':
			inner, after, ok := quoted(text, at)
			if !ok {
				return nil, wrong("Unexpected end of a quoted text")
			}
			kind := textToken
			if c == '"' {
				kind = nameToken
			}
			all, at = append(all, token{kind, inner}), after
		case digit(c) || c == '.' && at+1 < len(text) && digit(text[at+1]):
			end := at
			for end < len(text) && (wordByte(text[end]) || text[end] == '.' ||
				(text[end] == '+' || text[end] == '-') && (text[end-1] == 'e' || text[end-1] == 'E')) {
				end++
			}
			all, at = append(all, token{numberToken, text[at:end]}), end
		case wordByte(c):
			end := at
			for end < len(text) && wordByte(text[end]) {
				end++
			}
			all, at = append(all, token{wordToken, text[at:end]}), end
		default:
			sign := text[at : at+1]
			for _, s := range signs {
				if strings.HasPrefix(text[at:], s) {
					sign = s
				}
			}
			all, at = append(all, token{signToken, sign}), at+len(sign)
		}
	}
	return append(all, token{}), nil
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func wordByte(c byte) bool {
	return digit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

// quoted parses a text in quotes, in which a doubled quote represents one quote.
func quoted(text string, at int) (inner string, after int, ok bool) {
	quote := text[at]
	var b strings.Builder
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] != quote:
			b.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == quote:
			b.WriteByte(quote)
			i++
		default:
			return b.String(), i + 1, true
		}
	}
	return "", 0, false
}
