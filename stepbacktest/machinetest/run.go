package machinetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"stepback"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/jsonvalue"
	"stepback/tasks/faults"
)

// Result is the outcome of a test.
type Result struct {
	File *File
	Test *Test
	// Failures describes each expectation that was not met, and what happened instead. It is empty if the test
	// passed.
	Failures []string
	// Execution is the execution that was run. Events is its history; Children holds the histories of the child
	// executions of its Map Runs.
	Execution *engine.Execution
	Events    []history.Event
	Children  [][]history.Event
	// Real is the real time that the test took.
	Real time.Duration
}

// Passed reports whether every expectation was met.
func (r *Result) Passed() bool { return len(r.Failures) == 0 }

// begin is the start time of executions, in virtual time.
var begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// patience is the maximum real time of a test.
const patience = time.Minute

// Run runs one test. It returns an error if the test could not be run: the definition is refused, or the engine
// failed.
func Run(ctx context.Context, f *File, t *Test) (*Result, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now := clock.Virtual(begin)
	defer now.Close()
	mocks := &mocks{test: t, clock: now, faults: faults.New(t.Seed, t.Faults, now), calls: map[string][]int{}}
	r := &Result{File: f, Test: t}
	var mu sync.Mutex
	cfg := engine.Config{
		Clock: now, Journal: journal.NewMemory(), Seed: t.Seed,
		Mocks: func(string, string) (engine.Interceptor, error) { return mocks, nil },
		Observe: func(x *engine.Execution, events []history.Event) {
			if x.MapRunARN != "" {
				mu.Lock()
				defer mu.Unlock()
				r.Children = append(r.Children, append([]history.Event(nil), events...))
			}
		},
	}
	if f.Objects != "" {
		objects, err := stepback.OpenFiles(f.Objects)
		if err != nil {
			return nil, fmt.Errorf("%s: objects: %w", f.Name, err)
		}
		defer objects.Close()
		cfg.Objects = objects
	}
	e, err := engine.New(cfg)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	m, err := e.Define(engine.Definition{Name: "Test", Text: f.Text, Express: f.Express})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Definition, err)
	}
	started, err := e.Start(ctx, &engine.Start{
		Machine: m, Origin: engine.Origin{Name: "test", Input: t.Input, TestCase: "test"},
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.Name, t.Name, err)
	}
	x, err := started.Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		r.Failures = append(r.Failures, fmt.Sprintf("the execution did not end within %s of real time", patience))
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.Execution = x
	if r.Events, err = e.History(ctx, x.ARN); err != nil && !f.Express {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	r.Failures = slices.Concat(mocks.problems, r.judge())
	r.Real = time.Since(began)
	return r, nil
}

// RefusedError reports that Step Functions would refuse a definition.
type RefusedError struct {
	File string
	// Text shows the errors with the lines of the definition.
	Text string
}

// Error implements error.
func (e *RefusedError) Error() string { return e.Text + e.File + ": the definition would be refused" }

// mocks implements engine.Interceptor: it responds to the tasks of one execution.
type mocks struct {
	test   *Test
	clock  *clock.Clock
	faults *faults.Injector

	mu       sync.Mutex
	calls    map[string][]int // by state, how often each answer was used
	problems []string
}

// Intercept implements engine.Interceptor. It intercepts every task.
func (m *mocks) Intercept(t *engine.Task) engine.Integration {
	return m.faults.Tasks(m.answer(t), "Lambda.TooManyRequestsException")
}

func (m *mocks) answer(t *engine.Task) engine.Integration {
	listed, ok := m.test.Answers[t.State]
	if !ok {
		if m.test.Case != nil {
			if in := m.test.Case.Intercept(t); in != nil {
				return in
			}
		}
		return m.fails("the state %s calls a service and has no response: add one under mocks", t.State)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	given := m.calls[t.State]
	if given == nil {
		given = make([]int, len(listed))
		m.calls[t.State] = given
	}
	for i := range listed {
		a := &listed[i]
		if a.Times > 0 && given[i] >= a.Times || a.Input != nil && !a.takes(t.Parameters) {
			continue
		}
		given[i]++
		return &answered{a, m.clock}
	}
	n := 1
	for _, k := range given {
		n += k
	}
	return m.failsLocked("attempt %d of the state %s has no response: its responses under mocks are used up, or are for an input other than %s",
		n, t.State, cut(t.Parameters))
}

// takes reports whether an answer applies to a task's input.
func (a *Answer) takes(parameters string) bool {
	v, err := jsonvalue.Parse(parameters)
	return err == nil && jsonvalue.Equal(v, *a.Input)
}

// fails records why the test fails, and makes the task fail.
func (m *mocks) fails(format string, args ...any) engine.Integration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failsLocked(format, args...)
}

func (m *mocks) failsLocked(format string, args ...any) engine.Integration {
	why := fmt.Sprintf(format, args...)
	m.problems = append(m.problems, why)
	return unanswered{why}
}

// answered implements engine.Integration. Its outcome is that of an answer.
type answered struct {
	*Answer
	clock *clock.Clock
}

// Invoke implements engine.Integration.
func (a *answered) Invoke(ctx context.Context, _ *engine.Task) (engine.Result, error) {
	switch {
	case a.Hang:
		return nil, a.clock.Park(ctx)
	case a.Error != "":
		f := engine.NewFailure(a.Error, a.Cause)
		return nil, f
	default:
		return engine.TextResult(a.Return.JSON()), nil
	}
}

// unanswered implements engine.Integration for a task that has no answer; it always fails.
type unanswered struct{ why string }

// Invoke implements engine.Integration.
func (u unanswered) Invoke(context.Context, *engine.Task) (engine.Result, error) {
	f := engine.NewFailure("States.Runtime", u.why)
	return nil, f
}

// cut shortens a text for messages.
func cut(s string) string {
	const shown = 120
	if r := []rune(s); len(r) > shown {
		return string(r[:shown]) + "…"
	}
	return s
}
