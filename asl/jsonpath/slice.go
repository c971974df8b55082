package jsonpath

import (
	"strconv"
	"strings"

	"stepback/jsonvalue"
)

// sliceStep selects a range of an array: [1:3], [1:], [:2]. Negative bounds count from the end. If there are two
// bounds, Jayway compares them as written: [1:-1] is therefore empty, and [-1:2] starts at the last element and
// continues with the first.
type sliceStep struct {
	from, to       int
	hasFrom, hasTo bool
}

func (s *sliceStep) definite(bool) bool { return false }

func (s *sliceStep) scans(_ *evaluation, _ int, v jsonvalue.Value) (bool, error) {
	return v.Kind() == jsonvalue.Array, nil
}

func (s *sliceStep) apply(e *evaluation, i int, v jsonvalue.Value) error {
	if ok, err := isArray(e, i, v); !ok {
		return err
	}
	from, to := s.bounds(v.Len())
	for index := from; index < to; index++ {
		if at, ok := arrayPosition(v, index); ok {
			if err := e.from(i+1, v.At(at)); err != nil {
				return err
			}
		}
	}
	return nil
}

// bounds returns the range of indexes for an array of the given length; a negative index counts from the end.
func (s *sliceStep) bounds(length int) (from, to int) {
	switch {
	case s.hasFrom && s.hasTo:
		return max(s.from, -length), min(s.to, length)
	case s.hasFrom && s.from < 0:
		return max(s.from+length, 0), length
	case s.hasFrom:
		return s.from, length
	case s.to < 0:
		return 0, s.to + length
	default:
		return 0, min(s.to, length)
	}
}

func (s *sliceStep) appendTo(b *strings.Builder) {
	b.WriteByte('[')
	if s.hasFrom {
		b.WriteString(strconv.Itoa(s.from))
	}
	b.WriteByte(':')
	if s.hasTo {
		b.WriteString(strconv.Itoa(s.to))
	}
	b.WriteByte(']')
}
