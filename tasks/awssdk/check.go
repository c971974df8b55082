package awssdk

import (
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// check returns an error if the parameters cannot be used for an action. text is the form of the parameters that
// the error quotes. check ignores unknown actions, and parameters that the service itself rejects, such as null for
// a required member. The call reports these.
func check(name, action string, params jsonvalue.Value, text string) error {
	s, err := serviceOf(name)
	if err != nil {
		return nil //nolint:nilerr // which the call finds out
	}
	o, err := s.action(action)
	if err != nil {
		return nil //nolint:nilerr // which the call finds out
	}
	p := parameters{service: s}
	in := p.input(o.Input, params)
	if len(p.problems) == 0 {
		_, p.problems = s.incomplete(params, &missingError{absent(o.Input, in, "")})
	}
	if len(p.problems) > 0 {
		return unusableParameters(text, p.problems)
	}
	return nil
}

// CheckParameters implements engine.ParameterChecker.
func (Integration) CheckParameters(t *engine.Task) error {
	params, err := t.Value()
	if err != nil {
		return nil //nolint:nilerr // which the call finds out
	}
	return check(strings.TrimPrefix(t.Service, "aws-sdk:"), t.Action, params, t.Parameters)
}

// CheckParameters implements engine.ParameterChecker. It does not check parameters that must be prepared, because
// that may require calls; the call reports their problems.
func (o *Optimized) CheckParameters(t *engine.Task) error {
	params, err := t.Value()
	if err != nil || o.prepare != nil {
		return nil //nolint:nilerr // which the call finds out
	}
	if o.check != nil && o.check(params) != nil {
		return nil //nolint:nilerr // which the call finds out first
	}
	return check(o.serviceName, o.action, o.withTexts(params), t.Parameters)
}
