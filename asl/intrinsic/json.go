package intrinsic

import (
	"errors"
	"fmt"
	"strings"

	"stepback/asl/jsonvalue"
)

// stringToJSON is States.StringToJson(string). A blank string is null, and the integer -0 is 0, as for the JSON parser of the
// real service.
func stringToJSON(o *operands) (jsonvalue.Value, error) {
	s := o.values[0].Text()
	if strings.Trim(s, " \t\r\n") == "" {
		return jsonvalue.Value{}, nil
	}
	v, err := jsonvalue.Parse(s)
	if err != nil {
		return jsonvalue.Value{}, fmt.Errorf("the string is not JSON: %w", err)
	}
	if strings.Contains(s, "-0") {
		v = withoutNegativeZero(v)
	}
	return v, nil
}

func withoutNegativeZero(v jsonvalue.Value) jsonvalue.Value {
	switch v.Kind() {
	case jsonvalue.Number:
		if v.Text() == "-0" {
			return jsonvalue.OfInt(0)
		}
	case jsonvalue.Array:
		elements := make([]jsonvalue.Value, v.Len())
		for i, element := range v.Elements() {
			elements[i] = withoutNegativeZero(element)
		}
		return jsonvalue.OfArray(elements)
	case jsonvalue.Object:
		b := jsonvalue.NewObject(v.Len())
		for i, key := range v.Keys() {
			b.Set(key, withoutNegativeZero(v.At(i)))
		}
		return b.Value()
	}
	return v
}

// jsonToString is States.JsonToString(value): compact JSON.
func jsonToString(o *operands) (jsonvalue.Value, error) {
	return jsonvalue.OfString(o.values[0].JSON()), nil
}

// jsonMerge is States.JsonMerge(object, object, false): the members of both, the second one's where both have one. The
// service has no deep merge.
func jsonMerge(o *operands) (jsonvalue.Value, error) {
	if o.values[2].Bool() {
		return jsonvalue.Value{}, errors.New("deep merging (true) is not supported, the third argument must be false")
	}
	left, right := o.values[0], o.values[1]
	b := jsonvalue.NewObject(left.Len() + right.Len())
	for _, v := range []jsonvalue.Value{left, right} {
		for i, key := range v.Keys() {
			b.Set(key, v.At(i))
		}
	}
	return b.Value(), nil
}
