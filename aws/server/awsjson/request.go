package awsjson

import (
	"encoding/json"
	"reflect"
	"strings"
)

// fields are the members of a structure by their names in JSON, and where they are. Names of members count as they are
// written: what a request has under another spelling is unknown, and ignored.
type fields map[string]field

type field struct {
	index []int
	inner fields // of a structure, or of the structures in a list
}

func fieldsOf(t reflect.Type) fields {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	found := fields{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			found[name] = field{f.Index, fieldsOf(f.Type)}
		}
	}
	return found
}

// fill sets a structure's members to those of a decoded request, which has been checked.
func (f fields) fill(structure reflect.Value, request map[string]any) error {
	for name, value := range request {
		at, ok := f[name]
		if !ok || value == nil {
			continue
		}
		if err := at.inner.set(structure.FieldByIndex(at.index), value); err != nil {
			return err
		}
	}
	return nil
}

// set sets one member, or one element of a list.
func (f fields) set(to reflect.Value, value any) (err error) {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	ok := false
	switch v := value.(type) {
	case string:
		if ok = to.Kind() == reflect.String; ok {
			to.SetString(v)
		}
	case bool:
		if ok = to.Kind() == reflect.Bool; ok {
			to.SetBool(v)
		}
	case json.Number:
		ok = setNumber(to, v)
	case map[string]any:
		if to.Kind() == reflect.Map {
			return setMap(to, v)
		}
		if ok = to.Kind() == reflect.Struct; ok {
			return f.fill(to, v)
		}
	case []any:
		if ok = to.Kind() == reflect.Slice; ok {
			return f.setList(to, v)
		}
	}
	if !ok {
		return malformed(wrongType(value))
	}
	return nil
}

func setNumber(to reflect.Value, n json.Number) bool {
	if to.CanInt() {
		i, err := n.Int64()
		if err != nil || to.OverflowInt(i) {
			return false
		}
		to.SetInt(i)
		return true
	}
	x, err := n.Float64()
	if err != nil || !to.CanFloat() {
		return false
	}
	to.SetFloat(x)
	return true
}

func (f fields) setList(to reflect.Value, list []any) error {
	to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
	for i, e := range list {
		if err := f.set(to.Index(i), e); err != nil {
			return err
		}
	}
	return nil
}

// setMap sets a map from strings to strings.
func setMap(to reflect.Value, o map[string]any) error {
	to.Set(reflect.MakeMapWithSize(to.Type(), len(o)))
	for key, value := range o {
		s, ok := value.(string)
		if !ok {
			return malformed(wrongType(value))
		}
		to.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(s))
	}
	return nil
}
