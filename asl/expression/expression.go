// Package expression compiles the fields of JSONata states: JSON values in which every string of the form {% … %} is an
// expression. Its errors are worded as AWS Step Functions words them, with the field and the expression. It knows
// nothing of states and keeps no data: what an expression sees is the business of the Env it is evaluated with.
package expression

import (
	"strings"

	"stepback/asl/jsonata"
	"stepback/jsonvalue"
)

// Opened reports whether a string starts as an expression does; what follows must then end with %}.
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

// Compile compiles a field of a state. The name is the one that errors show, such as Output or ItemReader/Arguments.
// The error is a *jsonata.Error that is wrapped with the field it is in.
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

// Static returns the value when there is no expression in it.
func (v *Value) Static() (jsonvalue.Value, bool) {
	l, ok := v.root.(literal)
	return l.value, ok
}

// Unexpected is the error of a field whose value is of the wrong type. Types are named as JSONata's $type names them.
func (v *Value) Unexpected(expected string, got jsonvalue.Value) *Error {
	return &Error{Field: v.field, Expression: v.text(), Problem: "returned an unexpected result type. Expected '" +
		expected +
		"', but was '" + got.Kind().String() + "' for value: " + got.JSON()}
}

// Member returns the member of a field that is an object with expressions inside, as a field of its own; nil when there
// is none.
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

// text is the expression that the whole field is; of a field with expressions inside, its name.
func (v *Value) text() string {
	if e, ok := v.root.(*expression); ok {
		return e.text
	}
	return v.field
}
