package mock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"stepback/engine"
	"stepback/internal/spelling"
	"stepback/jsonvalue"
)

// Execution answers the tasks of one execution, and of the child executions of its Map Runs, as a test case
// specifies. It implements engine.Interceptor and engine.Fitting and is safe for concurrent use.
type Execution struct {
	machine, name string
	states        testCase

	mu    sync.Mutex
	calls map[string]int // invocations so far, by state
}

// Execution returns an interceptor that answers the tasks of one execution according to a test case of a state
// machine.
func (c *Config) Execution(machine, testCase string) (engine.Interceptor, error) {
	cases, ok := c.machines[machine]
	if !ok {
		return nil, c.noMachine(machine)
	}
	states, ok := cases[testCase]
	if !ok {
		return nil, fmt.Errorf("the mock configuration has no test case %s of the state machine %s; it has %s%s",
			testCase, machine, listed(c.TestCases(machine)), meant(testCase, c.TestCases(machine)))
	}
	return &Execution{machine: machine, name: testCase, states: states, calls: map[string]int{}}, nil
}

func (c *Config) noMachine(name string) error {
	return fmt.Errorf("the mock configuration has no state machine %s; it has %s%s", name, listed(c.Machines()),
		meant(name, c.Machines()))
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// meant returns a question that suggests a similar name, or "" if there is none.
func meant(name string, names []string) string {
	if near := spelling.Nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// Fits implements engine.Fitting. It returns an error unless every state of the test case exists in the definition,
// at any depth.
func (x *Execution) Fits(definition string) error {
	root, err := jsonvalue.Parse(definition)
	if err != nil {
		return err
	}
	names := statesIn(nil, root)
	var unknown []error
	for _, state := range sorted(x.states) {
		if !slices.Contains(names, state) {
			unknown = append(unknown, fmt.Errorf("the test case %s mocks the state %s, which the state machine %s does not have%s",
				x.name, state, x.machine, meant(state, names)))
		}
	}
	return errors.Join(unknown...)
}

// statesIn appends the names of a state machine's states, including nested ones, to names.
func statesIn(names []string, machine jsonvalue.Value) []string {
	states, _ := machine.Get("States")
	for i, name := range states.Keys() {
		names = append(names, name)
		for _, inner := range []string{"Iterator", "ItemProcessor"} {
			if m, ok := states.At(i).Get(inner); ok {
				names = statesIn(names, m)
			}
		}
		branches, _ := states.At(i).Get("Branches")
		for k := range branches.Len() {
			names = statesIn(names, branches.At(k))
		}
	}
	return names
}

// Intercept implements engine.Interceptor.
func (x *Execution) Intercept(t *engine.Task) engine.Integration {
	r, ok := x.states[t.State]
	if !ok {
		return nil
	}
	x.mu.Lock()
	n := x.calls[t.State]
	x.calls[t.State]++
	x.mu.Unlock()
	if n < len(r.answers) {
		return &r.answers[n]
	}
	if len(r.answers) == 0 {
		return exhausted{fmt.Sprintf("Invocation %d of the state %s is not mocked: in the test case %s of the state machine %s "+
			"it gets the response %s, which has no answer for invocation \"0\"", n, t.State, x.name, x.machine, r.name)}
	}
	return exhausted{fmt.Sprintf("Invocation %d of the state %s is not mocked: in the test case %s of the state machine %s it gets the response %s, "+
		"which ends with %d", n, t.State, x.name, x.machine, r.name, len(r.answers)-1)}
}

// Unasked describes, for each state, the answers of its response that no invocation has asked for, in the order of the
// states' names.
func (x *Execution) Unasked() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var unasked []string
	for _, state := range sorted(x.states) {
		r, n := x.states[state], x.calls[state]
		if r != nil && n < len(r.answers) {
			unasked = append(unasked, fmt.Sprintf("%d of the %s of the response %s of %s %s asked for", n,
				spelling.Counted(len(r.answers), "answer"), r.name, state, map[bool]string{true: "was", false: "were"}[n == 1]))
		}
	}
	return unasked
}

// Invoke implements engine.Integration.
func (a *answer) Invoke(context.Context, *engine.Task) (engine.Result, error) {
	if a.thrown {
		f := engine.NewFailure(a.err, a.reason)
		f.EmptyCause = a.hasReason && a.reason == ""
		return nil, f
	}
	return engine.TextResult(a.output), nil
}

// exhausted is the answer to an invocation for which the response defines no answer.
type exhausted struct{ why string }

// Invoke implements engine.Integration.
func (e exhausted) Invoke(context.Context, *engine.Task) (engine.Result, error) {
	return nil, engine.NewFailure(engine.StatesRuntime, e.why)
}
