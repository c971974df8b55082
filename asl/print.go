package asl

import (
	"bytes"
	"cmp"
	"encoding/json"

	"stepback/jsonvalue"
)

// MarshalJSON returns the definition as compact JSON. See Print.
func (m *Machine) MarshalJSON() ([]byte, error) {
	return m.Value().AppendJSON(nil), nil
}

// Print returns the definition as indented JSON with a trailing line feed. Fields are in a fixed order, and states
// in the machine's order. Parsing the text gives an equal machine. Retriers are printed with their defaults; other
// defaults and the old names of fields are omitted. Comments are printed only for machines, states, rules, retriers
// and catchers.
func Print(m *Machine) string {
	var out bytes.Buffer
	// The text comes from a JSON tree, so Indent cannot fail.
	_ = json.Indent(&out, m.Value().AppendJSON(nil), "", "  ")
	out.WriteByte('\n')
	return out.String()
}

// Value returns the definition as a JSON tree.
func (m *Machine) Value() jsonvalue.Value {
	language := cmp.Or(m.QueryLanguage, JSONPath)
	w := newWriter(language, language)
	w.text("Comment", m.Comment)
	if language == JSONata {
		w.text("QueryLanguage", string(JSONata))
	}
	w.graph(&m.Graph)
	w.integer("TimeoutSeconds", m.TimeoutSeconds)
	return w.object.Value()
}

// writer collects the members of one object and omits empty ones.
type writer struct {
	object  jsonvalue.ObjectBuilder
	machine QueryLanguage // of the whole machine
	state   QueryLanguage // of the state being written
}

func newWriter(machine, state QueryLanguage) writer {
	return writer{object: jsonvalue.NewObject(8), machine: machine, state: state}
}

// locationField returns the name of the field that contains the bucket of a reader or writer.
func (w writer) locationField() string {
	if w.state == JSONata {
		return "Arguments"
	}
	return "Parameters"
}

func (w writer) text(key, s string) {
	if s != "" {
		w.object.Set(key, jsonvalue.OfString(s))
	}
}

func (w writer) integer(key string, i int64) {
	if i != 0 {
		w.object.Set(key, jsonvalue.OfInt(i))
	}
}

func (w writer) any(key string, v *jsonvalue.Value) {
	if v != nil {
		w.object.Set(key, *v)
	}
}

func (w writer) path(key string, p Path) {
	switch {
	case !p.Present:
	case p.Null:
		w.object.Set(key, jsonvalue.Value{})
	default:
		w.object.Set(key, jsonvalue.OfString(p.Text))
	}
}

func (w writer) scalar(key string, s Scalar) {
	w.any(key, s.Literal)
	w.text(key+"Path", s.Path)
}

func (w writer) texts(key string, list []string) {
	elements := make([]jsonvalue.Value, len(list))
	for i, s := range list {
		elements[i] = jsonvalue.OfString(s)
	}
	w.object.Set(key, jsonvalue.OfArray(elements))
}

// inner writes an object as a member.
func (w writer) inner(key string, write func(writer)) {
	w.object.Set(key, w.element(write))
}

func (w writer) element(write func(writer)) jsonvalue.Value {
	inner := newWriter(w.machine, w.state)
	write(inner)
	return inner.object.Value()
}

func (w writer) graph(g *Graph) {
	w.object.Set("StartAt", jsonvalue.OfString(g.StartAt))
	states := jsonvalue.NewObject(len(g.States))
	for _, s := range g.States {
		states.Set(s.Name, w.element(func(w writer) { w.writeState(s) }))
	}
	w.object.Set("States", states.Value())
}
