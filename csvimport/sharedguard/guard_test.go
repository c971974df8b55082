package sharedguard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
	"stepback/adaptive/shared"
	"stepback/csvimport/handlers"
	"stepback/csvimport/sharedguard"
)

func TestAnOutageOpensTheCircuitAndIsPublished(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	g, err := sharedguard.New(&shared.Memory{}, sharedguard.Callee{Name: "database", Machine: "import",
		State: "Save"}, &out,
		slog.New(slog.DiscardHandler), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	down := handlers.Guarded(g, func(context.Context, json.RawMessage) (string, error) {
		return "", messages.InvokeResponse_Error{Type: "DatabaseConnectionError"}
	})
	names := map[string]int{}
	// Ten failures in a row over 15 s open the circuit.
	for range 300 {
		_, err := down(t.Context(), nil)
		var answer messages.InvokeResponse_Error
		errors.As(err, &answer)
		names[answer.Type]++
		now = now.Add(100 * time.Millisecond)
	}
	if names["CircuitOpen"] == 0 || names["DatabaseConnectionError"] < 10 || len(names) > 3 {
		t.Errorf("answers are %v", names)
	}
	for _, want := range []string{`"CircuitBreakerState":0`, `"CircuitBreakerState":1`, `"State":"Save"`,
		`"StateMachine":"import"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", out.String(), want)
		}
	}
}

type broken struct{ shared.Store }

func (broken) Add(context.Context, string, limiter.Tally) (shared.Record, limiter.Tally, error) {
	return shared.Record{}, limiter.Tally{}, errors.New("no network")
}

func TestAStoreOutOfReachIsPublishedAndRefusesNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	g, err := sharedguard.New(broken{}, sharedguard.Callee{Name: "database", Machine: "import", State: "Save"}, &out,
		slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	up := handlers.Guarded(g, func(context.Context, json.RawMessage) (string, error) { return "done", nil })
	if got, err := up(t.Context(), nil); got != "done" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if !strings.Contains(out.String(), `"SharedStateUnavailable":1`) {
		t.Errorf("published %s", out.String())
	}
}

func TestWithoutATableThereIsNoGuard(t *testing.T) {
	t.Parallel()
	g, err := sharedguard.FromEnvironment(t.Context(), func(string) string { return "" }, "database", "Save", nil, nil)
	if g != nil || err != nil {
		t.Errorf("%v, %v", g, err)
	}
}

// TestCallsThatTheStateMachineMakesAreLetThrough: a limiter that starts below the number of concurrent calls would
// refuse calls to a healthy callee.
func TestCallsThatTheStateMachineMakesAreLetThrough(t *testing.T) {
	t.Parallel()
	for calls, want := range map[int]bool{40: false, 0: true} {
		now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		g, err := sharedguard.New(&shared.Memory{}, sharedguard.Callee{Name: "database", Calls: calls}, &bytes.Buffer{},
			slog.New(slog.DiscardHandler), func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		refused := false
		for range 5 { // seconds, with 40 calls in progress during each of them
			var permits []shared.Permit
			for range 40 {
				permit, err := g.Gate.Allow(t.Context())
				refused = refused || err != nil
				permits = append(permits, permit)
			}
			now = now.Add(time.Second)
			for _, p := range permits {
				g.Gate.Record(t.Context(), p, breaker.Success)
			}
		}
		if refused != want {
			t.Errorf("with CALLS_AT_A_TIME %d, calls were refused: %v", calls, refused)
		}
	}
}

func TestCallsAtATimeIsANumber(t *testing.T) {
	t.Parallel()
	env := map[string]string{"BREAKER_TABLE": "b", "CALLS_AT_A_TIME": "many"}
	_, err := sharedguard.FromEnvironment(t.Context(), func(name string) string { return env[name] }, "database", "Save", nil,
		nil)
	if err == nil || !strings.Contains(err.Error(), `CALLS_AT_A_TIME is "many": write how many calls`) {
		t.Errorf("%v", err)
	}
}
