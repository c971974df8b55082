package lab

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/adaptive/lab/scenarios"
)

// Plan is an experiment as a user requests it.
type Plan struct {
	// Scenarios and Policies are names or files. If Policies is empty, the policies are none, static, adaptive, and
	// those that the scenarios' expectations name.
	Scenarios, Policies []string
	// Definition is a file with a state machine definition, and State the name of a state in it. The Retry block of
	// State replaces the Retry block of every scenario. If Definition is empty, the scenarios keep their own.
	Definition, State string
	Seeds             int
	FirstSeed         uint64
	// Precise has the meaning of [Experiment.Precise].
	Precise bool
}

// usualPolicies are the policies that run by default.
var usualPolicies = []string{"none", static, "adaptive"}

// Prepare resolves the files and names of a plan. If that fails, the error names the file and the problem.
func Prepare(p Plan) (Experiment, error) {
	e := Experiment{Seeds: p.Seeds, FirstSeed: p.FirstSeed, Precise: p.Precise}
	wanted := slices.Clone(usualPolicies)
	for _, name := range p.Scenarios {
		s, err := scenarios.Open(name)
		if err != nil {
			return Experiment{}, err
		}
		e.Scenarios = append(e.Scenarios, s)
		for _, x := range s.Expect {
			for _, name := range []string{x.Policy, x.Versus} {
				if slices.Contains(policy.Names(), name) && !slices.Contains(wanted, name) {
					wanted = append(wanted, name)
				}
			}
		}
	}
	if len(p.Policies) > 0 {
		wanted = p.Policies
	}
	for _, name := range wanted {
		opened, err := scenarios.OpenPolicy(name)
		if err != nil {
			return Experiment{}, err
		}
		e.Policies = append(e.Policies, opened)
	}
	if err := p.define(e.Scenarios); err != nil {
		return Experiment{}, err
	}
	_, _, err := e.check()
	return e, err
}

// define replaces the scenarios' retriers by those of the definition.
func (p *Plan) define(all []*scenario.Scenario) error {
	if p.Definition == "" && p.State == "" {
		return nil
	}
	if p.Definition == "" || p.State == "" {
		return errors.New("a definition needs one of its states: give both")
	}
	text, err := os.ReadFile(p.Definition)
	if err != nil {
		return err
	}
	retriers, err := scenario.FromDefinition(p.Definition, string(text), p.State)
	if err != nil {
		return err
	}
	for _, s := range all {
		for i := range s.Workloads {
			if s.Workloads[i].Policy == "" { // another client keeps its own
				s.Workloads[i].Retriers = retriers
			}
		}
		s.Expect = nil // they were written for another Retry block
	}
	return nil
}

// Unmatched returns a sentence that names the scenario's unmatched errors: those that it can raise and that no
// retrier of its Retry blocks matches. It returns "" if there are none.
func Unmatched(s *scenario.Scenario) string {
	var names []string
	for i := range s.Workloads {
		w := &s.Workloads[i]
		for _, name := range raised(s, w) {
			if scenario.Match(w.Retriers, name) < 0 && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s raises %s, which no retrier matches", s.Name, strings.Join(names, ", "))
}

// raised returns the errors that a workload can meet, except permanent ones.
func raised(s *scenario.Scenario, w *scenario.Workload) []string {
	service := &s.Services[w.Call.Service]
	var names []string
	if w.Call.Timeout > 0 {
		names = append(names, w.Call.TimeoutError)
	}
	names = append(names, service.Rejection)
	if service.Quota != nil {
		names = append(names, service.Quota.Error)
	}
	if service.Calls != nil {
		names = append(names, service.Calls.Error)
	}
	for _, e := range service.Errors {
		if e.Kind != scenario.Permanent {
			names = append(names, e.Name)
		}
	}
	for _, f := range s.Faults {
		if f.Service == w.Call.Service && f.P > 0 {
			names = append(names, f.Error)
		}
	}
	return names
}
