package template

import (
	"fmt"
	"strings"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/asl/jsonvalue"
)

// Expression is a path or an intrinsic function call that stands for the value of a field, such as ErrorPath.
type Expression struct {
	field string
	path  *jsonpath.Path
	call  *intrinsic.Call
}

// CompileExpression reads the text that stands for the value of this field. The error is a *CompileError.
func CompileExpression(field, text string) (*Expression, error) {
	e := &Expression{field: field}
	var err error
	if strings.HasPrefix(strings.TrimLeft(text, " "), "$") {
		e.path, err = jsonpath.Compile(text)
	} else {
		e.call, err = intrinsic.Compile(text)
	}
	if err != nil {
		return nil, &CompileError{Field: field, Message: notAnExpression(field), Err: err}
	}
	return e, nil
}

func notAnExpression(field string) string {
	return fmt.Sprintf("The value for the field '%s' must be a valid JSONPath or a valid intrinsic function call", field)
}

// Eval evaluates the expression. The error is an *Error.
func (e *Expression) Eval(env intrinsic.Env) (jsonvalue.Value, error) {
	if e.path != nil {
		v, err := env.Lookup(e.path)
		if err != nil {
			return v, &Error{Field: e.field, Path: e.path, Err: err}
		}
		return v, nil
	}
	v, err := e.call.Eval(env)
	if err != nil {
		return v, &Error{Field: e.field, Err: err}
	}
	return v, nil
}

// Paths returns all paths in the expression, in order.
func (e *Expression) Paths() []*jsonpath.Path {
	if e.path != nil {
		return []*jsonpath.Path{e.path}
	}
	return e.call.Paths()
}
