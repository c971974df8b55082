package awssdk

import (
	"reflect"
	"strings"
)

// actions are some of the methods of a client, which stand here instead of it for a service whose whole client would
// make the command much larger: the linker keeps no other.
type actions []any

// find finds the method that takes the input of an action; a zero value when it is not listed.
func (a actions) find(name string) reflect.Value {
	for _, m := range a {
		if v := reflect.ValueOf(m); v.Type().In(1).Elem().Name() == name+"Input" {
			return v
		}
	}
	return reflect.Value{}
}

// names lists the actions as Resources spell them.
func (a actions) names() []string {
	names := make([]string, len(a))
	for i, m := range a {
		names[i] = lowerFirst(strings.TrimSuffix(reflect.TypeOf(m).In(1).Elem().Name(), "Input"))
	}
	return names
}
