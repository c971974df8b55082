package awsjson

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// violations collects everything that is wrong with a request.
type violations struct {
	found []string
	wrong *Error // a value of the wrong JSON type, which ends the check
}

// Check compares a decoded request with its description. The error lists every constraint that is broken, in the service's words.
func Check(members []Member, request map[string]any) *Error {
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
			v.found = append(v.found, "Value null at '"+at+"' failed to satisfy constraint: Member must not be null")
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

func (v *violations) fail(at, value, constraint string) {
	v.found = append(v.found, "Value '"+value+"' at '"+at+"' failed to satisfy constraint: Member must "+constraint)
}

func (v *violations) text(at string, m *Member, s string) {
	length := int64(utf8.RuneCountInString(s))
	if m.Max > 0 && length > m.Max {
		v.fail(at, s, "have length less than or equal to "+strconv.FormatInt(m.Max, 10))
	}
	if length < m.Min {
		v.fail(at, s, "have length greater than or equal to "+strconv.FormatInt(m.Min, 10))
	}
	if m.Pattern != nil && !m.Pattern.MatchString(s) {
		v.fail(at, s, "satisfy regular expression pattern: "+m.Shown)
	}
	if len(m.Enum) > 0 && !contains(m.Enum, s) {
		v.fail(at, s, "satisfy enum value set: ["+strings.Join(m.Enum, ", ")+"]")
	}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func (v *violations) number(at string, m *Member, n json.Number) {
	f, err := n.Float64()
	if _, e := n.Int64(); err != nil || m.Kind == Integer && e != nil {
		v.wrong = malformed(wrongType(n))
		return
	}
	if m.Max > 0 && f > float64(m.Max) {
		v.fail(at, n.String(), "have value less than or equal to "+strconv.FormatInt(m.Max, 10))
	}
	if f < float64(m.Min) {
		v.fail(at, n.String(), "have value greater than or equal to "+strconv.FormatInt(m.Min, 10))
	}
}

func (v *violations) list(at string, m *Member, list []any) {
	size := int64(len(list))
	if m.Max > 0 && size > m.Max {
		v.fail(at, shown(list), "have length less than or equal to "+strconv.FormatInt(m.Max, 10))
	}
	if size < m.Min {
		v.fail(at, shown(list), "have length greater than or equal to "+strconv.FormatInt(m.Min, 10))
	}
	for i, e := range list {
		place := at + "." + strconv.Itoa(i+1) + ".member"
		if m.Element != nil {
			v.value(place, m.Element, e)
		} else {
			v.value(place, &Member{Kind: Structure, Members: m.Members}, e)
		}
	}
}

func (v *violations) mapping(at string, m *Member, o map[string]any) {
	const failed = "' failed to satisfy constraint: Member must have length "
	size := int64(len(o))
	if m.Max > 0 && size > m.Max {
		v.found = append(v.found, "Value at '"+at+failed+"less than or equal to "+strconv.FormatInt(m.Max, 10))
	}
	if size < m.Min {
		v.found = append(v.found, "Value at '"+at+failed+"greater than or equal to "+strconv.FormatInt(m.Min, 10))
	}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		v.value(at+"."+key+".member", m.Element, o[key])
	}
}

// shown writes a list as the service does, elements in brackets.
func shown(list []any) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = fmt.Sprint(e)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
