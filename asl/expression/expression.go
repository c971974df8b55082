// Package expression compiles the fields of JSONata states: JSON values in which every string of the form {% … %} is
// an expression. Its errors have AWS Step Functions' wording, with the field and the expression. The package does not
// know about states and keeps no data: the Env provides everything that an expression can read.
package expression

import (
	"strings"

	"stepback/asl/jsonata"
	"stepback/jsonvalue"
)

// Opened reports whether s starts like an expression. If so, it must end with %}.
func Opened(s string) bool { return strings.HasPrefix(s, "{%") }

// Body returns the text between {% and %}; ok is false for a string that is not an expression.
func Body(s string) (body string, ok bool) {
	if len(s) < len("{%%}") || !Opened(s) || !strings.HasSuffix(s, "%}") {
		return "", false
	}
	return s[2 : len(s)-2], true
}

// Value is a compiled field, safe for concurrent use.
type Value struct {
	field string
	root  node
}

// Compile compiles a field of a state. field is the name shown in errors, such as Output or ItemReader/Arguments. The
// error is a *jsonata.Error, wrapped with the field it occurred in.
func Compile(field string, v jsonvalue.Value) (*Value, error) {
	root, err := compile(field, v)
	if err != nil {
		return nil, err
	}
	return &Value{field, root}, nil
}

// Field returns the field's name.
func (v *Value) Field() string { return v.field }

// Eval evaluates every expression and returns the value with their results. The error is an *Error.
func (v *Value) Eval(env jsonata.Env) (jsonvalue.Value, error) { return v.root.eval(env) }

// Static returns the value if it contains no expression.
func (v *Value) Static() (jsonvalue.Value, bool) {
	l, ok := v.root.(literal)
	return l.value, ok
}

// Unexpected returns the error for a field whose value has the wrong type. Types have the names that JSONata's $type
// uses.
func (v *Value) Unexpected(expected string, got jsonvalue.Value) *Error {
	return &Error{Field: v.field, Expression: v.text(), Problem: "returned an unexpected result type. Expected '" +
		expected +
		"', but was '" + got.Kind().String() + "' for value: " + got.JSON()}
}

// Member returns a member of a field as a separate field. The field must be an object that contains expressions.
// Member returns nil if the member does not exist.
func (v *Value) Member(key string) *Value {
	o, ok := v.root.(*object)
	if !ok {
		return nil
	}
	for i, k := range o.keys {
		if k == key {
			return &Value{v.field + "/" + key, o.members[i]}
		}
	}
	return nil
}

// text returns the expression if the whole field is one; otherwise the field's name.
func (v *Value) text() string {
	if e, ok := v.root.(*expression); ok {
		return e.text
	}
	return v.field
}
