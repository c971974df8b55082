package intrinsic

import (
	"errors"
	"fmt"

	"stepback/asl/jsonvalue"
)

// maxRange is the largest array that States.ArrayRange makes.
const maxRange = 1000

// makeArray is States.Array(value, …).
func makeArray(o *operands) (jsonvalue.Value, error) { return jsonvalue.OfArray(o.values), nil }

// arrayPartition is States.ArrayPartition(array, size): chunks of this size, the last one possibly shorter.
func arrayPartition(o *operands) (jsonvalue.Value, error) {
	size, err := o.integer(1)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	if size < 1 {
		return jsonvalue.Value{}, fmt.Errorf("the chunk size must be at least 1, but is %d", size)
	}
	elements := o.values[0].Elements()
	chunks := make([]jsonvalue.Value, 0, (int64(len(elements))+size-1)/size)
	for len(elements) > 0 {
		n := min(int64(len(elements)), size)
		chunks = append(chunks, jsonvalue.OfArray(elements[:n:n]))
		elements = elements[n:]
	}
	return jsonvalue.OfArray(chunks), nil
}

// arrayContains is States.ArrayContains(array, value), by deep equality.
func arrayContains(o *operands) (jsonvalue.Value, error) {
	for _, element := range o.values[0].Elements() {
		if jsonvalue.Equal(element, o.values[1]) {
			return jsonvalue.OfBool(true), nil
		}
	}
	return jsonvalue.OfBool(false), nil
}

// arrayRange is States.ArrayRange(first, last, step), last included when a step hits it.
func arrayRange(o *operands) (jsonvalue.Value, error) {
	first, err1 := o.integer(0)
	last, err2 := o.integer(1)
	step, err3 := o.integer(2)
	if err := errors.Join(err1, err2, err3); err != nil {
		return jsonvalue.Value{}, err
	}
	if step == 0 {
		return jsonvalue.Value{}, errors.New("the step must not be 0")
	}
	count := max((last-first)/step+1, 0)
	if (last < first) != (step < 0) && last != first {
		count = 0
	}
	if count > maxRange {
		return jsonvalue.Value{}, fmt.Errorf("the range has %d elements, more than %d", count, maxRange)
	}
	elements := make([]jsonvalue.Value, count)
	for i := range elements {
		elements[i] = jsonvalue.OfInt(first + int64(i)*step)
	}
	return jsonvalue.OfArray(elements), nil
}

// arrayGetItem is States.ArrayGetItem(array, index) with an index from 0.
func arrayGetItem(o *operands) (jsonvalue.Value, error) {
	index, err := o.integer(1)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	if n := o.values[0].Len(); index < 0 || index >= int64(n) {
		return jsonvalue.Value{}, fmt.Errorf("the index %d is outside an array of %d elements", index, n)
	}
	return o.values[0].At(int(index)), nil
}

// arrayLength is States.ArrayLength(array).
func arrayLength(o *operands) (jsonvalue.Value, error) {
	return jsonvalue.OfInt(int64(o.values[0].Len())), nil
}
