// Package modeltest compares the answers of a service's operations with the service's model. It is for tests only.
package modeltest

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"stepback/aws/model"
	"stepback/aws/server"
)

// Differences lists the differences, at every depth, between the members of the operations' answers and those of the
// model: "ListThings.things.owner is not answered". Values that are already encoded, such as json.RawMessage, are not
// inspected.
func Differences(m *model.Service, operations map[string]server.Operation) (differences []string) {
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		o, err := m.Operation(name)
		if err != nil {
			differences = append(differences, err.Error())
			continue
		}
		if t := reflect.TypeOf(operations[name].Answer); t != nil {
			differences = append(differences, compare(name, o.Output, t)...)
		}
	}
	return differences
}

func compare(path string, s *model.Shape, t reflect.Type) (differences []string) {
	at := path + "."
	got := fields(t)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		f := got[name]
		var m *model.Member
		if s != nil {
			m = s.Member(name)
		}
		switch {
		case m == nil:
			differences = append(differences, at+name+" is answered and not in the model")
		case m.Shape.Type == model.Structure && structure(f):
			differences = append(differences, compare(at+name, m.Shape, f)...)
		case m.Shape.Type == model.List && f.Kind() == reflect.Slice && f.Elem().Kind() == reflect.Struct:
			differences = append(differences, compare(at+name, m.Shape.Element.Shape, f.Elem())...)
		}
	}
	if s == nil {
		return differences
	}
	for _, m := range s.Members {
		if _, ok := got[m.Name]; !ok {
			differences = append(differences, at+m.Name+" is not answered")
		}
	}
	return differences
}

func structure(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// fields returns the types of a structure's members by their JSON names.
func fields(t reflect.Type) map[string]reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	found := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(found, fields(f.Type))
		case name != "":
			found[name] = f.Type
		case f.IsExported():
			found[f.Name] = f.Type
		}
	}
	return found
}
