package local_test

import (
	"runtime"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/local"
)

// Retries of the steps of a durable function are held by its name or ARN, also after a restart, and released.
func TestStepsAreHeldAndReleased(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := clock.Virtual(time.Date(2026, 11, 25, 4, 30, 6, 0, time.UTC))
	p := openDurable(t, local.Config{Dir: dir, Clock: c}, charge)
	hold := engine.Hold{Machine: p.Scope.ARN("lambda", "function:F:1"), State: "charge"}
	if err := p.Hold(p.Scope, hold); err != nil {
		t.Fatal(err)
	}
	if err := p.Hold(p.Scope, engine.Hold{Machine: "orders"}); err != nil {
		t.Fatal(err)
	}
	arn := begin(t, p, "order", `{}`)
	due := func() {
		t.Helper()
		for {
			held, _, err := p.Pacing(p.Scope)
			if err != nil || len(held) != 2 || held[0].Machine != "F" {
				t.Fatalf("%v, %v", held, err)
			}
			if held[0].Due == 1 && held[1].Due == 0 {
				return
			}
			runtime.Gosched()
		}
	}
	due()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = openDurable(t, local.Config{Dir: dir, Clock: clock.Virtual(c.Now())}, charge)
	due()
	if n, err := p.Release(p.Scope, hold); n != 1 || err != nil {
		t.Error(n, err)
	}
	if d := ended(t, p, arn); d.Status != "SUCCEEDED" {
		t.Errorf("%+v", d)
	}
	events, err := p.Durable.History(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	// Due after 2 minutes and released then, it waits for all of its delay, because it failed during the hold.
	if took := events[len(events)-1].At().Sub(events[0].At()); took != 6*time.Minute {
		t.Errorf("took %v", took)
	}
}
