package asl

import (
	"slices"

	"stepback/asl/source"
)

// Accepted describes what Parse accepts at a place of a definition, for editors that complete text.
type Accepted struct {
	// Fields lists the fields that the object at the place may have, in the order of the documentation; empty if the
	// language does not define its fields.
	Fields []string
	// Values lists the strings that the value at the place may be; empty if any string is accepted.
	Values []string
	// Language is the query language at the place; empty if Fields and Values are.
	Language QueryLanguage
}

// AcceptedAt returns what Parse accepts at a path of a definition. The definition must be JSON, and may have errors.
func (o Options) AcceptedAt(definition string, at source.Path) Accepted {
	d := newDecoder(o, definition)
	d.asked, d.accepted = at, &Accepted{}
	if v, ok := d.read(); ok {
		d.machine(v)
	}
	return *d.accepted
}

// accepts describes what is accepted at the current path, if AcceptedAt asks about it.
func (d *decoder) accepts(describe func(*Accepted)) {
	if d.accepted != nil && slices.Equal(d.path, d.asked) {
		describe(d.accepted)
	}
}

// acceptsIn describes what is accepted as a member of the object at the current path.
func (d *decoder) acceptsIn(key string, describe func(*Accepted)) {
	if n := len(d.asked) - 1; d.accepted != nil && n >= 0 && d.asked[n] == source.Member(key) && slices.Equal(d.path,
		d.asked[:n]) {
		describe(d.accepted)
	}
}

// fieldsOfAnyState returns the fields that states of some type have.
func fieldsOfAnyState(language QueryLanguage) []string {
	var all []string
	for _, t := range stateTypes {
		for _, f := range stateFields[Type(t)].in(language) {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}
