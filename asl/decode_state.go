package asl

import (
	"strings"

	"stepback/jsonvalue"
)

// stateTypes lists the state types in the service's order.
var stateTypes = []string{"Task", "Wait", "Pass", "Succeed", "Fail", "Choice", "Parallel", "Map"}

// state decodes the state at the current path; it returns nil if the state's type is unknown.
func (d *decoder) state(name string, v jsonvalue.Value) *State {
	if v.Kind() != jsonvalue.Object {
		d.expect("Object", v)
		return nil
	}
	kind := d.stateType(v)
	if kind == "" {
		d.accepts(func(a *Accepted) { a.Language = d.stateLanguage(v); a.Fields = fieldsOfAnyState(a.Language) })
		return nil
	}
	s := &State{Name: name, Type: kind, QueryLanguage: d.stateLanguage(v)}
	o, _ := d.object(v, stateFields[kind], s.QueryLanguage)
	o.choice("QueryLanguage", string(JSONPath), string(JSONata))
	s.Comment = o.str("Comment")
	d.transition(o, s)
	d.dataFlow(o, s)
	d.byType(o, s)
	s.Retry = d.retriers(o)
	s.Catch = d.catchers(o)
	return s
}

func (d *decoder) stateType(v jsonvalue.Value) Type {
	d.acceptsIn("Type", func(a *Accepted) { a.Values = stateTypes })
	t, ok := v.Get("Type")
	if !ok {
		d.fail("These fields are required: [Type]").hint("the types are " + strings.Join(stateTypes, ", "))
		return ""
	}
	d.enter("Type")
	defer d.leave()
	if t.Kind() != jsonvalue.String {
		d.expect("String", t)
		return ""
	}
	if stateFields[Type(t.Text())] == nil {
		d.fail("The field 'Type' should have one of these values: [%s]", strings.Join(stateTypes, ", ")).
			hint(didYouMean(t.Text(), stateTypes))
		return ""
	}
	return Type(t.Text())
}

// stateLanguage returns the query language that applies to the state. It is the state's own, otherwise that of its
// branch or processor, otherwise that of the whole machine. It is never that of a surrounding Map or Parallel
// state.
func (d *decoder) stateLanguage(v jsonvalue.Value) QueryLanguage {
	own, _ := v.Get("QueryLanguage")
	switch QueryLanguage(own.Text()) {
	case JSONata:
		return JSONata
	case JSONPath:
		d.checkOverride(JSONPath, d.language)
		return JSONPath
	}
	return d.language
}

// checkOverride rejects JSONPath inside JSONata.
func (d *decoder) checkOverride(own, outer QueryLanguage) {
	if own == JSONPath && outer == JSONata {
		d.fail("'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine").
			onKey("QueryLanguage").hint("leave the state machine at JSONPath and set JSONata on single states")
	}
}

// transition decodes Next and End for the types that have them.
func (d *decoder) transition(o object, s *State) {
	if _, has := o.fields.language["Next"]; !has {
		return
	}
	s.Next = o.filled("Next")
	s.End = o.boolean("End")
	switch {
	case s.End && o.has("Next"):
		d.fail("There should only be one of the following fields: [Next, End]").onKey("End")
	case !s.End && !o.has("Next"):
		d.fail("This object should have only one of the following fields: [Next, End]").
			hint(`name the next state in "Next", or end here with "End": true`)
	}
}

// dataFlow decodes the fields that most types share.
func (d *decoder) dataFlow(o object, s *State) {
	s.InputPath = o.path("InputPath", anyPath)
	s.OutputPath = o.path("OutputPath", anyPath)
	s.ResultPath = o.path("ResultPath", resultPath)
	if s.Type != Map {
		s.Parameters = o.template("Parameters", 0)
	}
	s.ResultSelector = o.template("ResultSelector", 0)
	s.Arguments = o.template("Arguments", 0)
	allowed := resultOf(s.Type)
	s.Output = o.template("Output", allowed)
	s.Assign = d.assign(o, allowed)
}

func (d *decoder) byType(o object, s *State) {
	switch s.Type {
	case Task:
		d.task(o, s)
	case Parallel:
		d.parallel(o, s)
	case Map:
		d.mapState(o, s)
	case Pass:
		d.pass(o, s)
	case Wait:
		d.wait(o, s)
	case Choice:
		d.choice(o, s)
	case Fail:
		d.failState(o, s)
	case Succeed: // has only the common fields
	}
}
