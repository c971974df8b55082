package kubernetes

import (
	"net/url"
	"slices"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// parameters parses the parameters of a task and collects their problems.
type parameters struct {
	params   jsonvalue.Value
	problems []string
}

func (p *parameters) invalid(field string) {
	p.problems = append(p.problems, "The value of the field '"+field+"' has an invalid format")
}

// text returns a string member.
func (p *parameters) text(name string, required bool) string {
	v, given := p.params.Get(name)
	switch {
	case !given && required:
		p.problems = append(p.problems, `The field "`+name+`" is required but was missing`)
	case given && v.Kind() != jsonvalue.String:
		p.problems = append(p.problems, "The value for the field '"+name+"' must be a STRING")
	}
	return v.Text()
}

// cluster returns a request to the cluster that the parameters name.
func (p *parameters) cluster() *request {
	return &request{
		cluster: p.text("ClusterName", true), authority: p.text("CertificateAuthority", true),
		endpoint: p.text("Endpoint", true),
	}
}

// lists returns a member whose members are lists of strings.
func (p *parameters) lists(name string, in jsonvalue.Value) url.Values {
	v, _ := in.Get(name)
	if v.IsNull() {
		return nil
	}
	if v.Kind() != jsonvalue.Object {
		p.invalid(name)
		return nil
	}
	query := url.Values{}
	for i, key := range v.Keys() {
		list := v.At(i)
		if list.Kind() != jsonvalue.Array {
			p.invalid(name)
			return nil
		}
		for _, e := range list.Elements() {
			query.Add(key, content(e))
		}
	}
	return query
}

// only reports a problem for each parameter that is not in names.
func (p *parameters) only(names ...string) {
	for _, key := range p.params.Keys() {
		if !slices.Contains(names, key) {
			p.problems = append(p.problems, `The field "`+key+`" is not supported by Step Functions`)
		}
	}
}

// err returns the error for unusable parameters, or nil if there are no problems.
func (p *parameters) err(t *engine.Task) error {
	if len(p.problems) == 0 {
		return nil
	}
	return engine.NewFailure(engine.StatesRuntime, "The Parameters '"+t.Parameters+
		"' could not be used to start the Task: ["+strings.Join(p.problems, ", ")+"]")
}
