package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stepback/adaptive/configuration"
	"stepback/csvimport"
	"stepback/csvimport/pipeline"
	"stepback/engine/clock"
	"stepback/retry"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
	"stepback/statemachine"
)

// stubborn is a database in which one user's rows always deadlock.
type stubborn struct{ csvimport.Store }

func (s stubborn) Apply(ctx context.Context, run csvimport.Run, row int64, inc csvimport.Increment) (csvimport.Outcome, error) {
	if inc.UserID == "stubborn" {
		return "", csvimport.Fail(retry.DeadlockException, "again and again")
	}
	return s.Store.Apply(ctx, run, row, inc)
}

// TestRetriesThatDoNotPayAreGivenUp stores, in the place that stepback adapt uses, the finding that second retries
// after a deadlock hardly ever recover.
func TestRetriesThatDoNotPayAreGivenUp(t *testing.T) {
	t.Parallel()
	rows := activities(60, 0)
	rows[11].user, rows[42].user = "stubborn", "stubborn"
	for name, c := range map[string]struct {
		until              time.Duration
		attempts, worthDid int64
	}{
		"while it is known":   {time.Hour, 2, 2},
		"when it has expired": {-time.Minute, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, "activity.csv", plain(rows))
			tr.tolerate(100)
			tr.cfg.Store = func(real csvimport.Store) csvimport.Store { return stubborn{real} }
			if err := os.MkdirAll(tr.cfg.Dir, 0o755); err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			err := configuration.Files{Directory: tr.cfg.Dir}.Save(t.Context(), &configuration.Configuration{
				Version: configuration.Version, Machine: pipeline.StateMachine, At: now,
				Until: now.Add(c.until), Value: 0.001,
				States: map[string]configuration.State{statemachine.ProcessSingleUserRecord: {
					retry.DeadlockException: {{Started: 300, Succeeded: 200, Cost: 3e-5},
						{Started: 900, Succeeded: 1, Cost: 3e-5}, {Cost: 3e-5}, {Cost: 3e-5}},
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			r := tr.run(t, false)
			if r.Rows == nil || r.Rows.DeadLettered != 2 || r.Errors[retry.RetryNotWorthwhile] != c.worthDid {
				t.Fatalf("%+v, errors %v: %s", r.Rows, r.Errors, r.Cause)
			}
			var retries int64
			for _, x := range r.Retries {
				retries += x.Retries
			}
			if retries != 2*(c.attempts-1) {
				t.Errorf("%d retries of two rows, want %d attempts each: %+v", retries, c.attempts, r.Retries)
			}
		})
	}
}

// The database fails, so that the functions' circuit opens: it appears in the data directory's metric data, as the
// functions print it.
func TestTheCircuitIsPublished(t *testing.T) {
	t.Parallel()
	rows := activities(200, 0)
	tr := newTrial(t, "activity.csv", plain(rows))
	tr.cfg.Batch, tr.cfg.Concurrency = 10, 4
	tr.tolerate(100)
	b := &broken{}
	tr.cfg.Store = func(real csvimport.Store) csvimport.Store {
		b.Store = real
		return b
	}
	p := tr.open(t)
	b.clock = p.Platform().Clock
	r := imported(t, p, tr.file, false)
	closed(t, p)
	if r.Rows == nil || r.Rows.Applied != 200 {
		t.Fatalf("%+v, errors %v: %s", r.Rows, r.Errors, r.Cause)
	}
	points, err := metricsfile.Read(filepath.Clean(tr.cfg.Dir))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]bool{}
	for _, p := range points {
		if p.Metric == retrymetrics.CircuitBreakerState && p.Labels.State == statemachine.ProcessSingleUserRecord &&
			p.Labels.StateMachine == pipeline.StateMachine {
			for _, v := range p.Values {
				seen[v] = true
			}
		}
	}
	if !seen[0] || !seen[1] {
		t.Errorf("CircuitBreakerState was %v, want 0 and 1", seen)
	}
}

// broken is a database that fails for a minute from its first call on, four times as long as the breaker waits before
// it opens the circuit.
type broken struct {
	csvimport.Store
	clock *clock.Clock
	mu    sync.Mutex
	begun time.Time
}

func (b *broken) Apply(ctx context.Context, run csvimport.Run, row int64, inc csvimport.Increment) (csvimport.Outcome, error) {
	b.mu.Lock()
	if b.begun.IsZero() {
		b.begun = b.clock.Now()
	}
	down := b.clock.Now().Sub(b.begun) < time.Minute
	b.mu.Unlock()
	if down {
		return "", csvimport.Fail(retry.DatabaseConnectionError, "refused")
	}
	return b.Store.Apply(ctx, run, row, inc)
}
