package asl

import (
	"unicode/utf8"

	"stepback/asl/source"
	"stepback/jsonvalue"
)

// maxNameLength is the maximum length of the names of states and variables, in characters.
const maxNameLength = 80

// states decodes StartAt and States of a machine, a branch or an item processor into the graph and checks its
// transitions.
func (d *decoder) states(o object, g *Graph) {
	before := d.failures
	g.StartAt = o.filled("StartAt")
	states, ok := o.get("States")
	if !ok {
		return
	}
	d.enter("States")
	defer d.leave()
	if states.Kind() != jsonvalue.Object {
		d.expect("Object", states)
		return
	}
	if states.Len() == 0 {
		d.fail("Value cannot be empty").hint("a state machine has at least one state")
		return
	}
	g.States = make([]*State, 0, states.Len())
	for i, name := range states.Keys() {
		d.enter(name)
		d.stateName(name)
		if s := d.state(name, states.At(i)); s != nil {
			g.States = append(g.States, s)
		}
		d.leave()
	}
	d.checkTransitions(g, states.Keys(), d.failures == before && o.has("StartAt"))
}

// nested decodes a graph inside a state. The QueryLanguage of a branch applies to its states. It is subject to the
// same rule as that of a single state: no JSONPath inside JSONata. An item processor has no QueryLanguage.
func (d *decoder) nested(o object) *Graph {
	o.require("States", "StartAt")
	o.str("Comment")
	outer := d.language
	d.language = d.queryLanguage(o, outer)
	d.checkOverride(d.language, outer)
	g := &Graph{}
	d.states(o, g)
	d.language = outer
	return g
}

func (d *decoder) stateName(name string) {
	if d.names[name] {
		d.report(SeverityError, DuplicateStateName, "Duplicate State name: "+name).
			hint("the name of a state is unique in the whole state machine, also inside branches and item processors")
	}
	d.names[name] = true
	if n := utf8.RuneCountInString(name); n > maxNameLength || n == 0 {
		d.report(SeverityError, InvalidStateName, "State name '"+name+"' must have from 1 to 80 characters")
	}
}

// checkRepeated reports members that occur twice in one object. The JSON parser keeps only the last one. It
// searches for positions only if the text has more members than the tree.
func (d *decoder) checkRepeated(v jsonvalue.Value) {
	if textMembers(d.text) == treeMembers(v) {
		return
	}
	source.NewIndex(d.text).Repeated(func(object source.Path, name string, key source.Span) {
		if namesStates(object) {
			d.report(SeverityError, DuplicateStateName, "Duplicate State name: "+name).at(key).
				Location = object.Join(source.Member(name)).String()
			return
		}
		d.report(SeverityAdvice, RepeatedField, "Field '"+name+"' is given twice; only the last one counts").at(key).
			Location = object.String()
	})
}

// namesStates reports whether the path is that of a States object: States at even depth below the root, a branch or a
// processor.
func namesStates(p source.Path) bool {
	if len(p) == 0 || p[len(p)-1] != source.Member("States") {
		return false
	}
	p = p[:len(p)-1]
	for len(p) >= 3 {
		switch last := p[len(p)-1]; {
		case last.Element && p[len(p)-2] == source.Member("Branches") && len(p) >= 4:
			p = p[:len(p)-3]
		case last == source.Member("ItemProcessor") || last == source.Member("Iterator"):
			p = p[:len(p)-2]
		default:
			return false
		}
		if p[len(p)-1] != source.Member("States") {
			return false
		}
		p = p[:len(p)-1]
	}
	return len(p) == 0
}

// textMembers counts the colons outside strings, which is the number of object members in JSON text.
func textMembers(text string) int {
	n, inside := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case c == ':' && !inside:
			n++
		}
	}
	return n
}

func treeMembers(v jsonvalue.Value) int {
	n := len(v.Keys())
	for _, e := range v.Elements() {
		n += treeMembers(e)
	}
	return n
}
