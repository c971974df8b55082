package kubernetes

import (
	"net/url"
	"slices"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// parameters reads the parameters of a task, and collects why they cannot be used.
type parameters struct {
	params   jsonvalue.Value
	problems []string
}

func (p *parameters) invalid(field string) {
	p.problems = append(p.problems, "The value of the field '"+field+"' has an invalid format")
}

// text reads a member that is a string.
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

// cluster reads which cluster is called.
func (p *parameters) cluster() *request {
	return &request{
		cluster: p.text("ClusterName", true), authority: p.text("CertificateAuthority", true),
		endpoint: p.text("Endpoint", true),
	}
}

// lists reads a member whose members are lists of strings.
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

// only refuses all other members.
func (p *parameters) only(names ...string) {
	for _, key := range p.params.Keys() {
		if !slices.Contains(names, key) {
			p.problems = append(p.problems, `The field "`+key+`" is not supported by Step Functions`)
		}
	}
}

// err is the error of parameters that cannot be used; nil when they can.
func (p *parameters) err(t *engine.Task) error {
	if len(p.problems) == 0 {
		return nil
	}
	return engine.NewFailure(engine.StatesRuntime, "The Parameters '"+t.Parameters+
		"' could not be used to start the Task: ["+strings.Join(p.problems, ", ")+"]")
}
