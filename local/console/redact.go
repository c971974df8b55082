package console

import (
	"slices"
	"strings"

	"stepback/jsonvalue"
)

// redaction hides members of payloads.
type redaction struct {
	names []string   // names of members that are hidden everywhere
	paths [][]string // paths from the root
}

func newRedaction(of []string) redaction {
	var r redaction
	for _, one := range of {
		if path, ok := strings.CutPrefix(one, "$."); ok {
			r.paths = append(r.paths, strings.Split(path, "."))
		} else if one != "" {
			r.names = append(r.names, one)
		}
	}
	return r
}

// any reports whether anything is hidden.
func (r *redaction) any() bool { return len(r.names)+len(r.paths) > 0 }

// hiddenText replaces hidden values.
const hiddenText = "(hidden)"

// text returns JSON text without the hidden members. Text that is not JSON is hidden entirely, because its content is
// unknown.
func (r *redaction) text(s string) string {
	if !r.any() || s == "" {
		return s
	}
	v, err := jsonvalue.Parse(s)
	if err != nil {
		return hiddenText
	}
	return r.value(v, nil).JSON()
}

// cause redacts the cause of a failure. Causes are JSON or plain text; plain text is kept.
func (r *redaction) cause(s string) string {
	if !strings.HasPrefix(strings.TrimSpace(s), "{") && !strings.HasPrefix(strings.TrimSpace(s), "[") {
		return s
	}
	return r.text(s)
}

func (r *redaction) value(v jsonvalue.Value, at []string) jsonvalue.Value {
	switch v.Kind() {
	case jsonvalue.Object:
		b := jsonvalue.NewObject(v.Len())
		for i, name := range v.Keys() {
			member := v.At(i)
			here := append(slices.Clone(at), name)
			if slices.Contains(r.names, name) ||
				slices.ContainsFunc(r.paths, func(p []string) bool { return matches(p, here) }) {
				member = jsonvalue.OfString(hiddenText)
			} else {
				member = r.value(member, here)
			}
			b.Set(name, member)
		}
		return b.Value()
	case jsonvalue.Array:
		var elements []jsonvalue.Value
		for _, e := range v.Elements() {
			elements = append(elements, r.value(e, at))
		}
		return jsonvalue.OfArray(elements)
	case jsonvalue.String:
		// A string may contain JSON, as in the causes of functions and the bodies of messages.
		if s := strings.TrimSpace(v.Text()); strings.HasPrefix(s, "{") {
			if inner, err := jsonvalue.Parse(s); err == nil {
				return jsonvalue.OfString(r.value(inner, at).JSON())
			}
		}
	default:
	}
	return v
}

func matches(pattern, path []string) bool {
	return slices.EqualFunc(pattern, path, func(p, name string) bool { return p == "*" || p == name })
}
