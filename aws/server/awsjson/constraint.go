package awsjson

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
)

// violations collects everything that is wrong with a request.
type violations struct {
	found []string
	wrong *aws.Error // a value of the wrong JSON type, which ends the check
}

// Check compares a decoded request with its description. The error lists every constraint that is broken, in the
// service's words.
func Check(members []Member, request map[string]any) *aws.Error {
	v := &violations{}
	v.structure("", members, request)
	switch {
	case v.wrong != nil:
		return v.wrong
	case len(v.found) == 0:
		return nil
	}
	plural := ""
	if len(v.found) > 1 {
		plural = "s"
	}
	return Invalid(fmt.Sprintf("%d validation error%s detected: %s", len(v.found), plural, strings.Join(v.found, "; ")))
}

func (v *violations) structure(path string, members []Member, o map[string]any) {
	for i := range members {
		m := &members[i]
		at := path + m.Name
		value := o[m.Name]
		if value != nil {
			v.value(at, m, value)
		} else if m.Required {
			v.fail(at, m, " null", notNull)
		}
	}
}

func (v *violations) value(at string, m *Member, value any) {
	var ok bool
	switch m.Kind {
	case String:
		var s string
		if s, ok = value.(string); ok {
			v.text(at, m, s)
		}
	case Integer, Number:
		var n json.Number
		if n, ok = value.(json.Number); ok {
			v.number(at, m, n)
		}
	case Boolean:
		_, ok = value.(bool)
	case List:
		var list []any
		if list, ok = value.([]any); ok {
			v.list(at, m, list)
		}
	case Structure:
		var o map[string]any
		if o, ok = value.(map[string]any); ok {
			v.structure(at+".", m.Members, o)
		}
	case Map:
		var o map[string]any
		if o, ok = value.(map[string]any); ok {
			v.mapping(at, m, o)
		}
	}
	if !ok && v.wrong == nil {
		v.wrong = malformed(wrongType(value))
	}
}

// wrongType is how the service says that a value is not of the member's type.
func wrongType(value any) string {
	switch value.(type) {
	case nil:
		return ""
	case string:
		return "STRING_VALUE can not be converted to the expected type"
	case json.Number:
		return "NUMBER_VALUE can not be converted to the expected type"
	case bool:
		return "BOOLEAN_VALUE can not be converted to the expected type"
	case []any:
		return "Unexpected list structure supplied as input"
	default:
		return "Start of structure or map found where not expected."
	}
}

// fail notes a constraint that a value breaks. What is shown of the value begins with a blank.
func (v *violations) fail(at string, m *Member, shown, constraint string) {
	if m.Sensitive {
		shown = ""
	}
	v.found = append(v.found, "Value"+shown+" at '"+at+"' failed to satisfy constraint: "+constraint)
}

func quoted(value string) string { return " '" + value + "'" }

func (v *violations) text(at string, m *Member, s string) {
	for _, constraint := range m.broken(s) {
		v.fail(at, m, quoted(s), constraint)
	}
}

func (v *violations) number(at string, m *Member, n json.Number) {
	f, err := n.Float64()
	if _, e := n.Int64(); err != nil || m.Kind == Integer && e != nil {
		v.wrong = malformed(wrongType(n))
		return
	}
	if m.Max > 0 && f > float64(m.Max) {
		v.fail(at, m, quoted(n.String()), "Member must have value less than or equal to "+strconv.FormatInt(m.Max, 10))
	}
	if f < float64(m.Min) {
		v.fail(at, m, quoted(n.String()), "Member must have value greater than or equal to "+strconv.FormatInt(m.Min,
			10))
	}
}

func (v *violations) list(at string, m *Member, list []any) {
	for _, constraint := range m.size(len(list)) {
		v.fail(at, m, quoted(m.shownList(list)), constraint)
	}
	if m.Element != nil {
		if v.elements(m.Element, slices.Values(list)) {
			v.fail(at, m, quoted(m.shownList(list)), "Member must satisfy constraint: "+m.Element.constraints())
		}
		return
	}
	for i, e := range list {
		v.value(at+"."+strconv.Itoa(i+1)+".member", &Member{Kind: Structure, Members: m.Members}, e)
	}
}

func (v *violations) mapping(at string, m *Member, o map[string]any) {
	for _, constraint := range m.size(len(o)) {
		v.fail(at, m, quoted(shownMap(o)), constraint)
	}
	if v.elements(m.Element, maps.Values(o)) {
		v.fail(at, m, quoted(shownMap(o)), "Map value must satisfy constraint: "+m.Element.constraints())
	}
}

// elements reports whether any of the texts in a list or a map breaks a constraint.
func (v *violations) elements(m *Member, values iter.Seq[any]) (broken bool) {
	for value := range values {
		s, ok := value.(string)
		switch {
		case value == nil:
			broken = true
		case !ok && v.wrong == nil:
			v.wrong = malformed(wrongType(value))
		case ok && len(m.broken(s)) > 0:
			broken = true
		}
	}
	return broken
}

// shownList writes a list as the service does, elements in brackets.
func (m *Member) shownList(list []any) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = shown(e)
		if o, ok := e.(map[string]any); ok && m.Shape != "" {
			parts[i] = m.shownStructure(o)
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// shownStructure writes a structure of a list, Shape(member=value), without the members that it does not have.
func (m *Member) shownStructure(o map[string]any) string {
	var parts []string
	for i := range m.Members {
		name := m.Members[i].Name
		if value, ok := o[name]; ok {
			parts = append(parts, name+"="+shown(value))
		}
	}
	return m.Shape + "(" + strings.Join(parts, ", ") + ")"
}

// shownMap writes a map as the service does, {key=value}, with its keys sorted.
func shownMap(o map[string]any) string {
	parts := make([]string, 0, len(o))
	for _, key := range slices.Sorted(maps.Keys(o)) {
		parts = append(parts, key+"="+shown(o[key]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case []any:
		return (&Member{}).shownList(v)
	case map[string]any:
		return shownMap(v)
	default:
		return fmt.Sprint(v)
	}
}
