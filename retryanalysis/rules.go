package retryanalysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/document"
	"stepback/retrypatterns"
)

// RulesOf are the Retry arrays of all Task states of a definition, at any depth, by state. A definition that does not
// parse is an error.
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
		jitter := retrypatterns.JitterNone
		if r.FullJitter {
			jitter = retrypatterns.JitterFull
		}
		out[i] = retrypatterns.Retrier{
			ErrorEquals: r.ErrorEquals, IntervalSeconds: int(r.IntervalSeconds), MaxAttempts: int(r.MaxAttempts),
			BackoffRate: r.BackoffRate, MaxDelaySeconds: int(r.MaxDelaySeconds), JitterStrategy: jitter,
		}
	}
	return out
}

// PolicyOf reads a policy file: a state machine definition, or the Retry arrays of states by name, as retries show
// --json prints them; in JSON or YAML. AWS's rules for Retry arrays hold, and its defaults. The file's name only stands
// in errors.
func PolicyOf(file, text string) (map[string][]retrypatterns.Retrier, error) {
	yaml := !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{")
	doc := document.Read(text, document.Options{YAML: yaml})
	if asl.HasErrors(doc.Problems) {
		return nil, fmt.Errorf("%s: %s", file, first(doc.Problems))
	}
	definition, err := asDefinition(doc.JSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	states, err := RulesOf(definition)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(states) == 0 {
		return nil, fmt.Errorf("%s: it has no Task state", file)
	}
	return states, nil
}

// asDefinition is a definition as it is, or one around Retry arrays.
func asDefinition(text string) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return "", fmt.Errorf("it is neither a definition nor an object of Retry arrays by state: %w", err)
	}
	if _, ok := members["StartAt"]; ok {
		return text, nil
	}
	if len(members) == 0 {
		return "", errors.New("it names no state; write {\"STATE\": [{\"ErrorEquals\": [...], ...}]}")
	}
	names := slices.Sorted(maps.Keys(members))
	states := map[string]map[string]any{}
	for i, name := range names {
		state := map[string]any{"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Retry": members[name],
			"Parameters": map[string]string{"FunctionName": "any"}}
		if i+1 < len(names) {
			state["Next"] = names[i+1]
		} else {
			state["End"] = true
		}
		states[name] = state
	}
	made, err := json.Marshal(map[string]any{"StartAt": names[0], "States": states})
	return string(made), err
}

// match is the index of the retrier that takes an error, as Step Functions matches, or -1.
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
