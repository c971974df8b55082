package jsonpath

import (
	"strings"

	"stepback/jsonvalue"
)

// scanStep is recursive descent (..). It applies the next step to the present node and to every object and array
// below it, parents first.
type scanStep struct{}

func (*scanStep) definite(bool) bool { return false }

func (*scanStep) scans(*evaluation, int, jsonvalue.Value) (bool, error) { return false, nil }

// apply applies the step that follows to v and the nodes below it. If no step follows, as in the path before the
// function of "$..concat()", it selects nothing.
func (*scanStep) apply(e *evaluation, i int, v jsonvalue.Value) error {
	if e.leaf(i) {
		return nil
	}
	return scan(e, i+1, e.steps.list[i+1], v)
}

func scan(e *evaluation, i int, target step, v jsonvalue.Value) error {
	if v.Kind() != jsonvalue.Object && v.Kind() != jsonvalue.Array {
		return nil
	}
	if err := e.budget.spend(1); err != nil {
		return err
	}
	ok, err := target.scans(e, i, v)
	if err != nil {
		return err
	}
	if ok {
		if err := target.apply(e, i, v); err != nil {
			return err
		}
	}
	for _, child := range v.Elements() {
		if err := scan(e, i, target, child); err != nil {
			return err
		}
	}
	return nil
}

func (*scanStep) appendTo(b *strings.Builder) { b.WriteString("..") }
