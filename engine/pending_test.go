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

// TestRetryNow starts a retry that would wait for an hour at once, while time stands still.
func TestRetryNow(t *testing.T) {
	t.Parallel()
	calls := 0
	b := newBed(t, func(context.Context, *engine.Task) (string, error) {
		if calls++; calls < 3 {
			return "", &engine.Failure{Name: "Busy"}
		}
		return `"done"`, nil
	})
	b.clock.Hold()
	arn := b.start(t, `{"StartAt":"T","States":{"T":{`+call+
		`,"Retry":[{"ErrorEquals":["Busy"],"IntervalSeconds":3600,"BackoffRate":2}],"End":true}}}`, `{}`)
	for retries, delay := range []time.Duration{time.Hour, 2 * time.Hour} {
		p := delayed(t, b, arn, int64(retries+1))
		if p.State != "T" || p.Entered != 2 || !p.At.Equal(epoch.Add(delay)) || len(p.Retrier) != 1 ||
			p.Retrier[0] != int64(retries+1) {
			t.Fatalf("retry %d: %+v", retries+1, p)
		}
		if err := b.RetryNow(t.Context(), arn, p.ID+1000); !errors.Is(err, engine.ErrNoRetry) {
			t.Fatalf("a retry that is none: %v", err)
		}
		if err := b.RetryNow(t.Context(), arn, p.ID); err != nil {
			t.Fatal(err)
		}
		if err := b.RetryNow(t.Context(), arn, p.ID); !errors.Is(err, engine.ErrNoRetry) {
			t.Fatalf("the same retry once more: %v", err)
		}
	}
	x, err := b.Wait(t.Context(), arn)
	if err != nil || x.Status != engine.Succeeded || !x.Stop.Equal(epoch) || calls != 3 {
		t.Errorf("%+v, %v after %d calls", x, err, calls)
	}
	if found, err := b.Pending(t.Context(), arn); err != nil || len(found) != 0 {
		t.Errorf("an execution that is over waits for %+v, %v", found, err)
	}
	if _, err := b.Pending(t.Context(), arn+"x"); !errors.Is(err, engine.ErrNoExecution) {
		t.Errorf("an execution that never was: %v", err)
	}
	b.clock.Release()
	b.clock.Hold() // the timers of the delays are gone: time has nowhere to advance to
	if now := b.clock.Now(); !now.Equal(epoch) {
		t.Errorf("time went on to %s", now)
	}
	b.clock.Release()
}

// delayed waits until an execution is waiting for its n-th retry.
func delayed(t *testing.T, b *bed, arn string, n int64) history.Pending {
	t.Helper()
	for t.Context().Err() == nil {
		found, err := b.Pending(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			if p.Kind == history.PendingRetry && p.Retries == n {
				return p
			}
		}
		runtime.Gosched()
	}
	t.Fatal("no retry waits")
	return history.Pending{}
}
