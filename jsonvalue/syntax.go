package jsonvalue

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SyntaxError reports where a text stops being JSON.
type SyntaxError struct {
	// Offset counts bytes from 0; Line and Column count from 1, columns in bytes.
	Offset, Line, Column int
	// Message describes what was found and what would have been accepted, in the wording of Jackson, the parser that
	// AWS uses.
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at line %d, column %d", e.Message, e.Line, e.Column)
}

// Empty is Jackson's message for an empty text.
const Empty = "No content to map due to end-of-input"

// values lists what is accepted where a value is expected.
const values = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"

// longestToken is the maximum length shown of a word that is not a value.
const longestToken = 256

func (p *parser) fail(message string) error {
	at := min(p.i, len(p.s))
	before := p.s[:at]
	line := strings.Count(before, "\n") + 1
	return &SyntaxError{Offset: at, Line: line, Column: at - strings.LastIndexByte(before, '\n'), Message: message}
}

// unexpected returns the error for the character at the cursor, or for the end of the text.
func (p *parser) unexpected(expected string) error {
	if p.i >= len(p.s) {
		return p.fail("Unexpected end-of-input: " + expected)
	}
	return p.fail("Unexpected character (" + described(p.rune()) + "): " + expected)
}

// unclosed returns the error for a text that ends inside an array or object. within is true after a separator, when a
// member or element must follow.
func (p *parser) unclosed(kind string, start int, within bool) error {
	if within {
		return p.fail("Unexpected end-of-input within/between " + kind + " entries")
	}
	return p.fail("Unexpected end-of-input: expected close marker for " + kind + " (start marker at " + p.place(start) +
		")")
}

// token returns the error for a word that is not a value.
func (p *parser) token(start int) error {
	end := start
	for end < len(p.s) {
		r, size := utf8.DecodeRuneInString(p.s[end:])
		if !wordPart(r) {
			break
		}
		end += size
	}
	word := p.s[start:end]
	if utf8.RuneCountInString(word) > longestToken {
		word = string([]rune(word)[:longestToken]) + "..."
	}
	p.i = start
	return p.fail("Unrecognized token '" + word + "': was expecting " + values)
}

// badNumber returns the error for the character at the cursor, where a number must continue.
func (p *parser) badNumber(why string) error {
	if p.i >= len(p.s) {
		return p.fail("Unexpected end-of-input in a Number value: " + why)
	}
	return p.fail("Unexpected character (" + described(p.rune()) + ") in numeric value: " + why)
}

func (p *parser) unescaped() error {
	return p.fail("Illegal unquoted character (" + described(p.rune()) +
		"): has to be escaped using backslash to be included in string value")
}

// badHex returns the error for an escape at the cursor without four hexadecimal digits.
func (p *parser) badHex() error {
	for p.i += 2; p.i < len(p.s) && strings.IndexByte("0123456789abcdefABCDEF", p.s[p.i]) >= 0; p.i++ {
	}
	if p.i >= len(p.s) {
		return p.fail("Unexpected end-of-input in character escape sequence")
	}
	return p.unexpected("expected a hex-digit for character escape sequence")
}

// place formats a position as messages show it.
func (p *parser) place(at int) string {
	before := p.s[:at]
	return fmt.Sprintf("[line: %d, column: %d]", strings.Count(before, "\n")+1, at-strings.LastIndexByte(before, '\n'))
}

// rune returns the character at the cursor, or 0 at the end of the text.
func (p *parser) rune() rune {
	if p.i >= len(p.s) {
		return 0
	}
	return firstRune(p.s[p.i:])
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// described formats a character with its code.
func described(r rune) string {
	switch {
	case unicode.IsControl(r):
		return fmt.Sprintf("(CTRL-CHAR, code %d)", r)
	case r > 255:
		return fmt.Sprintf("'%c' (code %d / 0x%x)", r, r, r)
	default:
		return fmt.Sprintf("'%c' (code %d)", r, r)
	}
}

// wordStart and wordPart report whether a character may begin or continue a Java identifier. They are only as exact
// as the messages need.
func wordStart(r rune) bool { return unicode.IsLetter(r) || r == '_' || r == '$' }

func wordPart(r rune) bool { return wordStart(r) || unicode.IsDigit(r) }

// longestSource is the maximum length of text that Jackson shows.
const longestSource = 500

// TwoLines returns the complete message that Jackson writes: Message, and a second line that shows the parsed text
// and the position after the unreadable part.
func (e *SyntaxError) TwoLines(text string) string {
	shown, rest := text, 0
	if r := []rune(text); len(r) > longestSource {
		shown, rest = string(r[:longestSource]), len(r)-longestSource
	}
	source := `(String)"` + shown + `"`
	if rest > 0 {
		source += fmt.Sprintf("[truncated %d chars]", rest)
	}
	return fmt.Sprintf("%s\n at [Source: %s; line: %d, column: %d]", e.Message, source, e.Line, e.behind(text))
}

// behind returns the column after the character or word that the error refers to.
func (e *SyntaxError) behind(text string) int {
	start := strings.LastIndexByte(text[:e.Offset], '\n') + 1
	column := utf8.RuneCountInString(text[start:e.Offset]) + 1
	if e.Offset >= len(text) {
		return column
	}
	n := 0
	for _, r := range text[e.Offset:] {
		if !wordPart(r) {
			break
		}
		n++
	}
	if strings.HasPrefix(e.Message, "Unrecognized token") {
		return column + n
	}
	return column + 1
}
