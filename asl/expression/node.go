package expression

import (
	"fmt"
	"strconv"
	"strings"

	"stepback/asl/jsonata"
	"stepback/jsonvalue"
)

// node is a compiled part of a field.
type node interface {
	eval(env jsonata.Env) (jsonvalue.Value, error)
}

// literal is a part without expressions.
type literal struct{ value jsonvalue.Value }

func (l literal) eval(jsonata.Env) (jsonvalue.Value, error) { return l.value, nil }

// object is an object that contains an expression, at any depth.
type object struct {
	keys    []string
	members []node
}

func (o *object) eval(env jsonata.Env) (jsonvalue.Value, error) {
	b := jsonvalue.NewObject(len(o.keys))
	for i, m := range o.members {
		v, err := m.eval(env)
		if err != nil {
			return jsonvalue.Value{}, err
		}
		b.Set(o.keys[i], v)
	}
	return b.Value(), nil
}

// array is an array that contains an expression, at any depth.
type array struct{ elements []node }

func (a *array) eval(env jsonata.Env) (jsonvalue.Value, error) {
	elements := make([]jsonvalue.Value, len(a.elements))
	for i, e := range a.elements {
		v, err := e.eval(env)
		if err != nil {
			return jsonvalue.Value{}, err
		}
		elements[i] = v
	}
	return jsonvalue.OfArray(elements), nil
}

// compile compiles the value at a place such as Output/orders[0].
func compile(place string, v jsonvalue.Value) (node, error) {
	switch v.Kind() {
	case jsonvalue.Object:
		return compileObject(place, v)
	case jsonvalue.Array:
		return compileArray(place, v)
	case jsonvalue.String:
		body, ok := Body(v.Text())
		if !ok {
			return literal{v}, nil
		}
		code, err := jsonata.Compile(body, jsonata.WithStepFunctions(), jsonata.WithLimits(limits))
		if err != nil {
			return nil, fmt.Errorf("the field '%s': %w", place, err)
		}
		return &expression{place: place, text: strings.TrimSpace(body), code: code}, nil
	default:
		return literal{v}, nil
	}
}

func compileObject(place string, v jsonvalue.Value) (node, error) {
	o := &object{v.Keys(), make([]node, v.Len())}
	constant := true
	for i, key := range o.keys {
		n, err := compile(place+"/"+key, v.At(i))
		if err != nil {
			return nil, err
		}
		o.members[i] = n
		constant = constant && isLiteral(n)
	}
	if constant {
		return literal{v}, nil
	}
	return o, nil
}

func compileArray(place string, v jsonvalue.Value) (node, error) {
	a := &array{make([]node, v.Len())}
	constant := true
	for i, e := range v.Elements() {
		n, err := compile(place+"["+strconv.Itoa(i)+"]", e)
		if err != nil {
			return nil, err
		}
		a.elements[i] = n
		constant = constant && isLiteral(n)
	}
	if constant {
		return literal{v}, nil
	}
	return a, nil
}

func isLiteral(n node) bool {
	_, ok := n.(literal)
	return ok
}
