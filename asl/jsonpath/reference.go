package jsonpath

import (
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// Reference is a compiled reference path: a path from the input that identifies a single node, as ResultPath
// requires.
type Reference struct {
	text  string
	steps []plainStep
}

// CompileReference compiles a reference path: $ followed by .name, ['name'] and [n] with n from 0. The error is a
// *SyntaxError.
func CompileReference(text string) (*Reference, error) {
	p, err := Compile(text)
	if err != nil {
		return nil, err
	}
	if p.root != Input || !p.IsReference() {
		return nil, &SyntaxError{Path: text, Column: 1,
			Message: "A reference path names a single place: $ followed by .name, ['name'] and [index] only"}
	}
	return &Reference{text: strings.Trim(text, " "), steps: p.steps.plain}, nil
}

// Text returns the path as it was written.
func (r *Reference) Text() string { return r.text }

// Set returns a copy of root with value at the reference's position, by the rules of ResultPath. The reference $
// replaces everything. Otherwise root must be an object, missing objects on the way are created, and array elements
// must exist already. The error is a *ReferenceError.
func (r *Reference) Set(root, value jsonvalue.Value) (jsonvalue.Value, error) {
	if len(r.steps) == 0 {
		return value, nil
	}
	if root.Kind() != jsonvalue.Object {
		return jsonvalue.Value{}, r.fail(root, "it is not an object but "+root.Kind().WithArticle())
	}
	changed, reason := place(root, r.steps, value)
	if reason != "" {
		return jsonvalue.Value{}, r.fail(root, reason)
	}
	return changed, nil
}

// place returns v with value at the position of the steps, or the reason why that is impossible.
func place(v jsonvalue.Value, steps []plainStep, value jsonvalue.Value) (changed jsonvalue.Value, reason string) {
	if len(steps) == 0 {
		return value, ""
	}
	s := &steps[0]
	if !s.isKey {
		return placeAt(v, s.index, steps[1:], value)
	}
	if v.Kind() != jsonvalue.Object {
		return v, fmt.Sprintf("the member '%s' cannot be set in %s", s.name, v.Kind().WithArticle())
	}
	child, ok := v.Get(s.name)
	if !ok {
		child = jsonvalue.NewObject(1).Value()
	}
	if child, reason = place(child, steps[1:], value); reason != "" {
		return v, reason
	}
	return v.With(s.name, child), ""
}

func placeAt(v jsonvalue.Value, index int, rest []plainStep, value jsonvalue.Value) (changed jsonvalue.Value,
	reason string) {
	if v.Kind() != jsonvalue.Array {
		return v, fmt.Sprintf("the element [%d] cannot be set in %s", index, v.Kind().WithArticle())
	}
	if index >= v.Len() {
		return v, fmt.Sprintf("the index %d is outside an array of %d elements", index, v.Len())
	}
	child, reason := place(v.At(index), rest, value)
	if reason != "" {
		return v, reason
	}
	return v.WithIndex(index, child), ""
}

func (r *Reference) fail(root jsonvalue.Value, reason string) error {
	return &ReferenceError{Path: r.text, Input: root, Reason: reason}
}

// ReferenceError reports that a reference path cannot be applied to a value. Step Functions calls it
// States.ResultPathMatchFailure.
type ReferenceError struct {
	Path   string
	Input  jsonvalue.Value // the whole value
	Reason string          // the obstacle
}

// Error implements error and returns the real service's text. Reason has the details.
func (e *ReferenceError) Error() string {
	return fmt.Sprintf("Unable to apply ReferencePath %s to input %s", e.Path, e.Input.JSON())
}
