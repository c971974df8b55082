package engine_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/history"
)

// awaitDue waits until as many retries are held at their due time.
func awaitDue(e *engine.Engine, n int) {
	for {
		if h := e.Holds(); len(h) > 0 && h[0].Due == n {
			return
		}
		runtime.Gosched()
	}
}

// TestHold holds a retry, during which it is due and does not begin, also in the engine that follows after a crash, and
// releases it: it waits for the rest of its delay, and the attempts count on.
func TestHold(t *testing.T) {
	t.Parallel()
	var attempts []time.Duration
	b := newBed(t, nil)
	call := func(_ context.Context, task *engine.Task) (string, error) {
		attempts = append(attempts, b.clock.Now().Sub(epoch))
		if task.Attempt < 2 {
			return "", engine.NewFailure("Throttled", "slow down")
		}
		return "{}", nil
	}
	open := func() *engine.Engine {
		e, err := engine.New(engine.Config{
			Clock: b.clock, Journal: b.journal, Seed: 1, Integrations: new(engine.Integrations).Handle("test", "call", invoke(call)),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		return e
	}
	b.Close()
	b.Engine = open()
	other := engine.Hold{Machine: "m", Error: "Other"}
	b.Hold(other)
	held := b.Hold(engine.Hold{Machine: "m", Error: "Throttled", State: "Call"})
	if _, err := b.Release(other); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Release(other); !errors.Is(err, engine.ErrNoHold) {
		t.Errorf("%v", err)
	}
	b.clock.Hold() // the holds are made before time passes
	arn := b.start(t, retries, `{}`)
	b.clock.Release()
	awaitDue(b.Engine, 1)
	if r := waitingRetries(t, b.Engine, arn); len(r) != 1 || r[0].Attempt != 2 || len(attempts) != 1 {
		t.Fatalf("%+v, %v", r, attempts)
	}
	b.Close()
	b.Engine = open()
	b.Hold(held)
	if _, err := b.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitDue(b.Engine, 1)
	if due, err := b.Release(held); due != 1 || err != nil {
		t.Fatal(due, err)
	}
	x, err := b.Wait(t.Context(), arn)
	if err != nil || x.Status != history.Succeeded {
		t.Fatal(x, err)
	}
	// Due at 10 s, released then; the rest is all of the wait, because the attempt failed during the hold.
	if len(attempts) != 3 || attempts[1] != 20*time.Second || attempts[2] != 40*time.Second || len(b.Holds()) != 0 {
		t.Errorf("%v, %v", attempts, b.Holds())
	}
}
