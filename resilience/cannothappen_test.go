package resilience_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"stepback/adaptive/breaker"
	"stepback/resilience"
	"stepback/retry"
)

// The tests in this file show that the defects of the source documents' own code (mission, correction 8) cannot
// occur.

// time.After in a retry loop keeps its timer until it fires. Here every timer is stopped, and no goroutine is left: a
// bubble of virtual time fails if one is.
func TestNothingOutlivesACancelledWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clock stopwatch
		policy := retry.Policy{Interval: 24 * time.Hour, Rate: 1, MaxAttempts: 1}
		e := must(t, policy, resilience.WithAttemptTimeout(48*time.Hour), resilience.WithClock(&clock))
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := resilience.Execute(ctx, e, func(ctx context.Context) (int, error) {
				ctx.Done() // starts the attempt's own timer
				return 0, errUnavailable
			})
			wantStop(t, err, resilience.ErrCancelled, 1)
		}
		if clock.started != 200 || clock.ended != 200 {
			t.Errorf("%d timers were started, %d are over", clock.started, clock.ended)
		}
	})
}

// stopwatch counts timers. It must be used by one goroutine.
type stopwatch struct{ started, ended int }

func (*stopwatch) Now() time.Time { return time.Now() }

func (c *stopwatch) Sleep(ctx context.Context, d time.Duration) error {
	rang := make(chan struct{})
	defer c.AfterFunc(d, func() { close(rang) })()
	select {
	case <-rang:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *stopwatch) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.started++
	timer := time.AfterFunc(d, f)
	return func() bool { c.ended++; return timer.Stop() }
}

// rand.Int63n(0) panics if a delay is 0, and 2^attempt overflows. Every policy that is accepted yields waits between
// 0 and its bounds, for any number of retries.
func TestAnyPolicyRuns(t *testing.T) {
	t.Parallel()
	jitters := []retry.Jitter{
		retry.JitterNone,
		retry.JitterFull,
		retry.JitterPartial,
		retry.JitterDecorrelated,
		retry.JitterProportional,
	}
	rapid.Check(t, func(rt *rapid.T) {
		policy := retry.Policy{
			Interval:     time.Duration(rapid.Int64Range(1, int64(90_000_000*time.Second)).Draw(rt, "interval")),
			Rate:         rapid.Float64Range(1, 1e300).Draw(rt, "rate"),
			MaxAttempts:  rapid.IntRange(0, 200).Draw(rt, "retries"),
			Jitter:       rapid.SampledFrom(jitters).Draw(rt, "jitter"),
			JitterFactor: rapid.Float64Range(0, 1).Draw(rt, "factor"),
		}
		clock := &skipping{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		e, err := resilience.New(policy, resilience.WithClock(clock), resilience.WithRand(rand.NewPCG(1, 2)))
		if err != nil {
			rt.Fatal(err)
		}
		calls := 0
		_, err = resilience.Execute(context.Background(), e, func(context.Context) (int, error) {
			calls++
			return 0, errUnavailable
		})
		if err == nil || calls != policy.MaxAttempts+1 || len(clock.waits) != policy.MaxAttempts {
			rt.Fatalf("%d calls, %d waits, %v", calls, len(clock.waits), err)
		}
		for i, wait := range clock.waits {
			if wait < 0 || i == 0 && policy.Jitter == retry.JitterNone && wait != policy.Interval {
				rt.Fatalf("wait %d is %s", i+1, wait)
			}
		}
	})
}

// skipping is a clock that never waits in real time.
type skipping struct {
	now   time.Time
	waits []time.Duration
}

func (c *skipping) Now() time.Time { return c.now }
func (c *skipping) Sleep(ctx context.Context, d time.Duration) error {
	c.waits = append(c.waits, d)
	return ctx.Err()
}
func (c *skipping) AfterFunc(time.Duration, func()) func() bool { return func() bool { return true } }

// The two hundredth retry waits for the cap, although 2^200 overflows every type.
func TestTheTwoHundredthRetryWaitsTheCap(t *testing.T) {
	t.Parallel()
	clock := &skipping{now: time.Now()}
	policy := retry.Policy{Interval: time.Second, Rate: 2, MaxDelay: time.Minute, MaxAttempts: 200}
	_, err := resilience.Do(t.Context(), func(context.Context) (int, error) { return 0, errUnavailable }, policy,
		resilience.WithClock(clock))
	wantStop(t, err, resilience.ErrExhausted, 201)
	if clock.waits[199] != time.Minute || slices.Max(clock.waits) != time.Minute {
		t.Errorf("waits %v", clock.waits)
	}
	policy.MaxDelay = 0
	if d := policy.Delay(200, nil); d != math.MaxInt64 {
		t.Errorf("without a cap it waits %s", d)
	}
}

// A probe that panics, is cancelled or changes the circuit returns its place, so that the circuit can close again.
// The source documents' code releases a probe only if the circuit is half-open when it ends.
func TestHalfOpenPlacesDoNotLeak(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, err := breaker.New(breaker.Config{Policy: breaker.Policy{
			ConsecutiveFailures: 1,
			OpenFor:             time.Second,
			SuccessThreshold:    1,
			HalfOpenConcurrency: 1,
			ProbeTimeout:        24 * time.Hour,
		}})
		if err != nil {
			t.Fatal(err)
		}
		e := must(t, seconds(0), resilience.WithBreaker(b), resilience.WithIdempotent())
		probes := map[string]func(){
			"panic": func() {
				defer func() { _ = recover() }()
				_ = e.Run(t.Context(), func(context.Context) error { panic("boom") })
			},
			"failure": func() { _ = e.Run(t.Context(), func(context.Context) error { return errUnavailable }) },
			"cancelled": func() {
				ctx, cancel := context.WithCancel(t.Context())
				_ = e.Run(ctx, func(context.Context) error { cancel(); return ctx.Err() })
			},
		}
		for range 20 {
			for name, probe := range probes {
				b.Trip()
				time.Sleep(time.Second) //nolint:forbidigo // virtual time
				probe()
				if got := b.Statistics().Probes; got != 0 {
					t.Fatalf("after %s %d probes are still out", name, got)
				}
			}
		}
		time.Sleep(time.Second) //nolint:forbidigo // virtual time
		if err := e.Run(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Errorf("the circuit stays open: %v", err)
		}
	})
}

// If the system clock is set back or forward by an hour during an attempt, nothing panics and no wait becomes longer.
func TestAClockThatJumps(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{-time.Hour, time.Hour} {
		clock := &skipping{now: time.Now()}
		e := must(t, seconds(2), resilience.WithClock(clock), resilience.WithAttemptTimeout(time.Minute),
			resilience.WithIdempotent())
		calls := 0
		out, err := resilience.Execute(t.Context(), e, func(context.Context) (int, error) {
			clock.now = clock.now.Add(jump)
			if calls++; calls < 3 {
				return 0, errUnavailable
			}
			return calls, nil
		})
		if out != 3 || err != nil || !slices.Equal(clock.waits, []time.Duration{time.Second, 2 * time.Second}) {
			t.Errorf("%s: %d, %v, waits %v", jump, out, err, clock.waits)
		}
	}
}
