package resilience_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"stepback/adaptive/limiter"
	"stepback/resilience"
	"stepback/retry"
)

// limited returns a limiter that admits a number of attempts at first.
func limited(t *testing.T, initial float64) *limiter.Limiter {
	t.Helper()
	p := limiter.Standard()
	p.Initial = initial
	l, err := limiter.New(limiter.Config{Policy: p, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLimiterRefusesWhatTheCalleeCannotTake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limited(t, 1)
		e := must(t, seconds(1), resilience.WithLimiter(l), resilience.WithName("payments"))
		err := e.Run(t.Context(), func(ctx context.Context) error {
			err := e.Run(ctx, func(context.Context) error { t.Error("called"); return nil })
			if !errors.Is(err, resilience.ErrLimited) {
				t.Errorf("error is %v", err)
			}
			var exhausted *limiter.ExhaustedError
			if !errors.As(err, &exhausted) || exhausted.InFlight != 1 {
				t.Errorf("error is %v, want the limiter's own", err)
			}
			if c, ok := retry.Classify(err); !ok || c.Error != retry.RetryBudgetExhausted ||
				c.Class != retry.Transient {
				t.Errorf("classified as %v", c)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := e.Run(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Errorf("after the end of the first call: %v", err)
		}
		got := e.Statistics()
		if got.Attempts != 2 || got.Refused["the limit of concurrent attempts is reached"] != 1 || e.Limiter() != l {
			t.Errorf("counted %+v", got)
		}
	})
}

// While few attempts are refused, a refusal is momentary: its error name is the one for brief waits. An executor
// around it first waits briefly, then at the slower pace; without a rule for brief waits it waits at the slower pace
// at once.
func TestMomentaryRefusalsWaitBriefly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limited(t, 1)
		e := must(t, seconds(0), resilience.WithLimiter(l))
		for range 20 {
			if err := e.Run(t.Context(), func(context.Context) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		busy := func() (permits []limiter.Permit) {
			for {
				permit, err := l.Allow()
				if err != nil {
					return permits
				}
				permits = append(permits, permit)
			}
		}
		busy()
		err := e.Run(t.Context(), func(context.Context) error { t.Error("called"); return nil })
		var exhausted *limiter.ExhaustedError
		if c, ok := retry.Classify(err); !ok || c.Error != retry.LimitReached || c.Class != retry.Transient ||
			!errors.Is(err, resilience.ErrLimited) || !errors.As(err, &exhausted) || !exhausted.Momentary {
			t.Errorf("%v is classified as %+v", err, c)
		}
		row := func(name string, wait time.Duration, retries int) retry.Rule {
			p := retry.Policy{Interval: wait, MaxAttempts: retries, Rate: 1}
			return retry.Rule{Errors: []string{name}, Policy: p}
		}
		brief, paced := row(retry.LimitReached, 3*time.Second, 2), row(retry.RetryBudgetExhausted, 30*time.Second, 1)
		for _, c := range []struct {
			rules []retry.Rule
			waits []time.Duration
		}{
			{[]retry.Rule{brief, paced}, []time.Duration{3 * time.Second, 3 * time.Second, 30 * time.Second}},
			{[]retry.Rule{paced}, []time.Duration{30 * time.Second}},
			{[]retry.Rule{brief}, []time.Duration{3 * time.Second, 3 * time.Second}},
		} {
			outer, err := resilience.NewWithRules(c.rules)
			if err != nil {
				t.Fatal(err)
			}
			var waits []time.Duration
			last := time.Now()
			momentary := &limiter.ExhaustedError{Limit: 1, InFlight: 1, Momentary: true}
			err = outer.Run(t.Context(), func(context.Context) error {
				if now := time.Now(); now.After(last) {
					waits, last = append(waits, now.Sub(last)), now
				}
				return momentary
			})
			if !errors.Is(err, resilience.ErrExhausted) || !slices.Equal(waits, c.waits) {
				t.Errorf("waits %v, want %v: %v", waits, c.waits, err)
			}
		}
	})
}

// A call holds no permit while it waits for its next attempt, and is refused if the permit is taken by then.
func TestLimiterIsFreeDuringWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limited(t, 1)
		e := must(t, seconds(1), resilience.WithLimiter(l))
		first := make(chan error)
		go func() {
			_, err := resilience.Execute(t.Context(), e, failing(errUnavailable).call)
			first <- err
		}()
		synctest.Wait() // the first call waits
		err := e.Run(t.Context(), func(context.Context) error {
			time.Sleep(2 * time.Second) //nolint:forbidigo // virtual time
			return nil
		})
		if err != nil {
			t.Errorf("during the wait: %v", err)
		}
		wantStop(t, <-first, resilience.ErrLimited, 1)
	})
}

func TestLimiterLearns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limited(t, 2)
		e := must(t, seconds(0), resilience.WithLimiter(l))
		if err := e.Run(t.Context(), func(context.Context) error { return nil }); err != nil || l.Limit() != 2.5 {
			t.Errorf("%v, limit %v after a success, want 2.5", err, l.Limit())
		}
		for range 10 {
			if err := e.Run(t.Context(), func(context.Context) error { return errUnavailable }); err == nil {
				t.Error("a failure succeeded")
			}
			time.Sleep(time.Second) //nolint:forbidigo // virtual time
		}
		failed := l.Limit()
		if failed >= 2.5 {
			t.Errorf("limit %v after failures, want less than 2.5", failed)
		}
		for range 10 {
			func() {
				defer func() { _ = recover() }()
				_ = e.Run(t.Context(), func(context.Context) error { panic("broken") })
			}()
			time.Sleep(time.Second) //nolint:forbidigo // virtual time
		}
		if l.Limit() >= failed {
			t.Errorf("limit %v after panics, want less than %v", l.Limit(), failed)
		}
		permit, err := l.Allow()
		if err != nil {
			t.Errorf("the panic kept the permit: %v", err)
		}
		_ = permit
	})
}

// A hedge needs a permit of its own.
func TestLimiterBoundsHedges(t *testing.T) {
	t.Parallel()
	for initial, want := range map[float64]int64{1: 1, 2: 2} {
		synctest.Test(t, func(t *testing.T) {
			l := limited(t, initial)
			e := must(t, seconds(0), resilience.WithLimiter(l), resilience.WithIdempotent(),
				resilience.WithHedge(time.Second, 1))
			err := e.Run(t.Context(), func(ctx context.Context) error {
				select {
				case <-time.After(3 * time.Second): //nolint:forbidigo // virtual time
				case <-ctx.Done():
				}
				return ctx.Err()
			})
			if got := e.Statistics().Attempts; err != nil || got != want {
				t.Errorf("%v with %d attempts, want %d", err, got, want)
			}
			for range int(initial) {
				if _, err := l.Allow(); err != nil {
					t.Errorf("a permit is missing: %v", err)
				}
			}
		})
	}
}
