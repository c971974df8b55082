package mock

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"stepback/engine"
)

// Execution answers the tasks of one execution, and of the child executions of its Map Runs, as a test case says. It
// implements engine.Interceptor and is safe for concurrent use.
type Execution struct {
	machine, name string
	states        testCase

	mu    sync.Mutex
	calls map[string]int // invocations so far, by state
}

// Execution returns what answers the tasks of one execution of a state machine, by the names of the machine and the
// test case.
func (c *Config) Execution(machine, testCase string) (engine.Interceptor, error) {
	states, ok := c.machines[machine][testCase]
	if !ok {
		return nil, fmt.Errorf("the mock configuration has no test case %s of the state machine %s; it has %s",
			testCase, machine, listed(c.TestCases(machine)))
	}
	return &Execution{machine: machine, name: testCase, states: states, calls: map[string]int{}}, nil
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none of that machine"
	}
	return strings.Join(names, ", ")
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
	return exhausted{fmt.Sprintf("Invocation %d of the state %s is not mocked: in the test case %s of the state machine %s it gets the response %s, "+
		"which ends with %d", n, t.State, x.name, x.machine, r.name, len(r.answers)-1)}
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

// exhausted is a state that is invoked more often than its response says.
type exhausted struct{ why string }

// Invoke implements engine.Integration.
func (e exhausted) Invoke(context.Context, *engine.Task) (engine.Result, error) {
	return nil, engine.NewFailure(engine.StatesRuntime, e.why)
}
