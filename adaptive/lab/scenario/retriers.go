package scenario

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/asl"
	"stepback/asl/document"
	"stepback/retry"
	"stepback/retrypatterns"
	"stepback/statemachine"
)

// The error names of the Amazon States Language that a Retry block treats specially.
const (
	statesALL        = "States.ALL"
	statesTaskFailed = "States.TaskFailed"
	statesTimeout    = "States.Timeout"
	statesRuntime    = "States.Runtime"
)

// Match returns the index of the first retrier that matches the error, by the rules of Step Functions, or -1:
// States.ALL matches every error, States.TaskFailed every one except States.Timeout, and nothing matches
// States.Runtime.
func Match(retriers []Retrier, name string) int {
	if name == statesRuntime {
		return -1
	}
	for i := range retriers {
		for _, e := range retriers[i].Errors {
			if e == name || e == statesALL || e == statesTaskFailed && name != statesTimeout {
				return i
			}
		}
	}
	return -1
}

// FromTable returns the compiled Retry block of a state of the retry table.
func FromTable(state string) ([]Retrier, error) {
	c, err := statemachine.DefaultTable().Compile(state)
	if err != nil {
		return nil, err
	}
	retriers := make([]Retrier, len(c.Retry))
	for i, r := range c.Retry {
		retriers[i] = Retrier{Errors: r.ErrorEquals, Policy: r.Policy()}
	}
	return retriers, nil
}

// FromPattern returns one retrier for all errors, with the policy of a pattern or a preset.
func FromPattern(name string) ([]Retrier, error) {
	p, ok := retrypatterns.PatternNamed(retrypatterns.PatternName(name))
	policy := p.Policy
	if !ok {
		for _, preset := range retry.Presets() {
			if preset.Name == name {
				policy, ok = preset.Policy, true
			}
		}
	}
	if !ok {
		return nil, fmt.Errorf("there is no pattern or preset %q; see stepback retries show", name)
	}
	return []Retrier{{Errors: []string{statesALL}, Policy: policy}}, nil
}

// FromDefinition returns the Retry block of a state of any state machine definition, in JSON or YAML. The state may
// be inside a Map or Parallel state. file is used only in errors.
func FromDefinition(file, text, state string) ([]Retrier, error) {
	doc := document.Read(text, document.Options{YAML: document.IsYAML(text)})
	var machine *asl.Machine
	diagnostics := doc.Diagnose(func(definition string) []asl.Diagnostic {
		m, found := asl.Parse(definition)
		machine = m
		return found
	})
	if asl.HasErrors(diagnostics) || machine == nil {
		return nil, fmt.Errorf("%s is not a valid definition:\n%s", file, asl.Render(diagnostics, text, file))
	}
	var names []string
	found := find(&machine.Graph, state, &names)
	if found == nil {
		return nil, fmt.Errorf("%s has no state %q; its Task states are %s", file, state, strings.Join(names, ", "))
	}
	if len(found.Retry) == 0 {
		return nil, nil
	}
	retriers := make([]Retrier, len(found.Retry))
	for i, r := range found.Retry {
		policy := retry.Policy{
			Interval: time.Duration(r.IntervalSeconds) * time.Second, Rate: r.BackoffRate,
			MaxDelay: time.Duration(r.MaxDelaySeconds) * time.Second, MaxAttempts: int(r.MaxAttempts),
			Jitter: retry.JitterNone,
		}
		if r.FullJitter {
			policy.Jitter = retry.JitterFull
		}
		retriers[i] = Retrier{Errors: r.ErrorEquals, Policy: policy}
	}
	return retriers, nil
}

// find searches for a state by name at any depth and collects the names of Task states on the way.
func find(g *asl.Graph, name string, tasks *[]string) *asl.State {
	for _, s := range g.States {
		if s.Name == name {
			return s
		}
		if s.Type == asl.Task {
			*tasks = append(*tasks, s.Name)
		}
		for _, branch := range s.Branches {
			if found := find(branch, name, tasks); found != nil {
				return found
			}
		}
		if s.Map != nil && s.Map.Processor != nil {
			if found := find(s.Map.Processor, name, tasks); found != nil {
				return found
			}
		}
	}
	return nil
}

// errNoFiles is returned if a scenario names a file but Options.ReadFile is nil.
var errNoFiles = errors.New("files cannot be read here")
