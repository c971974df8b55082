package machinetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback"
	"stepback/asl"
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
	// Notes describes responses that the test lists and no task asked for, with what was asked instead. They do not
	// make the test fail.
	Notes []string
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
	mocks := &mocks{file: f, test: t, clock: now, faults: faults.New(t.Seed, t.Faults, now), calls: map[string][]int{},
		asked: map[string][]string{}}
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
	r.Failures, r.Notes = slices.Concat(mocks.problems, r.judge()), mocks.unasked()
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
	file   *File
	test   *Test
	clock  *clock.Clock
	faults *faults.Injector

	mu       sync.Mutex
	calls    map[string][]int    // by state, how often each answer was used
	asked    map[string][]string // by state, the different Arguments of its tasks, up to shownAsked
	problems []string
}

// shownAsked is the maximum number of different Arguments of a state that a note shows.
const shownAsked = 3

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
	if asked := m.asked[t.State]; len(asked) <= shownAsked && !slices.Contains(asked, t.Parameters) {
		m.asked[t.State] = append(asked, t.Parameters)
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
	return m.failsLocked("attempt %d of the state %s has no response: its responses under mocks are used up, or their input is not its %s %s",
		n, t.State, m.parameters(t.State), Cut(t.Parameters))
}

// parameters returns the name of the field that determines what a state's service gets, with which input is compared.
func (m *mocks) parameters(state string) string {
	field := "Parameters"
	each(&m.file.Machine.Graph, func(s *asl.State) {
		if s.Name == state && s.QueryLanguage == asl.JSONata {
			field = "Arguments"
		}
	})
	return field
}

// unasked describes the responses that no task has asked for. A response for all attempts that follow, without an
// input, is left out, because it is there for whatever comes.
func (m *mocks) unasked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var notes []string
	for _, state := range slices.Sorted(maps.Keys(m.test.Answers)) {
		listed, given := m.test.Answers[state], m.calls[state]
		for i := range listed {
			a, used := &listed[i], 0
			if given != nil {
				used = given[i]
			}
			if used >= max(a.Times, 1) || a.Times == 0 && a.Input == nil {
				continue
			}
			what := fmt.Sprintf("%s:%d: mocks: the response of %s", m.file.Name, a.Line, state)
			if a.Input != nil {
				what += " for the " + m.parameters(state) + " " + Cut(a.Input.JSON())
			}
			switch {
			case used > 0:
				what += fmt.Sprintf(" was asked for %d of %d times", used, a.Times)
			case given == nil:
				what += " was not asked for: the state made no attempt"
			default:
				what += " was not asked for"
			}
			notes = append(notes, what+m.insteadOf(a, state))
		}
	}
	if of, ok := m.test.Case.(interface{ Unasked() []string }); ok {
		for _, what := range of.Unasked() {
			notes = append(notes, m.file.Name+": testCase: "+what)
		}
	}
	return notes
}

// insteadOf returns the end of a note that says which Arguments a state's tasks had, if a response has an input.
func (m *mocks) insteadOf(a *Answer, state string) string {
	asked := m.asked[state]
	if a.Input == nil || len(asked) == 0 {
		return ""
	}
	texts := make([]string, 0, shownAsked)
	for _, one := range asked[:min(len(asked), shownAsked)] {
		texts = append(texts, Cut(one))
	}
	said := "; its attempts had " + strings.Join(texts, ", ")
	if len(asked) > shownAsked {
		said += " and others"
	}
	return said
}

// takes reports whether an answer applies to a task with these Arguments or Parameters.
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

// Cut shortens a text for messages.
func Cut(s string) string {
	const shown = 120
	if r := []rune(s); len(r) > shown {
		return string(r[:shown]) + "…"
	}
	return s
}
