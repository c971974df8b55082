package eventpattern

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"stepback/jsonvalue"
)

// kind is the kind of a token.
type kind uint8

const (
	end kind = iota
	startObject
	endObject
	startArray
	endArray
	fieldName
	textToken
	numberToken
	trueToken
	falseToken
	nullToken
)

// reader reads the tokens of a text that is known to be valid JSON. It also tracks the position that Jackson would
// report: Jackson reads a text only when it is requested, and reads the start of a field's value together with the
// field's name.
type reader struct {
	source string
	pos    int // after the token, or after the name of a field
	token  kind
	start  int // of the token
	at     int // Jackson's position
}

// next advances to the next token.
func (r *reader) next() kind {
	r.blanks(",:")
	r.start = r.pos
	r.token, r.pos, r.at = r.scan(r.pos)
	if r.token != textToken {
		return r.token
	}
	if value := skipBlanks(r.source, r.pos, ""); value < len(r.source) && r.source[value] == ':' {
		r.token = fieldName
		_, _, r.at = r.scan(skipBlanks(r.source, value, ":"))
	}
	return r.token
}

func (r *reader) blanks(more string) { r.pos = skipBlanks(r.source, r.pos, more) }

func skipBlanks(source string, pos int, more string) int {
	for pos < len(source) && (strings.IndexByte(" \t\r\n", source[pos]) >= 0 || strings.IndexByte(more, source[pos]) >= 0) {
		pos++
	}
	return pos
}

// scan finds the token at a position. It returns its kind, its end, and Jackson's position after reading it.
func (r *reader) scan(pos int) (token kind, behind, at int) {
	if pos >= len(r.source) {
		return end, pos, pos
	}
	switch c := r.source[pos]; c {
	case '{':
		return startObject, pos + 1, pos + 1
	case '}':
		return endObject, pos + 1, pos + 1
	case '[':
		return startArray, pos + 1, pos + 1
	case ']':
		return endArray, pos + 1, pos + 1
	case 't':
		return trueToken, pos + len("true"), pos + len("true")
	case 'f':
		return falseToken, pos + len("false"), pos + len("false")
	case 'n':
		return nullToken, pos + len("null"), pos + len("null")
	case '"':
		behind = pos + 1
		for r.source[behind] != '"' {
			if r.source[behind] == '\\' {
				behind++
			}
			behind++
		}
		return textToken, behind + 1, pos + 1
	default:
		behind = pos
		for behind < len(r.source) && strings.IndexByte("+-.eE0123456789", r.source[behind]) >= 0 {
			behind++
		}
		return numberToken, behind, behind
	}
}

// text returns the content of a text or a name, or the literal of another token.
func (r *reader) text() string {
	literal := r.source[r.start:r.pos]
	switch r.token {
	case textToken:
		r.at = r.pos
	case fieldName:
	default:
		return literal
	}
	if inner := literal[1 : len(literal)-1]; strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	v, err := jsonvalue.Parse(literal)
	if err != nil {
		return literal // cannot happen: the whole text has been parsed before
	}
	return v.Text()
}

// place returns the line and the column of an offset, counted from 1 and in UTF-16 units.
func (r *reader) place(offset int) (line, column int) {
	before := r.source[:offset]
	return strings.Count(before, "\n") + 1, jsonvalue.LenUTF16(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// fail returns the error at the reader's position.
func (r *reader) fail(format string, args ...any) *Error {
	return r.failTimes(1, format, args...)
}

// failTwice returns the error for a value in a list, for which AWS reports the position twice.
func (r *reader) failTwice(format string, args ...any) *Error {
	return r.failTimes(2, format, args...)
}

func (r *reader) failTimes(times int, format string, args ...any) *Error {
	e := &Error{Brief: fmt.Sprintf(format, args...)}
	e.Line, e.Column = r.place(r.at)
	e.Reason = e.Brief + strings.Repeat(fmt.Sprintf("\n at [Source: %s; line: %d, column: %d]", shown(r.source), e.Line,
		e.Column), times)
	return e
}

// shown returns a text as Jackson displays it.
func shown(text string) string {
	const longest = 500
	rest := utf8.RuneCountInString(text) - longest
	if rest <= 0 {
		return `(String)"` + text + `"`
	}
	return fmt.Sprintf(`(String)"%s"[truncated %d chars]`, string([]rune(text)[:longest]), rest)
}
