package template

import (
	"errors"
	"fmt"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// pathMember is the value of a dynamic key that is a path.
type pathMember struct {
	field string
	path  *jsonpath.Path
}

func (m *pathMember) eval(env Env) (jsonvalue.Value, error) {
	v, err := env.Lookup(m.path)
	if err != nil {
		return jsonvalue.Value{}, lookupError(m.field, "", m.path, err, err)
	}
	return v, nil
}

func (m *pathMember) paths(visit func(*jsonpath.Path)) { visit(m.path) }

// callMember is the value of a dynamic key that is an intrinsic call.
type callMember struct {
	field string
	call  *intrinsic.Call
}

func (m *callMember) eval(env Env) (jsonvalue.Value, error) {
	v, err := m.call.Eval(env)
	if err == nil {
		return v, nil
	}
	var argument *intrinsic.ArgumentError
	if errors.As(err, &argument) {
		return jsonvalue.Value{}, lookupError(m.field, m.call.Text(), argument.Path, argument.Err, err)
	}
	var failed *intrinsic.Error
	if errors.As(err, &failed) {
		return jsonvalue.Value{}, &CallError{Field: m.field, Call: m.call.Text(), Err: failed}
	}
	return jsonvalue.Value{}, inField(m.field, err)
}

func (m *callMember) paths(visit func(*jsonpath.Path)) {
	for _, p := range m.call.Paths() {
		visit(p)
	}
}

// lookupError converts the error of a lookup to the field's error. whole is the error of the expression around the
// lookup.
func lookupError(field, call string, path *jsonpath.Path, lookup, whole error) error {
	var missing *jsonpath.NotFoundError
	if errors.As(lookup, &missing) {
		return &PathError{Field: field, Path: path.Text(), Call: call, Root: path.Root(), Err: missing}
	}
	return inField(field, whole)
}

func inField(field string, err error) error { return fmt.Errorf("the field '%s': %w", field, err) }
