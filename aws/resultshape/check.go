package resultshape

import (
	"slices"
	"unicode/utf8"

	"stepback/asl/jsonvalue"
)

// checker looks for the first thing that is wrong with a value. What its methods return is that, or empty.
type checker struct {
	shapes   []Shape
	names    Naming
	required bool
}

// mistyped are the sentences about a value of another type.
var mistyped = map[Type]string{
	String: "must be a string", Number: "must be a number", Boolean: "must be a boolean", Array: "must be an array",
	Dictionary: "must be an object", Object: "must be an object",
}

// kinds are the JSON values that the types take.
var kinds = map[Type]jsonvalue.Kind{
	String: jsonvalue.String, Number: jsonvalue.Number, Boolean: jsonvalue.Bool, Array: jsonvalue.Array,
	Dictionary: jsonvalue.Object, Object: jsonvalue.Object,
}

// value checks a value against the shape of an index. A field of an array or a dictionary lends its name to what is in
// it.
func (c *checker) value(v jsonvalue.Value, index int, field string) string {
	s := &c.shapes[index]
	if s.Type == Any {
		return ""
	}
	if v.Kind() != kinds[s.Type] {
		return "Field '" + field + "' " + mistyped[s.Type]
	}
	switch s.Type {
	case Object:
		return c.object(v, s)
	case Array, Dictionary:
		if why := s.length(float64(v.Len()), field); why != "" {
			return why
		}
		for i := range v.Len() {
			if why := c.value(v.At(i), s.Element, field); why != "" {
				return why
			}
		}
		return ""
	case String:
		return s.text(v.Text(), field)
	case Number:
		return s.number(v.Float(), field)
	case Any, Boolean:
	}
	return ""
}

func (c *checker) object(v jsonvalue.Value, s *Shape) string {
	shapes := make(map[string]int, len(s.Members))
	for i := range s.Members {
		m := &s.Members[i]
		name := m.Name
		if m.SDK != "" && c.names == SDK {
			name = m.SDK
		}
		if _, ok := v.Get(name); !ok && m.Required && c.required {
			return "Required field '" + name + "' is missing"
		}
		shapes[name] = m.Shape
	}
	for i, name := range v.Keys() {
		if shape, ok := shapes[name]; ok {
			if why := c.value(v.At(i), shape, name); why != "" {
				return why
			}
		}
	}
	return ""
}

func (s *Shape) text(text, field string) string {
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, text) {
		return "Field '" + field + "' is not an expected value"
	}
	return s.length(float64(utf8.RuneCountInString(text)), field)
}

func (s *Shape) length(n float64, field string) string {
	switch {
	case s.Min != nil && n < *s.Min:
		return "Field '" + field + "' is smaller than the minimum length"
	case s.Max != nil && n > *s.Max:
		return "Field '" + field + "' exceeds the maximum length"
	}
	return ""
}

func (s *Shape) number(n float64, field string) string {
	switch {
	case s.Min != nil && n < *s.Min:
		return "Field '" + field + "' is less than the minimum value"
	case s.Max != nil && n > *s.Max:
		return "Field '" + field + "' exceeds the maximum value"
	}
	return ""
}
