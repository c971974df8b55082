package jsonpath

import (
	"fmt"
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// propertyStep selects members of an object: .name, ['name'] or ['one','two']. Several names at the end of a path
// select one object with these members. Anywhere else, each named member is followed separately.
type propertyStep struct {
	names []string
	quote byte // ' or " as written; 0 for the dot form
}

func (s *propertyStep) definite(leaf bool) bool { return len(s.names) == 1 || leaf }

func (s *propertyStep) scans(e *evaluation, i int, v jsonvalue.Value) (bool, error) {
	if v.Kind() != jsonvalue.Object {
		return false, nil
	}
	if e.strict || !s.definite(e.leaf(i)) {
		return true, nil
	}
	for _, name := range s.names {
		if _, ok := v.Get(name); !ok {
			return false, nil
		}
	}
	return true, nil
}

func (s *propertyStep) apply(e *evaluation, i int, v jsonvalue.Value) error {
	if v.Kind() != jsonvalue.Object {
		if !e.exact(i) {
			return nil
		}
		return e.absent(func() string { return s.notAnObject(e, i, v) })
	}
	if len(s.names) > 1 && e.leaf(i) {
		return s.merge(e, i, v)
	}
	for _, name := range s.names {
		if err := s.member(e, i, v, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *propertyStep) member(e *evaluation, i int, v jsonvalue.Value, name string) error {
	child, ok := v.Get(name)
	switch {
	case ok:
		return e.from(i+1, child)
	case e.leaf(i) && !e.strict:
		return nil
	case !e.leaf(i) && !e.strict && (!e.exact(i) || len(s.names) != 1):
		return nil
	}
	return e.absent(func() string { return "Missing property in path " + e.steps.location(i) + "['" + name + "']" })
}

func (s *propertyStep) merge(e *evaluation, i int, v jsonvalue.Value) error {
	b := jsonvalue.NewObject(len(s.names))
	for _, name := range s.names {
		child, ok := v.Get(name)
		if ok {
			b.Set(name, child)
		} else if e.strict {
			return e.absent(func() string { return "Missing property in path " + e.steps.location(i) })
		}
	}
	return e.from(i+1, b.Value())
}

func (s *propertyStep) notAnObject(e *evaluation, i int, v jsonvalue.Value) string {
	var fragment strings.Builder
	s.appendTo(&fragment)
	return fmt.Sprintf("Expected to find an object with property %s in path %s but found '%s'. This is not a json object "+
		"according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.",
		fragment.String(), e.steps.location(i), javaClass(v))
}

var escapeProperty = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

func (s *propertyStep) appendTo(b *strings.Builder) {
	quote := "'"
	if s.quote == '"' {
		quote = `"`
	}
	quoted := slices.Clone(s.names)
	for i, name := range quoted {
		quoted[i] = quote + escapeProperty.Replace(name) + quote
	}
	b.WriteString("[" + strings.Join(quoted, ",") + "]")
}

// javaClass returns the Java class that Jayway's default JSON provider uses for a value. Jayway's messages name it.
func javaClass(v jsonvalue.Value) string {
	switch v.Kind() {
	case jsonvalue.Null:
		return "null"
	case jsonvalue.Bool:
		return "java.lang.Boolean"
	case jsonvalue.String:
		return "java.lang.String"
	case jsonvalue.Array:
		return "net.minidev.json.JSONArray"
	case jsonvalue.Object:
		return "java.util.LinkedHashMap"
	default:
	}
	if !v.IsIntegerText() {
		return "java.lang.Double"
	}
	switch n, ok := v.Int(); {
	case !ok:
		return "java.math.BigInteger"
	case n == int64(int32(n)):
		return "java.lang.Integer"
	default:
		return "java.lang.Long"
	}
}
