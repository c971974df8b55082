package jsonata

import (
	"math"
	"strings"
)

var transformSignature = mustSignature("<(oa):o>")

// transform returns the function that | pattern | update , delete | stands for.
func (ev *evaluator) transform(n *node, f *frame) *native {
	t := &transformer{node: n, frame: f}
	return &native{signature: transformSignature, parameters: 1, arity: 1, call: t.call}
}

// transformer copies an object or array, and changes the parts of the copy that a pattern selects.
type transformer struct {
	node  *node
	frame *frame
}

func (t *transformer) call(c *call, args []value) (value, *Error) {
	if args[0] == nil {
		return nil, nil
	}
	clone := c.ev.lookup(t.frame, "clone")
	if !isFunction(clone) {
		return nil, &Error{Code: "T2013", Position: t.node.position}
	}
	result, err := c.ev.apply(clone, args[:1], null{}, t.frame, origin{})
	if err != nil {
		return nil, err
	}
	matches, err := c.ev.eval(t.node.pattern, result, t.frame)
	if err != nil || matches == nil {
		return result, err
	}
	for _, match := range asList(matches) {
		if err := t.change(c.ev, match); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func asList(v value) []value {
	if a, ok := v.(*array); ok {
		return a.list()
	}
	return []value{v}
}

func (t *transformer) change(ev *evaluator, match value) *Error {
	update, err := ev.eval(t.node.update, match, t.frame)
	if err != nil {
		return err
	}
	if update != nil {
		members, ok := update.(*object)
		if !ok {
			return &Error{Code: "T2011", Position: t.node.update.position, value: update}
		}
		for i, key := range members.names() {
			if err := assign(ev, match, key, members.at(i)); err != nil {
				return err
			}
		}
	}
	if t.node.remove == nil {
		return nil
	}
	deletions, err := ev.eval(t.node.remove, match, t.frame)
	if err != nil || deletions == nil {
		return err
	}
	names := map[string]bool{}
	for _, key := range asList(deletions) {
		name, ok := key.(string)
		if !ok {
			return &Error{Code: "T2012", Position: t.node.remove.position, value: deletions}
		}
		names[name] = true
	}
	if o, ok := match.(*object); ok {
		o.removeAll(names)
		return ev.budget.spend(o.len() / 4)
	}
	return nil
}

// assign sets a member of an object. If target is not an object, it fails or has no effect, as in JavaScript.
func assign(ev *evaluator, target value, key string, v value) *Error {
	switch target := target.(type) {
	case *object:
		if ev != nil && ev.budget.contains(v, target) {
			return runtimeError("Converting circular structure to JSON")
		}
		target.set(key, v)
		return ev.budget.spend(1)
	case nil:
		return runtimeError("Cannot set properties of undefined (setting '" + key + "')")
	case null:
		return runtimeError("Cannot set properties of null (setting '" + key + "')")
	case string:
		return runtimeError("Cannot create property '" + key + "' on string '" + target + "'")
	case float64:
		return runtimeError("Cannot create property '" + key + "' on number '" + formatNumber(target) + "'")
	case bool:
		return runtimeError("Cannot create property '" + key + "' on boolean '" + strings.Trim(stringify(target), `"`) +
			"'")
	default:
		return nil
	}
}

// contains reports whether target is part of a value. Unmodified trees of the input are skipped, because nothing in
// them can change.
func (b *budget) contains(v value, target *object) bool {
	if !b.tick() {
		return true
	}
	switch v := v.(type) {
	case *object:
		if v == target {
			return true
		}
		for _, member := range v.vals {
			if b.contains(member, target) {
				return true
			}
		}
	case *array:
		for _, item := range v.items {
			if b.contains(item, target) {
				return true
			}
		}
	}
	return false
}

// cloneOf returns a deep copy that may be changed. Numbers are rounded and functions become empty strings, as in
// $string.
func (ev *evaluator) cloneOf(v value, depth int) (value, *Error) {
	if err := ev.budget.nest(depth); err != nil {
		return nil, err
	}
	if err := ev.budget.spend(1); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return null{}, nil
	case float64:
		if _, ok, err := numeric(v); !ok {
			return null{}, err
		}
		if v = precise(v); math.IsInf(v, 0) {
			return null{}, nil
		}
		return v, nil
	case *array:
		if v.outer {
			return ev.cloneOf(v.items[0], depth)
		}
		copied := make([]value, v.len())
		for i, item := range v.list() {
			var err *Error
			if copied[i], err = ev.cloneOf(item, depth+1); err != nil {
				return nil, err
			}
		}
		return newArray(copied), nil
	case *object:
		copied := newObject(v.len())
		for i, key := range v.names() {
			member, err := ev.cloneOf(v.at(i), depth+1)
			if err != nil {
				return nil, err
			}
			copied.set(key, member)
		}
		return copied, nil
	default:
		if isFunction(v) {
			return "", nil
		}
		return v, nil
	}
}
