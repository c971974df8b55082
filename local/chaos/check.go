package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/aws/model"
	"stepback/internal/spelling"
)

// Service is a service into which faults can be injected.
type Service struct {
	// Model is the name of its API model. Signing is its name in signatures, which is accepted as well.
	Model, Signing string
}

// resolve checks that the service, action and error of a Spec exist, and replaces services by the names of their
// models.
func (s *Set) resolve(spec Spec) (Spec, error) {
	if strings.Contains(spec.Service, "*") {
		if !slices.ContainsFunc(s.services, func(o Service) bool { return matches(spec.Service, o.Model) }) {
			return spec, fmt.Errorf("no service is called %s; there are %s", spec.Service, strings.Join(s.names(), ", "))
		}
	} else {
		i := slices.IndexFunc(s.services, func(o Service) bool { return o.Model == spec.Service })
		if i < 0 {
			i = slices.IndexFunc(s.services, func(o Service) bool { return o.Signing == spec.Service })
		}
		if i < 0 {
			return spec, unknown("service", spec.Service, s.names())
		}
		spec.Service = s.services[i].Model
	}
	actions, errors, err := s.actionsOf(spec)
	if err != nil {
		return spec, err
	}
	return spec, checkError(&spec, actions, errors)
}

// names returns the services by the names of their models.
func (s *Set) names() []string {
	all := make([]string, len(s.services))
	for i, o := range s.services {
		all[i] = o.Model
	}
	slices.Sort(all)
	return all
}

// actionsOf returns the actions that a Spec matches, as MODEL:ACTION, and the errors that they have.
func (s *Set) actionsOf(spec Spec) (actions []string, errors map[string]bool, err error) {
	var all []string
	errors = map[string]bool{}
	for _, o := range s.services {
		if !matches(spec.Service, o.Model) {
			continue
		}
		m, err := model.Find(o.Model)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, m.Operations()...)
		for _, name := range m.Operations() {
			if !matches(spec.Action, name) {
				continue
			}
			actions = append(actions, o.Model+":"+name)
			op, err := m.Operation(name)
			if err != nil {
				return nil, nil, err
			}
			for _, e := range op.Errors {
				errors[e.Name] = true
			}
		}
	}
	if len(actions) == 0 {
		return nil, nil, unknown("action of "+spec.Service, spec.Action, all)
	}
	return actions, errors, nil
}

func checkError(spec *Spec, actions []string, known map[string]bool) error {
	if spec.Error == Partial {
		if !slices.ContainsFunc(actions, func(a string) bool { return batches[a] != nil }) {
			return fmt.Errorf("no action of %s:%s has a batch that can fail in part; these have: %s", spec.Service,
				spec.Action, strings.Join(slices.Sorted(maps.Keys(batches)), ", "))
		}
		return nil
	}
	if slices.Contains(kinds, spec.Error) || spec.custom || known[spec.Error] {
		return nil
	}
	if _, ok := commonErrors[spec.Error]; ok {
		return nil
	}
	if strings.Contains(strings.ToLower(spec.Error), "timeout") && spelling.Nearest(spec.Error, kinds) == "" {
		return fmt.Errorf("no error of %s:%s is called %s: hang makes clients wait until they give up (custom=%s injects it anyway)",
			spec.Service, spec.Action, spec.Error, spec.Error)
	}
	all := slices.Concat(kinds, slices.Collect(maps.Keys(known)), slices.Collect(maps.Keys(commonErrors)))
	return fmt.Errorf("%w (custom=%s injects it anyway)",
		unknown("error of "+spec.Service+":"+spec.Action, spec.Error, all), spec.Error)
}

// unknown returns an error for a name that does not exist, with a suggestion if a similar one does.
func unknown(what, name string, all []string) error {
	slices.Sort(all)
	if meant := spelling.Nearest(name, all); meant != "" {
		return fmt.Errorf("there is no %s %q: did you mean %s?", what, name, meant)
	}
	const few = 40
	if len(all) > few {
		return fmt.Errorf("there is no %s %q", what, name)
	}
	return fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(all, ", "))
}
