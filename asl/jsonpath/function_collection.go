package jsonpath

import (
	"fmt"
	"slices"
	"strings"

	"stepback/internal/budgets"
	"stepback/jsonvalue"
)

// length returns the number of elements of an array or of members of an object. For any other value it returns
// null.
func length(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error) {
	if len(arguments) > 0 && arguments[0].Kind() == jsonvalue.Array {
		v = arguments[0]
	}
	if v.Kind() != jsonvalue.Array && v.Kind() != jsonvalue.Object {
		return jsonvalue.Value{}, nil
	}
	return jsonvalue.OfInt(int64(v.Len())), nil
}

// keys returns an object's member names. For any other value it returns null.
func keys(v jsonvalue.Value, _ []jsonvalue.Value) (jsonvalue.Value, error) {
	if v.Kind() != jsonvalue.Object {
		return jsonvalue.Value{}, nil
	}
	names := make([]jsonvalue.Value, v.Len())
	for i, k := range v.Keys() {
		names[i] = jsonvalue.OfString(k)
	}
	return jsonvalue.OfArray(names), nil
}

// appendValues returns an array with its arguments appended. It returns any other value unchanged.
func appendValues(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error) {
	if v.Kind() != jsonvalue.Array {
		return v, nil
	}
	return jsonvalue.OfArray(slices.Concat(v.Elements(), arguments)), nil
}

// maxText is the maximum length, in bytes, of a text that concat builds. It is far above the payload limit, which is
// not checked here.
var maxText = budgets.PathText.Value

// concat returns one string: the strings among v's elements, followed by the arguments.
func concat(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error) {
	var b strings.Builder
	if v.Kind() == jsonvalue.Array {
		for _, element := range v.Elements() {
			if element.Kind() == jsonvalue.String {
				b.WriteString(element.Text())
			}
		}
	}
	for _, a := range arguments {
		switch a.Kind() {
		case jsonvalue.Array:
			for _, element := range a.Elements() {
				if !element.IsNull() {
					b.Write(element.AppendJava(nil))
				}
				if b.Len() > maxText {
					return jsonvalue.Value{}, &EvaluationError{
						Message: fmt.Sprintf("the text of concat() is longer than %d bytes", maxText)}
				}
			}
		case jsonvalue.String:
			b.WriteString(a.Text())
		default: // Jayway omits other arguments
		}
	}
	return jsonvalue.OfString(b.String()), nil
}

func first(v jsonvalue.Value, _ []jsonvalue.Value) (jsonvalue.Value, error) { return pick(v, 0) }

func last(v jsonvalue.Value, _ []jsonvalue.Value) (jsonvalue.Value, error) { return pick(v, -1) }

func elementAt(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error) {
	if len(arguments) > 0 {
		if i, ok := arguments[0].Int(); ok && i == int64(int32(i)) {
			return pick(v, int(i))
		}
	}
	return jsonvalue.Value{}, &EvaluationError{Message: "index() needs a whole number as its argument"}
}

func pick(v jsonvalue.Value, index int) (jsonvalue.Value, error) {
	if v.Kind() != jsonvalue.Array {
		return jsonvalue.Value{}, &EvaluationError{Message: "Aggregation function attempted to calculate value using empty array"}
	}
	at, ok := arrayPosition(v, index)
	if !ok {
		return jsonvalue.Value{}, &EvaluationError{
			Message: fmt.Sprintf("Target index:%d larger than object count:%d", index, v.Len())}
	}
	return v.At(at), nil
}
