package resilience_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/budget"
	"stepback/resilience"
	"stepback/retry"
)

// TestBudgetsBoundAnOutage makes 2,000 calls of up to four attempts each to a service that is down: without a budget
// that is four times the load.
func TestBudgetsBoundAnOutage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy budget.Policy
		most   int64
	}{
		"Finagle": {budget.Finagle(), 2000 + 400 + 100}, // a fifth, plus ten per second for ten seconds
		"source":  {budget.Standard(), 2000 + 200 + 100},
		"gRPC":    {budget.GRPC(), 2000 + 4},
		"SDK":     {budget.SDK(retry.SDK2026()), 2000 + 35},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, err := budget.New(budget.Config{Policy: c.policy, Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			policy := retry.Policy{Interval: time.Microsecond, Rate: 1, MaxAttempts: 3}
			e := must(t, policy, resilience.WithBudget(b))
			for range 2000 {
				_ = e.Run(t.Context(), func(context.Context) error { return errUnavailable })
			}
			if got := e.Statistics().Attempts; got > c.most || got < 2000 {
				t.Errorf("%s: %d attempts, want at most %d", name, got, c.most)
			}
		})
	}
}

// An executor around another one retries when the inner breaker permits it.
func TestARefusalIsForTheCallerToRepeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
		if err != nil {
			t.Fatal(err)
		}
		b.Trip()
		inner, outer := must(t, seconds(0), resilience.WithBreaker(b)), must(t, seconds(1))
		began := time.Now()
		err = outer.Run(t.Context(), func(ctx context.Context) error {
			return inner.Run(ctx, func(context.Context) error { return nil })
		})
		if took := time.Since(began); err != nil || took != time.Minute {
			t.Errorf("%v after %s, want a minute", err, took)
		}
		c, _ := retry.Classify(&resilience.Error{Stop: resilience.ErrBudget, Err: errUnknown})
		if c.Class != retry.UnknownOutcome { // the mark is more specific: the attempt may have had an effect
			t.Errorf("classified as %v", c)
		}
	})
}

// An error that carries only text is classified by its text; one with a code is not.
func TestMessagesAreTheLastResort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]retry.Class{
		"read ECONNRESET": retry.UnknownOutcome, "connect ECONNREFUSED 127.0.0.1:80": retry.Transient,
		"socket hang up": retry.UnknownOutcome, "ENETUNREACH": retry.Transient,
	} {
		c, known := retry.Classify(message(text))
		if !known || c.Class != want {
			t.Errorf("%s: %v, %v", text, c, known)
		}
	}
	if c, known := retry.Classify(coded("too many requests: 23505")); !known ||
		c.Class != retry.Permanent {
		t.Errorf("the code says %v, %v", c, known)
	}
}

type message string

func (m message) Error() string { return string(m) }

type coded string

func (c coded) Error() string  { return string(c) }
func (coded) SQLState() string { return "23505" }
