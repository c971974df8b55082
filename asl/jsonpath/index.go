package jsonpath

import (
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// indexStep selects elements of an array: [0], [-1] (from the end) or [0,2]. An index outside the array selects
// nothing.
type indexStep struct{ indexes []int }

func (s *indexStep) definite(bool) bool { return len(s.indexes) == 1 }

func (s *indexStep) scans(_ *evaluation, _ int, v jsonvalue.Value) (bool, error) {
	return v.Kind() == jsonvalue.Array, nil
}

func (s *indexStep) apply(e *evaluation, i int, v jsonvalue.Value) error {
	if ok, err := isArray(e, i, v); !ok {
		return err
	}
	for _, index := range s.indexes {
		if at, ok := arrayPosition(v, index); ok {
			if err := e.from(i+1, v.At(at)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *indexStep) appendTo(b *strings.Builder) {
	b.WriteByte('[')
	for i, index := range s.indexes {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(index))
	}
	b.WriteByte(']')
}

// isArray reports whether the array step at i applies to v. If v is not an array, isArray returns an error while
// the path is exact, and otherwise false.
func isArray(e *evaluation, i int, v jsonvalue.Value) (bool, error) {
	switch {
	case v.Kind() == jsonvalue.Array:
		return true, nil
	case !e.exact(i):
		return false, nil
	case v.IsNull():
		return false, e.absent(func() string { return "The path " + e.steps.location(i) + " is null" })
	default:
		return false, e.absent(func() string {
			return "Filter: " + e.steps.textFrom(i) + " can only be applied to arrays. Current context is: " +
				string(v.AppendJava(nil))
		})
	}
}
