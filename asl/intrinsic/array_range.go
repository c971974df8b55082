package intrinsic

import (
	"errors"
	"fmt"

	"stepback/jsonvalue"
)

// maxRange is the maximum number of elements of States.ArrayRange.
const maxRange = 1000

// arrayRange implements States.ArrayRange: first to last, both included. A step away from last gives an empty array.
func arrayRange(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	var bounds [3]int64
	for i, what := range [...]string{"the first element", "the last element", "the step"} {
		n, err := rounded(what, values[i])
		if err != nil {
			return jsonvalue.Value{}, err
		}
		bounds[i] = n
	}
	first, last, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return jsonvalue.Value{}, errors.New("the step is 0")
	}
	if (last-first > 0) != (step > 0) && first != last {
		return jsonvalue.OfArray(nil), nil
	}
	count := (last-first)/step + 1
	if count > maxRange {
		return jsonvalue.Value{}, fmt.Errorf("the range has %d elements, expected at most %d", count, maxRange)
	}
	elements := make([]jsonvalue.Value, count)
	for i := range elements {
		elements[i] = jsonvalue.OfInt(first + int64(i)*step)
	}
	return jsonvalue.OfArray(elements), nil
}
