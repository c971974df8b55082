package jsonata

import (
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// InternalError is the code of errors that the service calls internal. The service shows only an ID for them, which
// is the Message.
const InternalError = "internal"

// Error reports why an expression could not be compiled or evaluated.
type Error struct {
	// Code is the reference implementation's error code, such as S0201 or T2001. It is empty for errors of the
	// JavaScript runtime that the reference implementation passes on, such as an invalid regular expression.
	Code string
	// Position counts UTF-16 code units from the start of the expression; 0 if the error has no position.
	Position int
	// Token is the operator, function or symbol concerned; empty if there is none.
	Token string
	// Message is the reference implementation's text, without the code.
	Message string

	// The values that replace the placeholders in a message.
	value, value2, token, exponent value
	index                          int
	kind, function                 string
	located                        bool
}

// Error implements error. It returns only the message; the code is in a separate field.
func (e *Error) Error() string { return e.Message }

// raise returns an error with the given code that concerns value v.
func raise(code string, v value) *Error { return &Error{Code: code, value: v} }

// runtimeError returns an error of the JavaScript runtime: no code, only a message.
func runtimeError(message string) *Error { return &Error{Message: message} }

func (e *Error) setToken(token string) {
	e.token = token
}

// finish fills in the message and converts the position from bytes of the source to UTF-16 code units.
func (e *Error) finish(source string) *Error {
	if e.located {
		return e
	}
	e.located = true
	e.Position = jsonvalue.LenUTF16(source[:min(max(e.Position, 0), len(source))])
	if e.token != nil {
		e.Token = shown(e.token)
	}
	e.describe()
	return e
}

// shown returns a token as text.
func shown(token value) string {
	if s, ok := token.(string); ok {
		return s
	}
	return stringify(token)
}

// describe fills in the message for the code. In the message it replaces {{{name}}} by a value as text, and
// {{name}} by the value's JSON text.
func (e *Error) describe() {
	template, ok := messages[e.Code]
	if !ok {
		return
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{{")
		b.WriteString(before)
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}}")
		if raw, plain := strings.CutPrefix(name, "{"); plain {
			b.WriteString(e.plainDetail(raw))
			after = strings.TrimPrefix(after, "}")
		} else {
			b.WriteString(e.detail(name))
		}
		template = after
	}
	e.Message = b.String()
}

func (e *Error) plainDetail(name string) string {
	switch name {
	case "message":
		return e.Message
	case "functionName":
		return e.function
	default:
		return shown(e.token)
	}
}

func (e *Error) detail(name string) string {
	switch name {
	case "token":
		return stringify(e.token)
	case "value":
		return stringify(e.value)
	case "value2":
		return stringify(e.value2)
	case "exp":
		return stringify(e.exponent)
	case "index":
		return strconv.Itoa(e.index)
	default: // type
		if e.kind == "" {
			return "undefined"
		}
		return stringify(e.kind)
	}
}

// stringify implements JSON.stringify without options.
func stringify(v value) string {
	if n, ok := v.(*native); ok {
		return `{"_jsonata_function":true,"signature":{"definition":` + stringify(n.signature.definition) + `}}`
	}
	if v == nil || isFunction(v) {
		return "undefined"
	}
	w := stringifier{budget: &budget{steps: mostShown, depth: mostShown, memory: mostShown * bytesPerStep}}
	if err := w.write(v, 0); err != nil {
		return string(w.out) + "…"
	}
	return string(w.out)
}

// mostShown is the maximum number of elements of a value that a message shows. A text of 16 bytes counts as one.
const mostShown = 10_000
