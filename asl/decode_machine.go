package asl

import "stepback/jsonvalue"

// languageVersion is the only version of the states language.
const languageVersion = "1.0"

func (d *decoder) machine(v jsonvalue.Value) *Machine {
	o, ok := d.object(v, machineFields, JSONPath)
	if !ok {
		return nil
	}
	o.requireFor(wrapping(v), "States", "StartAt")
	m := &Machine{
		Comment:        o.str("Comment"),
		Version:        languageVersion,
		QueryLanguage:  d.queryLanguage(o, JSONPath),
		TimeoutSeconds: o.integer("TimeoutSeconds", positiveSeconds, 0),
	}
	o.choice("Version", languageVersion)
	d.language = m.QueryLanguage
	d.states(o, &m.Graph)
	d.checkVariables(&m.Graph)
	d.checkRepeated(v)
	d.forgetRaised()
	return m
}

// standalone decodes a single state that is not inside a machine.
func (d *decoder) standalone(name string, v jsonvalue.Value) *Machine {
	m := &Machine{Version: languageVersion, QueryLanguage: JSONPath, Graph: Graph{StartAt: name}}
	if s := d.state(name, v); s != nil {
		m.States = []*State{s}
	}
	d.checkVariables(&m.Graph)
	for _, f := range d.findings {
		if f.Location != "" {
			f.Location = standaloneLocation(name, f.Location)
		}
	}
	return m
}

// standaloneLocation returns the location that the service would report for a single state. The service validates a
// machine that contains the state.
func standaloneLocation(name, location string) string {
	if location == "/" {
		return "/States/" + name
	}
	return "/States/" + name + location
}

// queryLanguage decodes a QueryLanguage field; an invalid value is reported and then treated as absent.
func (d *decoder) queryLanguage(o object, inherited QueryLanguage) QueryLanguage {
	if chosen := o.choice("QueryLanguage", string(JSONPath), string(JSONata)); chosen != "" {
		return QueryLanguage(chosen)
	}
	return inherited
}
