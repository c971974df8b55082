package handlers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"stepback/adaptive/breaker"
	"stepback/adaptive/configuration"
	"stepback/adaptive/limiter"
	"stepback/adaptive/shared"
	"stepback/csvimport/handlers"
)

// gate is a Gate with preset answers that records the outcomes.
type gate struct {
	refuse   error
	circuit  breaker.Circuit
	least    bool // the limit is at its minimum
	ill      bool
	futile   bool
	outcomes []breaker.Outcome
}

func (g *gate) Circuit() breaker.Circuit                 { return g.circuit }
func (g *gate) Away() bool                               { return g.least || g.circuit != breaker.Closed }
func (g *gate) Blameless(shared.Permit) bool             { return g.ill }
func (g *gate) Futile(shared.Permit, time.Duration) bool { return g.futile }
func (g *gate) Callee() (shared.Health, bool) {
	return shared.Health{}, false
}

func (g *gate) Allow(context.Context) (shared.Permit, error) { return shared.Permit{}, g.refuse }
func (g *gate) Record(_ context.Context, _ shared.Permit, o breaker.Outcome) {
	g.outcomes = append(g.outcomes, o)
}

// step returns a function that fails with the named error, or succeeds if name is empty.
func step(name string) handlers.Func[string] {
	return func(context.Context, json.RawMessage) (string, error) {
		if name == "" {
			return "done", nil
		}
		return "", messages.InvokeResponse_Error{Type: name, Message: "it failed"}
	}
}

