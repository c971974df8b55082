package intrinsic

import (
	"fmt"

	"stepback/jsonvalue"
)

// arrayPartition implements States.ArrayPartition. The chunks share the elements of the array.
func arrayPartition(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	if err := wantArray(values[0]); err != nil {
		return jsonvalue.Value{}, err
	}
	size, err := rounded("the chunk size", values[1])
	if err != nil {
		return jsonvalue.Value{}, err
	}
	if size < 1 {
		return jsonvalue.Value{}, fmt.Errorf("the chunk size %s is not positive", values[1].Text())
	}
	rest := values[0].Elements()
	chunks := make([]jsonvalue.Value, 0, int64(len(rest))/size+1)
	for len(rest) > 0 {
		n := int(min(size, int64(len(rest))))
		chunks = append(chunks, jsonvalue.OfArray(rest[:n:n]))
		rest = rest[n:]
	}
	return jsonvalue.OfArray(chunks), nil
}
