package asl

import "stepback/jsonvalue"

func (d *decoder) failState(o object, s *State) {
	literal := text{pathPossible: o.language == JSONPath}
	s.Error = o.scalar("Error", literal, referencePathOrIntrinsic)
	if e := s.Error.Literal; e != nil && e.Kind() == jsonvalue.String {
		d.raised[e.Text()] = true
	}
	s.Cause = o.scalar("Cause", literal, referencePathOrIntrinsic)
}

// text checks a literal string. It warns if the string looks like a path, because paths are not evaluated there.
type text struct {
	pathPossible bool // the field has a …Path form here
}

func (t text) check(d *decoder, v jsonvalue.Value) {
	if v.Kind() != jsonvalue.String {
		d.expect("String", v)
		return
	}
	if t.pathPossible {
		d.warnNoPath(v.Text())
	}
}

// warnNoPath warns about a literal that looks like a path, for fields that have a …Path form.
func (d *decoder) warnNoPath(s string) {
	if looksDynamic(s) {
		name := d.path[len(d.path)-1].Name
		d.report(SeverityWarning, NoPath, "The value looks like a path, but the name of the field '"+name+
			"' does not end with 'Path'").
			hint("use '" + name + "Path' for a path; '" + name + "' is used as text")
	}
}
