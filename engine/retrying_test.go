package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
)

const retries = `{"StartAt":"Call","States":{"Call":{"Type":"Task","Resource":"arn:aws:states:::test:call","End":true,
	"Retry":[{"ErrorEquals":["Throttled"],"IntervalSeconds":10,"BackoffRate":2,"MaxAttempts":3}]}}}`

// eventually lists executions until there are as many as wanted. Time stands still meanwhile.
func eventually(t *testing.T, e *engine.Engine, q engine.Query, want int) []engine.Listed {
	t.Helper()
	for {
		page, next, err := e.List(t.Context(), q, 0, "")
		if err != nil || next != "" {
			t.Fatalf("%v, %q", err, next)
		}
		if len(page) == want {
			return page
		}
		runtime.Gosched()
	}
}

func TestExecutionsThatWaitForARetryAreListed(t *testing.T) {
	t.Parallel()
	b := newBed(t, func(_ context.Context, task *engine.Task) (string, error) {
		if task.Attempt < 2 && task.Parameters != `{"well":true}` {
			return "", engine.NewFailure("Throttled", "slow down")
		}
		return "{}", nil
	})
	b.clock.Hold() // nothing is due until the test permits it
	bad := b.start(t, retries, `{}`)
	machine := "arn:aws:states:us-east-1:000000000000:stateMachine:m"
	well, err := b.StartExecution(t.Context(), machine, "well", `{"well":true}`)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := b.Wait(t.Context(), well); err != nil || x.Status != history.Succeeded {
		t.Fatal(x, err)
	}
	for _, q := range []engine.Query{{Retrying: true}, {Retrying: true, Of: machine}, {Of: machine, Error: "Throttled"}} {
		page := eventually(t, b.Engine, q, 1)
		x := page[0]
		if x.ARN != bad || x.Status != history.Running || x.Input != "" || len(x.Retries) != 1 {
			t.Fatalf("%+v: %+v", q, x)
		}
		r := x.Retries[0]
		if r.State != "Call" || r.Error != "Throttled" || r.Cause != "slow down" || r.Attempt != 2 || r.LastAttempt != 4 ||
			!r.Next.Equal(epoch.Add(10*time.Second)) || !r.Failed.Equal(epoch) ||
			!r.Last().Equal(epoch.Add(70*time.Second)) {
			t.Errorf("%+v, the last at %v", *r, r.Last())
		}
	}
	for _, q := range []engine.Query{
		{Retrying: true, Error: "Other"}, {Retrying: true, Of: machine + "2"}, {Retrying: true, Since: epoch.Add(1)},
		{Retrying: true, Statuses: []engine.Status{engine.Succeeded}},
	} {
		eventually(t, b.Engine, q, 0)
	}
	if err := b.RetryNow(t.Context(), bad, waitingRetries(t, b.Engine, bad)[0].ID); err != nil {
		t.Fatal(err)
	}
	for page := eventually(t, b.Engine, engine.Query{}, 2); ; page = eventually(t, b.Engine, engine.Query{}, 2) {
		i := slices.IndexFunc(page, func(x engine.Listed) bool { return x.ARN == bad })
		if r := page[i].Retries; len(r) == 1 && r[0].Attempt == 3 {
			if !r[0].Failed.Equal(epoch) || !r[0].Next.Equal(epoch.Add(20*time.Second)) {
				t.Errorf("%+v", *r[0])
			}
			break
		}
		runtime.Gosched()
	}
	b.clock.Release()
	x, err := b.Wait(t.Context(), bad)
	if err != nil || x.Status != history.Succeeded || x.Stop.Sub(x.Start) != 20*time.Second {
		t.Errorf("%+v, %v", x, err)
	}
	eventually(t, b.Engine, engine.Query{Retrying: true}, 0)
}

func TestRetriesAreKnownAfterARestart(t *testing.T) {
	t.Parallel()
	kept := journal.NewMemory()
	throttled := invoke(func(context.Context, *engine.Task) (string, error) {
		return "", engine.NewFailure("Throttled", "")
	})
	start := func() (*engine.Engine, *clock.Clock) {
		c := clock.Virtual(epoch)
		c.Hold()
		e, err := engine.New(engine.Config{
			Clock: c, Journal: kept, Integrations: new(engine.Integrations).Handle("test", "call", throttled),
		})
		if err != nil {
			t.Fatal(err)
		}
		return e, c
	}
	e, c := start()
	if _, err := e.Define(engine.Definition{
		Name: "m", Text: retries, RoleARN: "arn:aws:iam::000000000000:role/r",
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := e.StartExecution(t.Context(), "arn:aws:states:us-east-1:000000000000:stateMachine:m", fmt.Sprint("x", i),
			"{}"); err != nil {
			t.Fatal(err)
		}
	}
	before := eventually(t, e, engine.Query{Retrying: true}, 3)
	e.Close()
	c.Close()
	e, c = start()
	defer c.Close()
	defer e.Close()
	if _, err := e.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := eventually(t, e, engine.Query{Retrying: true}, 3)
	for i := range after {
		if *after[i].Retries[0] != *before[i].Retries[0] {
			t.Errorf("%+v, want %+v", after[i].Retries[0], before[i].Retries[0])
		}
	}
	first, next, err := e.List(t.Context(), engine.Query{Retrying: true}, 2, "")
	if err != nil || len(first) != 2 || next == "" {
		t.Fatal(first, next, err)
	}
	rest, last, err := e.List(t.Context(), engine.Query{Retrying: true}, 2, next)
	if err != nil || len(rest) != 1 || last != "" || rest[0].ARN != after[2].ARN {
		t.Error(rest, last, err)
	}
	if _, _, err := e.List(t.Context(), engine.Query{}, 0, "!"); !errors.Is(err, engine.ErrPageToken) {
		t.Error(err)
	}
}

// waitingRetries returns the retries that an execution waits for.
func waitingRetries(t *testing.T, e *engine.Engine, arn string) []*engine.Retry {
	t.Helper()
	retries, err := e.Retries(t.Context(), arn)
	if err != nil {
		t.Fatal(err)
	}
	return retries
}
