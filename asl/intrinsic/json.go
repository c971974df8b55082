package intrinsic

import (
	"errors"
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// stringToJSON implements States.StringToJson. The service reads an empty or blank string as null, and -0 as 0.
func stringToJSON(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	if values[0].Kind() != jsonvalue.String {
		return jsonvalue.Value{}, wrongKind("the argument", values[0], jsonvalue.String)
	}
	text := values[0].Text()
	if strings.TrimSpace(text) == "" {
		return jsonvalue.Value{}, nil
	}
	v, err := jsonvalue.Parse(text)
	if err != nil {
		return jsonvalue.Value{}, fmt.Errorf("the string is not JSON: %w", err)
	}
	if strings.Contains(text, "-0") {
		v = unsignedZeros(v)
	}
	return v, nil
}

// unsignedZeros returns the value with every integer -0 replaced by 0.
func unsignedZeros(v jsonvalue.Value) jsonvalue.Value {
	switch v.Kind() {
	case jsonvalue.Number:
		if v.Text() == "-0" {
			return jsonvalue.OfInt(0)
		}
		return v
	case jsonvalue.Array:
		elements := make([]jsonvalue.Value, v.Len())
		for i, e := range v.Elements() {
			elements[i] = unsignedZeros(e)
		}
		return jsonvalue.OfArray(elements)
	case jsonvalue.Object:
		b := jsonvalue.NewObject(v.Len())
		for i, key := range v.Keys() {
			b.Set(key, unsignedZeros(v.At(i)))
		}
		return b.Value()
	default:
		return v
	}
}

// jsonToString implements States.JsonToString.
func jsonToString(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	text, ok := values[0].JSONUpTo(maxText)
	if !ok {
		return jsonvalue.Value{}, errLong
	}
	return jsonvalue.OfString(text), nil
}

// jsonMerge implements States.JsonMerge: members of the second object win. The service supports shallow merging only.
func jsonMerge(values []jsonvalue.Value, _ Env) (jsonvalue.Value, error) {
	left, right, deep := values[0], values[1], values[2]
	switch {
	case left.Kind() != jsonvalue.Object:
		return jsonvalue.Value{}, wrongKind("the first argument", left, jsonvalue.Object)
	case right.Kind() != jsonvalue.Object:
		return jsonvalue.Value{}, wrongKind("the second argument", right, jsonvalue.Object)
	case deep.Kind() != jsonvalue.Bool:
		return jsonvalue.Value{}, wrongKind("the third argument", deep, jsonvalue.Bool)
	case deep.Bool():
		return jsonvalue.Value{}, errors.New("deep merging is not supported, the third argument must be false")
	}
	b := jsonvalue.NewObject(left.Len() + right.Len())
	for _, object := range []jsonvalue.Value{left, right} {
		for i, key := range object.Keys() {
			b.Set(key, object.At(i))
		}
	}
	return b.Value(), nil
}
