package jsonpath

import (
	"errors"
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// filterStep keeps the items that satisfy a condition: [?(@.price < 10)]. On an array it tests the elements. On an
// object it tests the object itself.
type filterStep struct{ condition condition }

func (*filterStep) definite(bool) bool { return false }

func (s *filterStep) scans(e *evaluation, _ int, v jsonvalue.Value) (bool, error) {
	return s.accepts(e, v)
}

func (s *filterStep) apply(e *evaluation, i int, v jsonvalue.Value) error {
	switch v.Kind() {
	case jsonvalue.Object:
		ok, err := s.accepts(e, v)
		if err != nil || !ok {
			return err
		}
		return e.from(i+1, v)
	case jsonvalue.Array:
		return s.elements(e, i, v)
	default:
	}
	switch {
	case !e.exact(i):
		return nil
	case e.quiet:
		return errRejected
	}
	return &EvaluationError{Message: fmt.Sprintf("Filter: %s can not be applied to primitives. Current context is: %s",
		e.steps.textFrom(i), v.AppendJava(nil))}
}

func (s *filterStep) elements(e *evaluation, i int, v jsonvalue.Value) error {
	for _, element := range v.Elements() {
		ok, err := s.accepts(e, element)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := e.from(i+1, element); err != nil {
			return err
		}
	}
	return nil
}

func (s *filterStep) accepts(e *evaluation, item jsonvalue.Value) (bool, error) {
	ok, err := s.condition.test(e, item)
	if err != nil && (errors.Is(err, errRejected) || isAbsent(err)) {
		return false, nil
	}
	return ok, err
}

func (*filterStep) appendTo(b *strings.Builder) { b.WriteString("[?]") }
