package jsonpath

import (
	"strings"

	"stepback/jsonvalue"
)

// wildcardStep selects all members of an object or all elements of an array: .* or [*]. On any other value it selects
// nothing.
type wildcardStep struct{}

func (*wildcardStep) definite(bool) bool { return false }

func (*wildcardStep) scans(*evaluation, int, jsonvalue.Value) (bool, error) { return true, nil }

func (*wildcardStep) apply(e *evaluation, i int, v jsonvalue.Value) error {
	for _, child := range v.Elements() {
		if err := e.from(i+1, child); err != nil {
			return err
		}
	}
	return nil
}

func (*wildcardStep) appendTo(b *strings.Builder) { b.WriteString("[*]") }
