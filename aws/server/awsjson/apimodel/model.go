// Package apimodel compares the operations of a service with the model that AWS publishes for its SDKs: the members of
// requests with their constraints, the names of the members of answers, and the errors. It is for tests.
package apimodel

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stepback/aws/server/awsjson"
)

// Model is what is read of a service's model.
type Model struct {
	Operations map[string]Operation
	Shapes     map[string]*Shape
}

// Operation is an operation of a model.
type Operation struct {
	Input, Output Ref
	Errors        []Ref
}

// Ref names a shape.
type Ref struct{ Shape string }

// Shape is a type of a model.
type Shape struct {
	Type     string
	Members  map[string]Ref
	Member   Ref // of a list
	Value    Ref // of a map
	Required []string
	Min, Max int64
	Pattern  string
	Enum     []string
	// Sensitive shapes are not quoted in refusals.
	Sensitive bool
}

// Read reads a model, such as stepfunctions-2016-11-23, from the folder models beside the recordings, or skips the
// test. The root is the path to the module's.
func Read(t *testing.T, root, name string) *Model {
	t.Helper()
	recordings := os.Getenv("STEPBACK_CONFORMANCE")
	if recordings == "" {
		recordings = filepath.Join(root, "..", "shared", "conformance")
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(recordings), "models", name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the service's model is not here; set STEPBACK_CONFORMANCE to the folder beside models/")
	}
	m := new(Model)
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Differences lists what differs of operations that the model has.
func (m *Model) Differences(have map[string]awsjson.Operation) (differences []string) {
	for _, name := range slices.Sorted(maps.Keys(have)) {
		o, ok := m.Operations[name]
		if !ok {
			differences = append(differences, "the model has no operation "+name)
			continue
		}
		differences = append(differences, m.request(name, o.Input.Shape, have[name].Members)...)
		differences = append(differences, m.answer(name, o.Output.Shape, reflect.TypeOf(have[name].Answer))...)
	}
	return differences
}

var kinds = map[string]awsjson.Kind{
	"string": awsjson.String, "integer": awsjson.Integer, "long": awsjson.Integer, "float": awsjson.Number,
	"double":  awsjson.Number,
	"boolean": awsjson.Boolean, "list": awsjson.List, "structure": awsjson.Structure,
	"map": awsjson.Map,
}

// request compares the members of a structure.
func (m *Model) request(path, shapeName string, members []awsjson.Member) (differences []string) {
	s := m.Shapes[shapeName]
	for _, got := range members {
		ref, ok := s.Members[got.Name]
		if !ok {
			differences = append(differences, path+"."+got.Name+" is not in the model")
			continue
		}
		differences = append(differences, m.member(path+"."+got.Name, ref.Shape, got, slices.Contains(s.Required,
			got.Name))...)
	}
	for name := range s.Members {
		if !slices.ContainsFunc(members, func(got awsjson.Member) bool { return got.Name == name }) {
			differences = append(differences, path+"."+name+" is missing")
		}
	}
	return differences
}

func (m *Model) member(path, shapeName string, got awsjson.Member, required bool) (differences []string) {
	s := m.Shapes[shapeName]
	differs := func(what string) { differences = append(differences, path+": "+what+" differs from "+shapeName) }
	if got.Kind != kinds[s.Type] {
		differs("kind")
	}
	if got.Required != required {
		differs("required")
	}
	if got.Min != s.Min || got.Max != s.Max {
		differs("length or range")
	}
	if !slices.Equal(got.Enum, s.Enum) && !sameSet(got.Enum, s.Enum) {
		differs("enum")
	}
	if got.Shown != s.Pattern {
		differs("pattern")
	}
	if got.Sensitive != s.Sensitive {
		differs("sensitivity")
	}
	switch s.Type {
	case "structure":
		differences = append(differences, m.request(path, shapeName, got.Members)...)
	case "map":
		return append(differences, m.member(path+".*", s.Value.Shape, *got.Element, false)...)
	case "list":
		if got.Element != nil {
			return append(differences, m.member(path+"[]", s.Member.Shape, *got.Element, false)...)
		}
		return append(differences, m.request(path+"[]", s.Member.Shape, got.Members)...)
	}
	return differences
}

// sameSet compares enums, whose order in refusals follows recordings where there are some.
func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// answer compares the names of the members of an answer, at every depth. What is encoded already, as histories are, is
// not seen.
func (m *Model) answer(path, shapeName string, t reflect.Type) (differences []string) {
	s, at := m.Shapes[shapeName], path+"."
	got := fields(t)
	for name, f := range got {
		var ref Ref
		if s != nil {
			ref = s.Members[name]
		}
		switch inner := f; {
		case ref.Shape == "":
			differences = append(differences, at+name+" is answered and not in the model")
		case m.Shapes[ref.Shape].Type == "structure" && structure(inner):
			differences = append(differences, m.answer(at+name, ref.Shape, inner)...)
		case m.Shapes[ref.Shape].Type == "list" && inner.Kind() == reflect.Slice &&
			inner.Elem().Kind() == reflect.Struct:
			differences = append(differences, m.answer(at+name, m.Shapes[ref.Shape].Member.Shape, inner.Elem())...)
		}
	}
	if s == nil {
		return differences
	}
	for name := range s.Members {
		if _, ok := got[name]; !ok {
			differences = append(differences, at+name+" is not answered")
		}
	}
	return differences
}

func structure(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// fields are the types of a structure's members by their JSON names.
func fields(t reflect.Type) map[string]reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	found := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			maps.Copy(found, fields(f.Type))
		} else if name != "" {
			found[name] = f.Type
		}
	}
	return found
}
