package analysis

import (
	"fmt"

	"stepback/asl"
	"stepback/retry"
	"stepback/retrypatterns"
)

// RulesOf returns the Retry arrays of all Task states of a definition, at any depth, by state. It returns an error if
// the definition is not valid.
func RulesOf(definition string) (map[string][]retrypatterns.Retrier, error) {
	machine, found := asl.Parse(definition)
	if machine == nil || asl.HasErrors(found) {
		return nil, fmt.Errorf("the definition is not valid: %s", first(found))
	}
	all := map[string][]retrypatterns.Retrier{}
	collect(&machine.Graph, all)
	return all, nil
}

func first(found []asl.Diagnostic) string {
	for _, d := range found {
		if d.Severity == asl.SeverityError {
			if d.Location == "" {
				return fmt.Sprintf("%s (line %d)", d.Message, d.Line)
			}
			return fmt.Sprintf("%s (%s)", d.Message, d.Location)
		}
	}
	return "it cannot be read"
}

func collect(g *asl.Graph, all map[string][]retrypatterns.Retrier) {
	for _, s := range g.States {
		if s.Type == asl.Task {
			all[s.Name] = retriersOf(s.Retry)
		}
		for _, branch := range s.Branches {
			collect(branch, all)
		}
		if s.Map != nil && s.Map.Processor != nil {
			collect(s.Map.Processor, all)
		}
	}
}

func retriersOf(all []asl.Retrier) []retrypatterns.Retrier {
	out := make([]retrypatterns.Retrier, len(all))
	for i, r := range all {
		jitter := retry.JitterNone
		if r.FullJitter {
			jitter = retry.JitterFull
		}
		out[i] = retrypatterns.Retrier{
			ErrorEquals: r.ErrorEquals, IntervalSeconds: int(r.IntervalSeconds), MaxAttempts: int(r.MaxAttempts),
			BackoffRate: r.BackoffRate, MaxDelaySeconds: int(r.MaxDelaySeconds), JitterStrategy: jitter,
		}
	}
	return out
}

// match returns the index of the retrier for an error, by the rules of Step Functions, or -1.
func match(retry []retrypatterns.Retrier, name string) int {
	if name == "States.Runtime" {
		return -1
	}
	for i := range retry {
		for _, e := range retry[i].ErrorEquals {
			if e == name || e == "States.ALL" || e == "States.TaskFailed" && name != "States.Timeout" {
				return i
			}
		}
	}
	return -1
}
