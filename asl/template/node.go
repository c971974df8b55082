package template

import (
	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// node is a compiled part of a template.
type node interface {
	eval(env Env) (jsonvalue.Value, error)
	// paths calls visit for every path in the part, in order.
	paths(visit func(*jsonpath.Path))
}

// literal is a part without dynamic keys.
type literal struct{ value jsonvalue.Value }

func (l literal) eval(Env) (jsonvalue.Value, error) { return l.value, nil }
func (l literal) paths(func(*jsonpath.Path))        {}

// object is an object that contains a dynamic key, at any depth. keys are the keys of the result.
type object struct {
	keys    []string
	members []node
}

func (o *object) eval(env Env) (jsonvalue.Value, error) {
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

func (o *object) paths(visit func(*jsonpath.Path)) {
	for _, m := range o.members {
		m.paths(visit)
	}
}

// array is an array that contains an object with a dynamic key, at any depth.
type array struct{ elements []node }

func (a *array) eval(env Env) (jsonvalue.Value, error) {
	values := make([]jsonvalue.Value, len(a.elements))
	for i, e := range a.elements {
		v, err := e.eval(env)
		if err != nil {
			return jsonvalue.Value{}, err
		}
		values[i] = v
	}
	return jsonvalue.OfArray(values), nil
}

func (a *array) paths(visit func(*jsonpath.Path)) {
	for _, e := range a.elements {
		e.paths(visit)
	}
}
