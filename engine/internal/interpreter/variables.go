package interpreter

import (
	"sort"

	"stepback/engine/history"
	"stepback/jsonvalue"
)

// maxVariables is the maximum size of all variables of a scope, in bytes.
const maxVariables = 10 << 20

// get returns a variable of this scope or an outer one.
func (v *variables) get(name string) (jsonvalue.Value, bool) {
	for s := v; s != nil; s = s.outer {
		if value, ok := s.values[name]; ok {
			return value, true
		}
	}
	return jsonvalue.Value{}, false
}

// set assigns every member of an object to a variable, and returns the assignments in the order of their names. If
// this would exceed the limit of 256 KiB for one Assign or of 10 MiB for the scope, it changes nothing and returns
// false.
func (v *variables) set(object jsonvalue.Value) ([]history.Assignment, bool) {
	assigned := make([]history.Assignment, 0, object.Len())
	total := 0
	for i, name := range object.Keys() {
		text, ok := object.At(i).JSONUpTo(MaxPayload)
		if !ok {
			return nil, false
		}
		total += len(text)
		assigned = append(assigned, history.Assignment{Name: name, Value: text})
	}
	if total > MaxPayload || v.size+total > maxVariables {
		return nil, false
	}
	if v.values == nil {
		v.values = make(map[string]jsonvalue.Value, object.Len())
	}
	for i, name := range object.Keys() {
		if old, ok := v.values[name]; ok {
			v.size -= len(old.JSON())
		}
		v.values[name] = object.At(i)
	}
	v.size += total
	sort.Slice(assigned, func(i, j int) bool { return assigned[i].Name < assigned[j].Name })
	return assigned, true
}