// BenchmarkGuarded measures the cost of a guard for a call if nothing fails.
func BenchmarkGuarded(b *testing.B) {
	g, err := shared.NewGate(&shared.Memory{}, "db", shared.Callee(), shared.Config{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	for name, f := range map[string]handlers.Func[string]{
		"without": step(""), "with": handlers.Guarded(&handlers.Guard{Gate: g}, step("")),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := f(ctx, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func nameOf(err error) string {
	var answer messages.InvokeResponse_Error
	if errors.As(err, &answer) {
		return answer.Type
	}
	return ""
}

func TestGuardTellsTheGateHowCallsEnd(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]breaker.Outcome{
		"": breaker.Success, "DatabaseConnectionError": breaker.Failure, "TimeoutError": breaker.TimedOut,
		"ValidationError": breaker.Ignored, "DeadlockException": breaker.Ignored, "UnexpectedError": breaker.Ignored,
	} {
		g := &gate{}
		_, err := handlers.Guarded(&handlers.Guard{Gate: g}, step(name))(t.Context(), nil)
		if nameOf(err) != name || len(g.outcomes) != 1 || g.outcomes[0] != want {
			t.Errorf("%q: %v, outcomes %v, want %v", name, err, g.outcomes, want)
		}
	}
}

func TestGuardRefusesByName(t *testing.T) {
	t.Parallel()
	for want, refused := range map[string]error{
		"CircuitOpen":          &breaker.OpenError{Circuit: breaker.Open, RetryAfter: time.Second},
		"RetryBudgetExhausted": &limiter.ExhaustedError{Limit: 3, InFlight: 3},
	} {
		g := &gate{refuse: refused}
		_, err := handlers.Guarded(&handlers.Guard{Gate: g}, step(""))(t.Context(), nil)
		if nameOf(err) != want || len(g.outcomes) != 0 {
			t.Errorf("%v, outcomes %v; want %s and none", err, g.outcomes, want)
		}
	}
}

// A refusal names the last failed call, so that an execution that ends by it has a cause; an old failure is none.
func TestARefusalNamesTheLastFailure(t *testing.T) {
	t.Parallel()
	const event = `{"record":{"id":7},"attempt":{"state":"ApplyBatch","retries":0,"brief":2}}`
	for _, c := range []struct {
		refuse          error
		name, want, old string
	}{
		{&breaker.OpenError{Circuit: breaker.Open, RetryAfter: time.Second}, "CircuitOpen",
			"the callee's circuit is open; try again in 1s; the last failed call: DatabaseConnectionError: it failed",
			"the callee's circuit is open; try again in 1s"},
		{&limiter.ExhaustedError{Limit: 3, InFlight: 3}, "RetryBudgetExhausted",
			"the callee accepts 3 concurrent calls, and all are in use; " +
				"the last failed call: DatabaseConnectionError: it failed",
			"the callee accepts 3 concurrent calls, and all are in use"},
		{&limiter.ExhaustedError{Limit: 3, InFlight: 3, Momentary: true}, "LimitReached",
			"the callee accepts 3 concurrent calls, and all are in use at the moment; it keeps up with most calls; " +
				"the last failed call: DatabaseConnectionError: it failed",
			"the callee accepts 3 concurrent calls, and all are in use at the moment; it keeps up with most calls"},
	} {
		gate, now := &gate{}, time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
		guard := &handlers.Guard{Gate: gate, Now: func() time.Time { return now }}
		_, err := handlers.Guarded(guard, step("DatabaseConnectionError"))(t.Context(), nil)
		if nameOf(err) != "DatabaseConnectionError" {
			t.Fatal(err)
		}
		gate.refuse = c.refuse
		for _, after := range []struct {
			wait time.Duration
			want string
		}{{15 * time.Minute, c.want}, {time.Nanosecond, c.old}} {
			now = now.Add(after.wait)
			_, err = handlers.Guarded(guard, step(""))(t.Context(), json.RawMessage(event))
			answer, ok := errors.AsType[messages.InvokeResponse_Error](err)
			if !ok || answer.Type != c.name || answer.Message != after.want {
				t.Errorf("%v, want %s: %s", err, c.name, after.want)
			}
		}
	}
}

// A call that the limiter refuses for the moment waits briefly, as often as the definition allows.
func TestGuardRefusesForTheMoment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attempt   string
		momentary bool
		want      string
	}{
		{`{"state":"ApplyBatch","retries":0,"brief":2}`, true, "LimitReached"},
		{`{"state":"ApplyBatch","retries":1,"brief":2}`, true, "LimitReached"},
		{`{"state":"ApplyBatch","retries":2,"brief":2}`, true, "RetryBudgetExhausted"},
		{`{"state":"ApplyBatch","retries":0,"brief":2}`, false, "RetryBudgetExhausted"},
		{`{"state":"ApplyBatch","retries":0}`, true, "RetryBudgetExhausted"}, // a definition without such a retrier
		{`null`, true, "RetryBudgetExhausted"},
	} {
		g := &gate{refuse: &limiter.ExhaustedError{Limit: 3, InFlight: 3, Momentary: c.momentary}}
		_, err := handlers.Guarded(&handlers.Guard{Gate: g}, step(""))(t.Context(),
			json.RawMessage(`{"record":{"id":7},"attempt":`+c.attempt+`}`))
		if nameOf(err) != c.want {
			t.Errorf("%s: %v, want %s", c.attempt, err, c.want)
		}
	}
}

// A record that fails while the callee is known to be unavailable waits, and keeps the retries of its own error.
func TestFailuresWhileTheCircuitIsNotClosedWait(t *testing.T) {
	t.Parallel()
	for circuit, names := range map[breaker.Circuit]map[string]string{
		breaker.HalfOpen: {"DatabaseConnectionError": "CircuitOpen", "ValidationError": "ValidationError",
			"DeadlockException": "DeadlockException", "": ""},
		breaker.Open:   {"TimeoutError": "CircuitOpen"},
		breaker.Closed: {"TimeoutError": "TimeoutError"},
	} {
		for name, want := range names {
			g := &gate{circuit: circuit}
			_, err := handlers.Guarded(&handlers.Guard{Gate: g}, step(name))(t.Context(), nil)
			if nameOf(err) != want || len(g.outcomes) != 1 {
				t.Errorf("%s while the circuit is %s: %v after %v, want %s", name, circuit, err, g.outcomes, want)
			}
		}
	}
}

// A callee that asks for a slower rate is treated as if the limiter had refused the call.
func TestCallsThatTheCalleeHasNoRoomForWait(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"TooManyRequestsError", "S3.SlowDown"} {
		g := &gate{}
		_, err := handlers.Guarded(&handlers.Guard{Gate: g}, step(name))(t.Context(), nil)
		if nameOf(err) != "RetryBudgetExhausted" || len(g.outcomes) != 1 || g.outcomes[0] != breaker.Throttled {
			t.Errorf("%s: %v after %v", name, err, g.outcomes)
		}
	}
}

func TestFailuresWhileTheLimitIsAtItsLeastWait(t *testing.T) {
	t.Parallel()
	g := &gate{least: true}
	_, err := handlers.Guarded(&handlers.Guard{Gate: g}, step("TimeoutError"))(t.Context(), nil)
	if nameOf(err) != "RetryBudgetExhausted" || len(g.outcomes) != 1 {
		t.Errorf("%v after %v", err, g.outcomes)
	}
}

// A record whose own retries are used up waits while the callee fails others too. The retrier of
// ProcessSingleUserRecord for DatabaseConnectionError allows four.
func TestRecordsWithoutRetriesWaitWhileTheCalleeIsIll(t *testing.T) {
	t.Parallel()
	event := func(state string, retries int) json.RawMessage {
		return fmt.Appendf(nil, `{"record":{"id":7},"attempt":{"state":%q,"retries":%d,"entered":"2026-11-27T12:00:00Z"}}`,
			state, retries)
	}
	for _, c := range []struct {
		name  string
		gate  gate
		event json.RawMessage
		want  string
	}{
		{"retries are left", gate{ill: true}, event("ProcessSingleUserRecord", 3), "DatabaseConnectionError"},
		{"no retry is left", gate{ill: true}, event("ProcessSingleUserRecord", 4), "RetryBudgetExhausted"},
		{"the callee is well", gate{}, event("ProcessSingleUserRecord", 4), "DatabaseConnectionError"},
		{"a state without a table", gate{ill: true}, event("Other", 9), "DatabaseConnectionError"},
		{"an event without an attempt", gate{ill: true}, json.RawMessage(`{"record":{"id":7}}`), "DatabaseConnectionError"},
		{"a record that never recovers", gate{futile: true}, event("ProcessSingleUserRecord", 0), "RetryNotWorthwhile"},
		{"the same while the circuit is open", gate{futile: true, circuit: breaker.Open},
			event("ProcessSingleUserRecord", 0), "RetryNotWorthwhile"},
	} {
		guarded := handlers.Guarded(&handlers.Guard{Gate: &c.gate}, step("DatabaseConnectionError"))
		if _, err := guarded(t.Context(), c.event); nameOf(err) != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// Many records go through the functions of a fleet; four in a hundred hang until they time out. The guards learn to
// give those up at once, and no other record.
func TestGuardsGivePoisonUp(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	store := &shared.Memory{}
	var guards []*handlers.Guard
	for range 3 {
		gate, err := shared.NewGate(store, "db", shared.Callee(), shared.Config{Now: func() time.Time { return now },
			Draw: func() float64 { return 0.5 }})
		if err != nil {
			t.Fatal(err)
		}
		guards = append(guards, &handlers.Guard{Gate: gate, Now: func() time.Time { return now }})
	}
	var last string
	for id := range 6000 {
		now = now.Add(50 * time.Millisecond)
		name := ""
		if id%25 == 7 {
			name = "TimeoutError"
		}
		for retries := range 4 {
			event := fmt.Appendf(nil, `{"id":%d,"attempt":{"state":"ProcessSingleUserRecord","retries":%d}}`, id, retries)
			_, err := handlers.Guarded(guards[(id+retries/2)%3], step(name))(t.Context(), event)
			if name != "" {
				last = nameOf(err)
			}
			if err == nil || last == "RetryNotWorthwhile" {
				break
			}
		}
	}
	if last != "RetryNotWorthwhile" {
		t.Errorf("the last poison record failed with %s, want RetryNotWorthwhile", last)
	}
}

func TestGuardBeginsNoCallThatCannotEndInTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2126, 11, 22, 12, 0, 0, 0, time.UTC)
	slow := func(context.Context, json.RawMessage) (string, error) {
		now = now.Add(2 * time.Second)
		return "done", nil
	}
	g := &handlers.Guard{Now: func() time.Time { return now }}
	f := handlers.Guarded(g, slow)
	for range 20 {
		if _, err := f(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithDeadline(t.Context(), now.Add(2*time.Second))
	defer cancel()
	if _, err := f(ctx, nil); nameOf(err) != "TimeoutError" {
		t.Errorf("error is %v, want TimeoutError", err)
	}
}

func TestGuardGivesUpWhatIsNotWorthIt(t *testing.T) {
	t.Parallel()
	known := &configuration.Configuration{Version: configuration.Version, Machine: "import", Value: 0.001,
		Until: time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC),
		States: map[string]configuration.State{"Save": {
			"DatabaseConnectionError": {{Started: 400, Succeeded: 300, Cost: 3e-5}, {Started: 400, Succeeded: 1, Cost: 3e-5}},
			"States.TaskFailed":       {{Started: 10, Succeeded: 0, Cost: 3e-5}},
		}}}
	for _, c := range []struct{ event, name, want string }{
		{`{"attempt":{"state":"Save","retries":0,"entered":"2026-11-22T12:00:00Z"}}`, "DatabaseConnectionError",
			"DatabaseConnectionError"},
		{`{"attempt":{"state":"Save","retries":1}}`, "DatabaseConnectionError", "RetryNotWorthwhile"},
		// There is no third retry, so the error is the one that ended the retries.
		{`{"attempt":{"state":"Save","retries":2}}`, "DatabaseConnectionError", "DatabaseConnectionError"},
		{`{"attempt":{"state":"Save","retries":1}}`, "ValidationError", "ValidationError"},
		// too little is known to decide
		{`{"attempt":{"state":"Save","retries":0}}`, "InternalServerError", "InternalServerError"},
		{`{"attempt":{"state":"Load","retries":1}}`, "DatabaseConnectionError", "DatabaseConnectionError"},
		{`{}`, "DatabaseConnectionError", "DatabaseConnectionError"},
		{`{"attempt":7}`, "DatabaseConnectionError", "DatabaseConnectionError"},
		{`{"attempt":{"state":"Save","retries":1}}`, "", ""},
	} {
		source := &configuration.Memory{}
		if err := source.Save(t.Context(), known); err != nil {
			t.Fatal(err)
		}
		g := &handlers.Guard{Worth: &configuration.Reader{Source: source, Machine: "import"}}
		if _, err := handlers.Guarded(g, step(c.name))(t.Context(), json.RawMessage(c.event)); nameOf(err) != c.want {
			t.Errorf("%s after %s: %v, want %q", c.name, c.event, err, c.want)
		}
	}
	if got, err := handlers.Guarded[string](nil, step(""))(t.Context(), nil); got != "done" || err != nil {
		t.Errorf("without a guard: %q, %v", got, err)
	}
}
