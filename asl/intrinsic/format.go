package intrinsic

import (
	"fmt"
	"strings"

	"stepback/internal/budgets"
	"stepback/jsonvalue"
)

const placeholder = "{}"

// prepareFormat splits a literal template once, in advance. Only in a literal can braces be escaped.
func prepareFormat(arguments []argument) apply {
	template, ok := arguments[0].(literalArgument)
	if !ok || template.value.Kind() != jsonvalue.String {
		return nil
	}
	pieces := splitEscaped(template.raw)
	return func(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) { return join(pieces, values[1:]) }
}

// splitEscaped splits the quoted text of a literal at its placeholders and resolves the escapes of the pieces.
func splitEscaped(raw string) []string {
	var pieces []string
	start := 0
	for i := 0; i < len(raw); {
		switch {
		case raw[i] == '\\':
			i += 2
		case strings.HasPrefix(raw[i:], placeholder):
			pieces = append(pieces, unescape(raw[start:i]))
			i += len(placeholder)
			start = i
		default:
			i++
		}
	}
	return append(pieces, unescape(raw[start:]))
}

// format implements States.Format with a template that is not a literal.
func format(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	if values[0].Kind() != jsonvalue.String {
		return jsonvalue.Value{}, wrongKind("the template", values[0], jsonvalue.String)
	}
	return join(strings.Split(values[0].Text(), placeholder), values[1:])
}

// join joins the pieces, with one of the values between each piece and the next.
func join(pieces []string, values []jsonvalue.Value) (jsonvalue.Value, error) {
	if len(pieces)-1 != len(values) {
		return jsonvalue.Value{}, fmt.Errorf("the template has %d placeholders {} for %d values", len(pieces)-1,
			len(values))
	}
	var out []byte
	for i, v := range values {
		out = append(out, pieces[i]...)
		out = appendShown(out, v)
		if len(out) > maxText {
			return jsonvalue.Value{}, errLong
		}
	}
	return jsonvalue.OfString(string(append(out, pieces[len(values)]...))), nil
}

// maxText is the maximum length, in bytes, of a text that a function builds from values. It is far above the
// payload limit, which is not checked here. Without it, a template that repeats a large value, or a path that
// selects parts of parts, could exhaust the memory.
var maxText = budgets.IntrinsicText.Value

var errLong = fmt.Errorf("the result is longer than %d bytes", maxText)

// appendShown appends a value in the form of Java's toString: strings without quotes, objects as {a=1, b=[]}. The
// specification forbids objects and arrays here, but recordings of the service show this form. It stops early if
// dst gets too long.
func appendShown(dst []byte, v jsonvalue.Value) []byte {
	if len(dst) > maxText {
		return dst
	}
	switch v.Kind() {
	case jsonvalue.String:
		return append(dst, v.Text()...)
	case jsonvalue.Array:
		dst = append(dst, '[')
		for i, e := range v.Elements() {
			dst = appendShown(separated(dst, i), e)
		}
		return append(dst, ']')
	case jsonvalue.Object:
		dst = append(dst, '{')
		for i, key := range v.Keys() {
			dst = append(append(separated(dst, i), key...), '=')
			dst = appendShown(dst, v.At(i))
		}
		return append(dst, '}')
	default:
		return v.AppendJSON(dst)
	}
}

func separated(dst []byte, i int) []byte {
	if i == 0 {
		return dst
	}
	return append(dst, ", "...)
}
