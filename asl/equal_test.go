package asl_test

import (
	"fmt"
	"reflect"

	"stepback/asl"
	"stepback/jsonvalue"
)

// firstDifference compares two machines by JSON value and describes the first difference; it returns "" for equal
// machines.
func firstDifference(a, b *asl.Machine) string {
	return difference("machine", reflect.ValueOf(a), reflect.ValueOf(b))
}

func difference(at string, a, b reflect.Value) string {
	if a.Type() == reflect.TypeFor[jsonvalue.Value]() {
		x, y := a.Interface().(jsonvalue.Value), b.Interface().(jsonvalue.Value)
		if x.JSON() != y.JSON() {
			return fmt.Sprintf("%s: %s and %s", at, x.JSON(), y.JSON())
		}
		return ""
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return fmt.Sprintf("%s: %v and %v", at, a, b)
			}
			return ""
		}
		return difference(at, a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d elements", at, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := difference(fmt.Sprintf("%s[%d]", at, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Struct:
		for i := range a.NumField() {
			if d := difference(at+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	default:
		if !reflect.DeepEqual(a.Interface(), b.Interface()) {
			return fmt.Sprintf("%s: %v and %v", at, a, b)
		}
		return ""
	}
}
