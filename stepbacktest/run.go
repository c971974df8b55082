package stepbacktest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback"
	"stepback/asl"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/stepbacktest/observed"
)

// Options are the parameters of one run: what the state machine finds around it. The zero Options has no functions.
type Options struct {
	// Functions performs the tasks that call Lambda functions, by name.
	Functions stepback.Functions
	// Integrations performs all other tasks, by service and action, such as "sns:publish".
	Integrations map[string]stepback.Integration
	// Objects is where distributed Maps read items and write results.
	Objects stepback.Objects
	// Express runs an EXPRESS state machine.
	Express bool
	// Begin is the time at which the execution starts; the zero time means 2000-01-01 in UTC.
	Begin time.Time
	// Seed determines the jitter; 0 means 1.
	Seed uint64
}

// Execution is an execution that has ended. Its methods are expectations: one that is not met marks the test as
// failed, and the test continues.
type Execution struct {
	*stepback.Execution
	// Events is the history, in order.
	Events []stepback.Event

	t testing.TB
}

// Run runs a state machine once, with an input in JSON, and waits until it has ended. A definition that AWS would
// reject, or an input that is not JSON, stops the test.
func Run(t testing.TB, definition, input string, cfg Options) *Execution {
	t.Helper()
	if cfg.Begin.IsZero() {
		cfg.Begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	clock := stepback.VirtualTime(cfg.Begin)
	defer clock.Close()
	app, err := stepback.New(t.Context(), stepback.Config{
		Functions: cfg.Functions, Integrations: cfg.Integrations, Objects: cfg.Objects, Clock: clock,
		Seed: max(cfg.Seed, 1),
	})
	if err != nil {
		t.Fatalf("starting an engine: %v", err)
	}
	defer app.Close()
	define := app.Define
	if cfg.Express {
		define = app.DefineExpress
	}
	m, err := define("Test", definition)
	var refused *engine.DefinitionError
	if errors.As(err, &refused) {
		t.Fatalf("the definition is refused:\n%s", asl.Render(refused.Diagnostics, definition, "definition"))
	}
	if err != nil {
		t.Fatalf("defining the state machine: %v", err)
	}
	parsed, err := jsonvalue.Parse(input)
	if err != nil {
		t.Fatalf("the input is not JSON: %v", err)
	}
	run, err := m.Start(t.Context(), "test", rawJSON(parsed.JSON()))
	if err != nil {
		t.Fatalf("starting the execution: %v", err)
	}
	x, err := run.Wait(t.Context())
	if err != nil {
		t.Fatalf("waiting for the execution: %v", err)
	}
	events, err := run.History(t.Context())
	if err != nil && !cfg.Express {
		t.Fatalf("reading the history: %v", err)
	}
	return &Execution{Execution: x, Events: events, t: t}
}

// rawJSON is JSON text that is encoded unchanged.
type rawJSON string

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// Succeeded expects that the execution succeeded with this output, given as JSON. The order of members and the
// spelling of numbers do not matter.
func (x *Execution) Succeeded(output string) {
	x.t.Helper()
	want, err := jsonvalue.Parse(output)
	if err != nil {
		x.t.Fatalf("the expected output is not JSON: %v", err)
	}
	if x.Status != stepback.Succeeded {
		x.fail("the execution did not succeed: %s%s", x.Status, x.why())
		return
	}
	got, err := jsonvalue.Parse(x.Output)
	if err != nil {
		x.t.Fatalf("the output is not JSON: %v", err)
	}
	if !jsonvalue.Equal(got, want) {
		x.fail("the output is %s, not %s", x.Output, output)
	}
}

// Failed expects that the execution failed with this error name.
func (x *Execution) Failed(name string) {
	x.t.Helper()
	switch {
	case x.Status == stepback.Succeeded:
		x.fail("the execution succeeded with %s; it should have failed with %s", x.Output, name)
	case x.Status != stepback.Failed || x.Failure.Name != name:
		x.fail("the execution ended as %s%s; it should have failed with %s", x.Status, x.why(), name)
	}
}

func (x *Execution) why() string {
	if !x.Failure.HasName() {
		return ""
	}
	return ", " + x.Failure.Name + ": " + x.Failure.Cause
}

// Entered expects that exactly these states were entered, in this order. States of branches and of inline Maps are
// included in the order in which they were entered; those of a distributed Map belong to separate executions.
func (x *Execution) Entered(states ...string) {
	x.t.Helper()
	got := observed.Entered(x.Events)
	if !slices.Equal(got, states) {
		x.fail("the states entered are %s; expected were %s", strings.Join(got, ", "), strings.Join(states, ", "))
	}
}

// Attempts expects that a Task state was tried this often, including retries, over all its visits.
func (x *Execution) Attempts(state string, n int) {
	x.t.Helper()
	got := observed.Attempts(x.Events, state)
	if got != n {
		x.fail("the state %s was carried out %d times; expected were %d", state, got, n)
	}
}

// Waits expects the waits of a state, in order: the waits of its retriers between two attempts, or the durations of a
// Wait state.
func (x *Execution) Waits(state string, waits ...time.Duration) {
	x.t.Helper()
	got := observed.Waits(x.Events, state)
	if !slices.Equal(got, waits) {
		x.fail("the waits of the state %s are %v; expected were %v", state, got, waits)
	}
}

// Took expects the duration of the execution, in virtual time.
func (x *Execution) Took(d time.Duration) {
	x.t.Helper()
	if got := x.Stop.Sub(x.Start); got != d {
		x.fail("the execution took %s; expected was %s", got, d)
	}
}
