package intrinsic

import (
	"fmt"

	"stepback/jsonvalue"
)

// array implements States.Array.
func array(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	return jsonvalue.OfArray(values), nil
}

// arrayContains implements States.ArrayContains, by deep equality.
func arrayContains(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	if err := wantArray(values[0]); err != nil {
		return jsonvalue.Value{}, err
	}
	for _, e := range values[0].Elements() {
		if jsonvalue.Equal(e, values[1]) {
			return jsonvalue.OfBool(true), nil
		}
	}
	return jsonvalue.OfBool(false), nil
}

// arrayGetItem implements States.ArrayGetItem; the index counts from 0.
func arrayGetItem(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	if err := wantArray(values[0]); err != nil {
		return jsonvalue.Value{}, err
	}
	index, whole := values[1].Int()
	switch {
	case values[1].Kind() != jsonvalue.Number:
		return jsonvalue.Value{}, wrongKind("the index", values[1], jsonvalue.Number)
	case !whole:
		return jsonvalue.Value{}, fmt.Errorf("the index %s is not an integer", values[1].Text())
	case index < 0 || index >= int64(values[0].Len()):
		return jsonvalue.Value{}, fmt.Errorf("the index %d is out of range for an array of length %d", index,
			values[0].Len())
	}
	return values[0].At(int(index)), nil
}

// arrayLength implements States.ArrayLength.
func arrayLength(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	if err := wantArray(values[0]); err != nil {
		return jsonvalue.Value{}, err
	}
	return jsonvalue.OfInt(int64(values[0].Len())), nil
}

func wantArray(v jsonvalue.Value) error {
	if v.Kind() != jsonvalue.Array {
		return wrongKind("the first argument", v, jsonvalue.Array)
	}
	return nil
}
