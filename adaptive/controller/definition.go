package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/adaptive/controller/decide"
	"stepback/asl"
	"stepback/jsonvalue"
	"stepback/retrypatterns"
	"stepback/retrypatterns/review"
)

// Target is a Task state with a Retry array. Function is the Lambda function that it calls; empty if it names none.
type Target struct {
	decide.Subject
	Function string
}

// Targets returns the Task states of a definition that have a Retry array, including those inside Map and Parallel
// states. If Step Functions would reject the definition, the error contains the diagnostics.
func Targets(definition string) ([]Target, error) {
	if err := accepted(definition); err != nil {
		return nil, err
	}
	root, err := jsonvalue.Parse(definition)
	if err != nil {
		return nil, err
	}
	machine, _ := root.Get("TimeoutSeconds")
	seconds, _ := machine.Int()
	var all []Target
	err = walk(root, false, func(name string, state jsonvalue.Value, closed bool) error {
		retry, ok := state.Get("Retry")
		if kind, _ := state.Get("Type"); !ok || kind.Text() != "Task" {
			return nil
		}
		t := Target{Subject: decide.Subject{
			State: name, Closed: closed, MachineTimeout: time.Duration(seconds) * time.Second,
		}}
		if t.Base, err = retriers(retry); err != nil {
			return fmt.Errorf("state %s: %w", name, err)
		}
		timeout, _ := state.Get("TimeoutSeconds")
		own, _ := timeout.Int()
		t.Timeout = time.Duration(own) * time.Second
		t.Function = function(state)
		all = append(all, t)
		return nil
	})
	return all, err
}

// Step Functions' defaults for omitted fields of a retrier.
const (
	defaultMaxAttempts     = 3
	defaultIntervalSeconds = 1
	defaultBackoffRate     = 2
)

// retriers parses a Retry array and fills in omitted fields, so that multiplying a field has the right effect.
func retriers(retry jsonvalue.Value) ([]retrypatterns.Retrier, error) {
	all := make([]retrypatterns.Retrier, 0, retry.Len())
	for _, v := range retry.Elements() {
		r := retrypatterns.Retrier{MaxAttempts: defaultMaxAttempts}
		if err := json.Unmarshal([]byte(v.JSON()), &r); err != nil {
			return nil, err
		}
		if r.MaxAttempts > 0 {
			r.IntervalSeconds = max(r.IntervalSeconds, defaultIntervalSeconds)
			if r.BackoffRate < 1 {
				r.BackoffRate = defaultBackoffRate
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// function returns the name of the Lambda function that a Task state calls; empty if it calls none, or if the name
// comes from its input.
func function(state jsonvalue.Value) string {
	resource, _ := state.Get("Resource")
	name := resource.Text()
	if strings.HasPrefix(name, "arn:aws:states:::lambda:invoke") {
		for _, member := range []string{"Parameters", "Arguments"} {
			if parameters, ok := state.Get(member); ok {
				f, _ := parameters.Get("FunctionName")
				name = f.Text()
			}
		}
	}
	if _, after, ok := strings.Cut(name, ":function:"); ok {
		name, _, _ = strings.Cut(after, ":")
	}
	if strings.ContainsAny(name, ":$%{ ") {
		return ""
	}
	return name
}

// walk calls visit for every state; closed is true for states inside a Map.
func walk(graph jsonvalue.Value, closed bool, visit func(name string, s jsonvalue.Value, closed bool) error) error {
	states, _ := graph.Get("States")
	for i, name := range states.Keys() {
		s := states.At(i)
		if err := visit(name, s, closed); err != nil {
			return err
		}
		for _, member := range []string{"ItemProcessor", "Iterator"} {
			if inner, ok := s.Get(member); ok {
				if err := walk(inner, true, visit); err != nil {
					return err
				}
			}
		}
		if branches, ok := s.Get("Branches"); ok {
			for _, b := range branches.Elements() {
				if err := walk(b, closed, visit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Replace returns the definition with the Retry array of one state replaced. Everything else keeps its order and
// its numbers. It returns an error if the state does not exist.
func Replace(definition, state string, retry []retrypatterns.Retrier) (string, error) {
	root, err := jsonvalue.Parse(definition)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(retry)
	if err != nil {
		return "", err
	}
	array, err := jsonvalue.Parse(string(text))
	if err != nil {
		return "", err
	}
	out, ok := replaced(root, state, array)
	if !ok {
		return "", fmt.Errorf("the definition has no state %q", state)
	}
	return out.JSON(), nil
}

func replaced(graph jsonvalue.Value, state string, retry jsonvalue.Value) (jsonvalue.Value, bool) {
	states, _ := graph.Get("States")
	for i, name := range states.Keys() {
		s, done := states.At(i), false
		if name == state {
			s, done = s.With("Retry", retry), true
		}
		for _, member := range []string{"ItemProcessor", "Iterator"} {
			if inner, ok := s.Get(member); ok && !done {
				if inner, done = replaced(inner, state, retry); done {
					s = s.With(member, inner)
				}
			}
		}
		if branches, ok := s.Get("Branches"); ok && !done {
			for j, b := range branches.Elements() {
				if b, done = replaced(b, state, retry); done {
					s = s.With("Branches", branches.WithIndex(j, b))
					break
				}
			}
		}
		if done {
			return graph.With("States", states.With(name, s)), true
		}
	}
	return graph, false
}

// Hash returns a hash of the definition's content; white space and the order of object keys do not count.
func Hash(definition string) string {
	var tree any
	text := []byte(definition)
	if json.Unmarshal(text, &tree) == nil {
		if canonical, err := json.Marshal(tree); err == nil {
			text = canonical
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// accepted returns an error if Step Functions would reject the definition.
func accepted(definition string) error {
	_, diagnostics := asl.Parse(definition)
	if asl.HasErrors(diagnostics) {
		return fmt.Errorf("the definition would be rejected by Step Functions: %s",
			asl.InvalidDefinition(diagnostics))
	}
	return nil
}

// reviewed returns an error if the review finds a problem in the definition that it does not find in the base. A
// problem is an error, or waits that outlast the execution. Findings that errors are no longer retried are ignored,
// because that is the purpose of a cut.
func reviewed(definition, base string) error {
	old := map[asl.Code]int{}
	grave := func(text string) []asl.Diagnostic {
		m, diagnostics := asl.Parse(text)
		if asl.HasErrors(diagnostics) {
			return nil
		}
		report := review.Definition(text, m, review.Options{})
		return slices.DeleteFunc(asl.Apart(report.Advice()), func(d asl.Diagnostic) bool {
			return d.Severity != asl.SeverityError && d.Code != "RETRIES_OUTLAST_EXECUTION"
		})
	}
	for _, a := range grave(base) {
		old[a.Code]++
	}
	for _, a := range grave(definition) {
		if old[a.Code]--; old[a.Code] < 0 {
			return fmt.Errorf("the review found errors in the definition: %s", a)
		}
	}
	return nil
}
