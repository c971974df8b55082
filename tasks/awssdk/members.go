package awssdk

import (
	"reflect"
	"strings"
	"sync"
)

// members finds the fields of the SDK's structs by their names, whatever their case.
type members struct{ types sync.Map } // reflect.Type to map[string]int

var known members

// field returns the index of the field that a parameter's name stands for. Names begin with a capital, as Step
// Functions wants it.
func (m *members) field(t reflect.Type, name string) (int, bool) {
	if name == "" || name[0] < 'A' || name[0] > 'Z' {
		return 0, false
	}
	i, ok := m.of(t)[strings.ToLower(name)]
	return i, ok
}

func (m *members) of(t reflect.Type) map[string]int {
	if fields, ok := m.types.Load(t); ok {
		return fields.(map[string]int)
	}
	fields := map[string]int{}
	for i := range t.NumField() {
		if f := t.Field(i); isMember(&f) {
			fields[strings.ToLower(f.Name)] = i
			fields[strings.ToLower(MemberName(f.Name))] = i
		}
	}
	m.types.Store(t, fields)
	return fields
}

// isMember tells the members of a shape from what the SDK keeps beside them.
func isMember(f *reflect.StructField) bool {
	return f.IsExported() && !f.Anonymous && f.Name != "ResultMetadata"
}

// member is the name of a union's member: the part of its type's name after "Member".
func member(t reflect.Type) string {
	_, name, _ := strings.Cut(t.Name(), "Member")
	return name
}

// union finds the type of a member of a union by its name in a parameter.
func (s *Service) union(t reflect.Type, name string) (reflect.Type, bool) {
	for _, u := range s.unions {
		m := reflect.TypeOf(u)
		if !reflect.PointerTo(m).Implements(t) {
			continue
		}
		if model := member(m); strings.EqualFold(name, model) || name == MemberName(model) {
			return m, true
		}
	}
	return nil, false
}
