package stepbacktest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stepback"
	"stepback/asl"
	"stepback/engine"
	"stepback/internal/spelling"
	"stepback/jsonvalue"
	"stepback/stepbacktest/observed"
)

// Options holds the parameters of one run: the functions, integrations and other settings of the engine. The zero
// Options has no functions.
type Options struct {
	// Functions performs the tasks that call Lambda functions, by name.
	Functions stepback.Functions
	// AllowUnregistered accepts a definition that calls functions missing in Functions. Such a task fails.
	AllowUnregistered bool
	// ErrorName names the errors of functions, as stepback.Config.ErrorName does.
	ErrorName func(error) string
	// Integrations performs all other tasks, by the service and the action of their Resource.
	Integrations *stepback.Integrations
	// Objects stores the items and results of distributed Maps.
	Objects stepback.Objects
	// Express runs an EXPRESS state machine.
	Express bool
	// Begin is the time at which the execution starts; the zero time means 2000-01-01 in UTC.
	Begin time.Time
	// Seed determines the jitter; 0 means 1.
	Seed uint64
}

// Execution is an execution that has ended. Its Want methods are assertions. If an assertion fails, the test is
// marked as failed and continues.
type Execution struct {
	*stepback.Execution
	// Events is the history, in order.
	Events []stepback.Event

	t      testing.TB
	report sync.Once // the history has been reported
}

// Run runs a state machine once and waits for its end.
//
// The input is a Go value, as for stepback.Machine.Start: a json.RawMessage or a []byte is JSON text,
// everything else is encoded as encoding/json does. So Order{ID: "17"} is an object, "17" a JSON string, and
// json.RawMessage(`{"id":"17"}`) an object again.
//
// Run ends the test if AWS would refuse the definition, if it calls a function that Options does not have, or if the
// input is not JSON.
func Run(t testing.TB, definition string, input any, cfg Options) *Execution {
	t.Helper()
	if cfg.Begin.IsZero() {
		cfg.Begin = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	clock := stepback.VirtualTime(cfg.Begin)
	defer clock.Close()
	app, err := stepback.New(t.Context(), stepback.Config{
		Functions: cfg.Functions, ErrorName: cfg.ErrorName, Integrations: cfg.Integrations, Objects: cfg.Objects,
		Clock: clock, Seed: max(cfg.Seed, 1),
	})
	if err != nil {
		t.Fatalf("starting an engine: %v", err)
	}
	defer app.Close()
	m, err := app.Define(stepback.Definition{
		Name: "Test", Text: definition, Express: cfg.Express, AllowUnregistered: cfg.AllowUnregistered,
	})
	var refused *engine.DefinitionError
	if errors.As(err, &refused) {
		t.Fatalf("the definition is refused:\n%s", asl.Render(refused.Diagnostics, definition, "definition"))
	}
	if err != nil {
		t.Fatalf("defining the state machine: %v", err)
	}
	run, err := m.Start(t.Context(), "test", input)
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

// WantSucceeded fails the test unless the execution succeeded with this output. The output is a Go value or JSON text,
// by the rule of Run's input. The order of members and the spelling of numbers do not count.
func (x *Execution) WantSucceeded(output any) {
	x.t.Helper()
	text, err := jsonvalue.Marshal(output)
	if err != nil {
		x.t.Fatalf("the expected output: %v", err)
	}
	want, err := jsonvalue.Parse(text)
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
		x.fail("the output is %s, not %s", x.Output, text)
	}
}

// WantFailed fails the test unless the execution failed with this error name.
func (x *Execution) WantFailed(name string) {
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
	return ", " + x.Failure.Error()
}

// WantEntered fails the test unless exactly these states were entered, in this order. The states of branches and of
// inline Maps are included. The states of a distributed Map are not, because they belong to separate executions.
func (x *Execution) WantEntered(states ...string) {
	x.t.Helper()
	got := observed.Entered(x.Events)
	if !slices.Equal(got, states) {
		x.fail("the entered states are %s; expected %s", strings.Join(got, ", "), strings.Join(states, ", "))
	}
}

// WantAttempts fails the test unless a Task state was tried n times, including retries, over all its visits.
func (x *Execution) WantAttempts(state string, n int) {
	x.t.Helper()
	got := observed.Attempts(x.Events, state)
	if got != n {
		x.fail("the state %s ran %s; expected %d", state, spelling.Counted(got, "time"), n)
	}
}

// WantWaits fails the test unless a state had exactly these waits, in this order. For a Wait state, they are its
// durations. For any other state, they are the waits of its retriers between two attempts.
func (x *Execution) WantWaits(state string, waits ...time.Duration) {
	x.t.Helper()
	got := observed.Waits(x.Events, state)
	if !slices.Equal(got, waits) {
		x.fail("the waits of the state %s are %v; expected %v", state, got, waits)
	}
}

// WantTook fails the test unless the execution took d, in virtual time.
func (x *Execution) WantTook(d time.Duration) {
	x.t.Helper()
	if got := x.Stop.Sub(x.Start); got != d {
		x.fail("the execution took %s; expected %s", got, d)
	}
}
