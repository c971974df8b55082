package template

import (
	"errors"
	"fmt"
	"strings"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// suffix is the suffix of a dynamic key.
const suffix = ".$"

func compile(v jsonvalue.Value) (node, error) {
	switch v.Kind() {
	case jsonvalue.Object:
		return compileObject(v)
	case jsonvalue.Array:
		return compileArray(v)
	default:
		return literal{v}, nil
	}
}

func compileArray(v jsonvalue.Value) (node, error) {
	elements := make([]node, v.Len())
	constant := true
	for i, e := range v.Elements() {
		n, err := compile(e)
		if err != nil {
			return nil, err
		}
		elements[i] = n
		constant = constant && isLiteral(n)
	}
	if constant {
		return literal{v}, nil
	}
	return &array{elements}, nil
}

func compileObject(v jsonvalue.Value) (node, error) {
	o := &object{make([]string, v.Len()), make([]node, v.Len())}
	constant := true
	for i, key := range v.Keys() {
		name, n, err := compileMember(v, key, v.At(i))
		if err != nil {
			return nil, err
		}
		o.keys[i], o.members[i] = name, n
		constant = constant && isLiteral(n)
	}
	if constant {
		return literal{v}, nil
	}
	return o, nil
}

func isLiteral(n node) bool {
	_, ok := n.(literal)
	return ok
}

// compileMember compiles one member of an object and returns its key in the result.
func compileMember(parent jsonvalue.Value, key string, v jsonvalue.Value) (string, node, error) {
	name, dynamic := strings.CutSuffix(key, suffix)
	if !dynamic {
		n, err := compile(v)
		return key, n, err
	}
	if _, twice := parent.Get(name); twice {
		return "", nil, &FieldError{key, fmt.Errorf("the template also has a field '%s', drop one of them", name)}
	}
	n, err := compileDynamic(key, v)
	if err != nil {
		return "", nil, &FieldError{key, err}
	}
	return name, n, nil
}

func compileDynamic(field string, v jsonvalue.Value) (node, error) {
	text := v.Text()
	switch {
	case v.Kind() != jsonvalue.String:
		return nil, fmt.Errorf("the value is of kind %s, expected a string with a path or an intrinsic call", v.Kind())
	case strings.HasPrefix(text, "$"):
		p, err := jsonpath.Compile(text)
		if err != nil {
			return nil, err
		}
		return &pathMember{field, p}, nil
	case intrinsic.IsCall(text):
		c, err := intrinsic.Compile(text)
		if err != nil {
			return nil, err
		}
		return &callMember{field, c}, nil
	default:
		return nil, errors.New("the value is neither a path (it starts with $) nor an intrinsic call (it starts with States.)")
	}
}
