package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"stepback/adaptive/breaker"
	"stepback/resilience"
	"stepback/retry"
	"stepback/retrypatterns"
	"stepback/statemachine"
)

// errUnavailable is transient: the operation did not take effect.
var errUnavailable = resilience.Mark(errors.New("503"), retry.Transient, retry.ServiceUnavailableError)

// errInvalid is permanent.
var errInvalid = resilience.Mark(io.EOF, retry.Permanent, retry.InvalidInput)

// errConflict is a conflict with a concurrent operation.
var errConflict = resilience.Mark(io.EOF, retry.Conflict, retry.OptimisticLockException)

// errUnknown leaves open whether the operation took effect.
var errUnknown = resilience.Mark(errors.New("reset"), retry.UnknownOutcome, retry.SocketTimeoutError)

// seconds returns a policy with exact waits: 1 s, 2 s, 4 s …
func seconds(retries int) retry.Policy {
	return retry.Policy{Interval: time.Second, Rate: 2, MaxAttempts: retries, Jitter: retry.JitterNone}
}

// service returns its errors one after the other, then "ok", and records the time of each call.
type service struct {
	began   time.Time
	errs    []error
	takes   time.Duration
	calls   []time.Duration
	started bool
}

func failing(errs ...error) *service { return &service{errs: errs} }

func (s *service) call(ctx context.Context) (string, error) {
	if !s.started {
		s.began, s.started = time.Now(), true
	}
	s.calls = append(s.calls, time.Since(s.began))
	if s.takes > 0 {
		select {
		case <-time.After(s.takes): //nolint:forbidigo // one timer in a bubble of virtual time
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	if len(s.calls) <= len(s.errs) {
		return "", s.errs[len(s.calls)-1]
	}
	return "ok", nil
}

func (s *service) wantCalls(t *testing.T, at ...time.Duration) {
	t.Helper()
	if !slices.Equal(s.calls, at) {
		t.Errorf("called at %v, want %v", s.calls, at)
	}
}

func wantStop(t *testing.T, err, reason error, attempts int) retry.Classification {
	t.Helper()
	var e *resilience.Error
	if !errors.As(err, &e) || !errors.Is(err, reason) || e.Attempts != attempts {
		t.Fatalf("error is %v, want %q after %d attempts", err, reason, attempts)
	}
	return e.Classification
}

func must(t testing.TB, p retry.Policy, options ...resilience.Option) *resilience.Executor {
	t.Helper()
	e, err := resilience.New(p, options...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSuccessIsNotRepeated(t *testing.T) {
	t.Parallel()
	s := failing()
	out, err := resilience.Do(t.Context(), s.call, seconds(3))
	if out != "ok" || err != nil || len(s.calls) != 1 {
		t.Errorf("%q, %v after %d calls", out, err, len(s.calls))
	}
}

func TestTransientFailuresAreRepeatedByThePolicy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := failing(errUnavailable, errUnavailable)
		out, err := resilience.Do(t.Context(), s.call, seconds(3))
		if out != "ok" || err != nil {
			t.Errorf("%q, %v", out, err)
		}
		s.wantCalls(t, 0, time.Second, 3*time.Second)
	})
}

func TestTheLastErrorWhenNoRetryIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := failing(errUnavailable, errUnavailable, errUnavailable, errUnavailable)
		_, err := resilience.Do(t.Context(), s.call, seconds(2), resilience.WithName("payments"))
		c := wantStop(t, err, resilience.ErrExhausted, 3)
		if c.Error != retry.ServiceUnavailableError || !errors.Is(err, errUnavailable) {
			t.Errorf("classified as %v", c)
		}
		if want := "payments: 3 attempts: 503 (no retry is left)"; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
		s.wantCalls(t, 0, time.Second, 3*time.Second)
	})
}

func TestWhatIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		reason error
	}{
		"permanent":        {errInvalid, resilience.ErrPermanent},
		"unclassified":     {errors.New("boom"), resilience.ErrUnclassified},
		"unknown outcome":  {errUnknown, resilience.ErrNotIdempotent},
		"reset after sent": {syscall.ECONNRESET, resilience.ErrNotIdempotent},
		"conflict":         {errConflict, resilience.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := failing(c.err)
			_, err := resilience.Do(t.Context(), s.call, seconds(3))
			wantStop(t, err, c.reason, 1)
			if !errors.Is(err, c.err) {
				t.Errorf("%v hides %v", err, c.err)
			}
		})
	}
}

func TestUnknownOutcomeIsRepeatedWhereIdempotent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := failing(errUnknown)
		if out, err := resilience.Do(t.Context(), s.call, seconds(3), resilience.WithIdempotent()); out != "ok" {
			t.Errorf("%q, %v", out, err)
		}
		s.wantCalls(t, 0, time.Second)
	})
}

func TestConflictIsRepeatedFromTheRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := failing(resilience.Mark(io.EOF, retry.Conflict, retry.DeadlockException))
		if out, err := resilience.Do(t.Context(), s.call, seconds(3), resilience.WithRepeatConflicts()); out != "ok" {
			t.Errorf("%q, %v", out, err)
		}
	})
}

// TestRowsOfTheTable runs an operation under the rows of the state ProcessSingleUserRecord: each row counts its own
// retries.
func TestRowsOfTheTable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		state, _ := statemachine.DefaultTable().State("ProcessSingleUserRecord")
		e, err := resilience.NewWithRules(state.Rules(), resilience.WithIdempotent(), resilience.WithRepeatConflicts())
		if err != nil {
			t.Fatal(err)
		}
		deadlock := resilience.Mark(io.EOF, retry.Conflict, retry.DeadlockException) // 4 retries
		socket := errUnknown                                                         // 3 retries
		s := failing(deadlock, socket, deadlock, socket, deadlock, socket, deadlock, socket)
		_, err = resilience.Execute(t.Context(), e, s.call)
		wantStop(t, err, resilience.ErrExhausted, 8)
	})
}

func TestByErrorTakesThePatternOfTheError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, err := resilience.NewWithRules(retrypatterns.Rules())
		if err != nil {
			t.Fatal(err)
		}
		s := failing(slices.Repeat([]error{errUnavailable}, 9)...) // aggressive: 5 retries
		_, err = resilience.Execute(t.Context(), e, s.call)
		wantStop(t, err, resilience.ErrExhausted, 6)
		own := resilience.Mark(io.EOF, retry.Transient, "MyOwnError")
		_, err = resilience.Execute(t.Context(), e, failing(own).call)
		wantStop(t, err, resilience.ErrNoRetrier, 1)
	})
}

func TestCancelledBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := failing()
	_, err := resilience.Do(ctx, s.call, seconds(3))
	wantStop(t, err, resilience.ErrCancelled, 0)
	if !errors.Is(err, context.Canceled) || len(s.calls) != 0 {
		t.Errorf("%v after %d calls", err, len(s.calls))
	}
}

func TestCancelledDuringAWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(500*time.Millisecond, cancel)
		s := failing(errUnavailable)
		began := time.Now()
		_, err := resilience.Do(ctx, s.call, seconds(3))
		wantStop(t, err, resilience.ErrCancelled, 1)
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	})
}

// TestEndedWithACause ends the caller's context with a cause, as errgroup and signal.NotifyContext do: the error is
// both the context's and the cause, wherever the call was.
func TestEndedWithACause(t *testing.T) {
	t.Parallel()
	boom := errors.New("a sibling failed")
	full, err := resilience.NewBulkhead(resilience.BulkheadConfig{Concurrent: 1, Queue: 1})
	if err != nil || full.Enter(t.Context()) != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		op      func(context.Context) (int, error)
		options []resilience.Option
		ended   bool // before the call
	}{
		"before the call":      {ended: true},
		"in the operation":     {op: func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }},
		"in a wait":            {op: func(context.Context) (int, error) { return 0, errUnavailable }},
		"in the bulkhead":      {options: []resilience.Option{resilience.WithBulkhead(full)}},
		"with the cause alone": {op: func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, context.Cause(ctx) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for is, parent := range map[error]func() (context.Context, context.CancelFunc){
					context.Canceled: func() (context.Context, context.CancelFunc) {
						ctx, cancel := context.WithCancelCause(t.Context())
						return ctx, func() { cancel(boom) }
					},
					context.DeadlineExceeded: func() (context.Context, context.CancelFunc) {
						return context.WithDeadlineCause(t.Context(), time.Unix(0, 0), boom)
					},
				} {
					if is == context.DeadlineExceeded && !test.ended { //nolint:errorlint // a key of this map
						continue
					}
					ctx, cancel := parent()
					if test.ended {
						cancel()
					} else {
						time.AfterFunc(time.Millisecond, cancel)
					}
					_, err := resilience.Do(ctx, test.op, seconds(3), test.options...)
					if !errors.Is(err, is) || !errors.Is(err, boom) {
						t.Errorf("%v is not both %v and its cause", err, is)
					}
					cancel()
				}
			})
		})
	}
}

func TestNoAttemptThatCannotEndBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := must(t, seconds(9))
		slow := &service{takes: 800 * time.Millisecond}
		// the executor learns how long an attempt takes
		if _, err := resilience.Execute(t.Context(), e, slow.call); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		s := failing(slices.Repeat([]error{errUnavailable}, 9)...)
		began := time.Now()
		_, err := resilience.Execute(ctx, e, s.call)
		wantStop(t, err, resilience.ErrDeadline, 2) // at 0 and 1 s; at 3 s only 500 ms would be left
		if took := time.Since(began); took != time.Second {
			t.Errorf("given up after %s", took)
		}
	})
}

func TestExpectedAttemptIsTheCallersWord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s := failing()
		_, err := resilience.Do(ctx, s.call, seconds(1), resilience.WithExpectedAttempt(2*time.Second))
		wantStop(t, err, resilience.ErrDeadline, 0)
	})
}

func TestAttemptTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := must(t, seconds(2), resilience.WithAttemptTimeout(300*time.Millisecond), resilience.WithIdempotent())
		s := &service{takes: time.Hour}
		_, err := resilience.Execute(t.Context(), e, s.call)
		got := wantStop(t, err, resilience.ErrExhausted, 3)
		var timeout *resilience.TimeoutError
		if !errors.As(err, &timeout) || timeout.After != 300*time.Millisecond ||
			got.Error != retry.TimeoutError {
			t.Errorf("error is %v (%v)", err, got)
		}
		s.wantCalls(t, 0, 1300*time.Millisecond, 3600*time.Millisecond)
	})
}

func TestTimeoutIsNotRepeatedWhereNotIdempotent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &service{takes: time.Hour}
		_, err := resilience.Do(t.Context(), s.call, seconds(2), resilience.WithAttemptTimeout(time.Second))
		wantStop(t, err, resilience.ErrNotIdempotent, 1)
	})
}

func TestRetryAfterLengthensAWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := failing(resilience.MarkRetryAfter(errUnavailable, 7*time.Second),
			resilience.MarkRetryAfter(errUnavailable, time.Millisecond))
		if out, err := resilience.Do(t.Context(), s.call, seconds(3)); out != "ok" {
			t.Errorf("%q, %v", out, err)
		}
		s.wantCalls(t, 0, 7*time.Second, 9*time.Second)
	})
}

func TestRetryAfterOfAYear(t *testing.T) {
	t.Parallel()
	s := failing(resilience.MarkRetryAfter(errUnavailable, 365*24*time.Hour))
	_, err := resilience.Do(t.Context(), s.call, seconds(3))
	wantStop(t, err, resilience.ErrRetryAfter, 1)
	if want := "503 (the server asks for a longer pause than is allowed: 8760h0m0s asked, 5m0s allowed)"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}

// A cap that equals the interval makes every wait the same.
func TestACapMayEqualTheInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := resilience.Do(t.Context(), failing(errUnavailable, errUnavailable).call,
			retry.Policy{MaxAttempts: 2, Interval: 2 * time.Second, Rate: 3, MaxDelay: 2 * time.Second})
		if took := time.Since(began); err != nil || took != 4*time.Second {
			t.Errorf("%v after %s, want success after 4s", err, took)
		}
	})
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy retry.Policy
		option resilience.Option
		want   string
	}{
		"negative retries": {policy: seconds(-1), want: "MaxAttempts is -1"},
		"no interval":      {policy: retry.Policy{MaxAttempts: 1, Rate: 2}, want: "Interval is 0s"},
		"rate NaN": {
			policy: retry.Policy{MaxAttempts: 1, Interval: 1, Rate: math.NaN()}, want: "Rate is NaN",
		},
		"a cap below": {
			policy: retry.Policy{MaxAttempts: 1, Interval: 2 * time.Second, Rate: 1, MaxDelay: time.Second},
			want:   "MaxDelay is 1s; want Interval (2s) or more, or 0 for no cap",
		},
		"no limiter":     {policy: seconds(1), option: resilience.WithLimiter(nil), want: "WithLimiter is nil"},
		"zero timeout":   {policy: seconds(1), option: resilience.WithAttemptTimeout(0), want: "WithAttemptTimeout is 0s"},
		"negative hint":  {policy: seconds(1), option: resilience.WithMaxRetryAfter(-1), want: "WithMaxRetryAfter is -1ns"},
		"no breaker":     {policy: seconds(1), option: resilience.WithBreaker(nil), want: "WithBreaker is nil"},
		"hedged writes":  {policy: seconds(1), option: resilience.WithHedge(time.Second, 1), want: "not idempotent"},
		"no extra hedge": {policy: seconds(1), option: resilience.WithHedge(time.Second, 0), want: "WithHedge's extra is 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := []resilience.Option{}
			if c.option != nil {
				options = append(options, c.option)
			}
			s := failing()
			_, err := resilience.Do(t.Context(), s.call, c.policy, options...)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(s.calls) != 0 {
				t.Errorf("error %v, want %q; %d calls", err, c.want, len(s.calls))
			}
		})
	}
}

func TestBreakerRefusesWithoutACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, err := breaker.New(breaker.Config{Policy: breaker.Policy{
			ConsecutiveFailures: 2,
			OpenFor:             time.Minute,
			SuccessThreshold:    1,
			HalfOpenConcurrency: 1,
			ProbeTimeout:        time.Minute,
		}})
		if err != nil {
			t.Fatal(err)
		}
		e := must(t, seconds(0), resilience.WithBreaker(b))
		down := failing(slices.Repeat([]error{errUnavailable}, 9)...)
		for range 2 {
			_, err := resilience.Execute(t.Context(), e, down.call)
			wantStop(t, err, resilience.ErrExhausted, 1)
		}
		_, err = resilience.Execute(t.Context(), e, down.call)
		wantStop(t, err, resilience.ErrCircuitOpen, 0)
		var open *breaker.OpenError
		if !errors.As(err, &open) || open.RetryAfter != time.Minute {
			t.Errorf("error is %v", err)
		}
		if want := "not called: CircuitOpen: the circuit is open and admits no calls; try again in 1m0s"; err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // virtual time
		if out, err := resilience.Execute(t.Context(), e, failing().call); out != "ok" {
			t.Errorf("after a minute: %q, %v", out, err)
		}
		if c := b.Statistics().Circuit; c != breaker.Closed {
			t.Errorf("circuit is %s", c)
		}
	})
}

// TestTheLongestRetryAfter asks for the longest pause there is. The time that has passed and the pause must not
// overflow to a pause of nothing, with or without a deadline, and whatever the caller allows.
func TestTheLongestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deadline time.Duration
		options  []resilience.Option
		stop     error
	}{
		"not allowed":           {0, nil, resilience.ErrRetryAfter},
		"after the deadline":    {time.Second, []resilience.Option{resilience.WithMaxRetryAfter(math.MaxInt64)}, resilience.ErrDeadline},
		"after a late deadline": {math.MaxInt64, []resilience.Option{resilience.WithMaxRetryAfter(math.MaxInt64)}, resilience.ErrDeadline},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				if test.deadline > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), test.deadline)
				}
				defer cancel()
				s := failing(resilience.MarkRetryAfter(errUnavailable, math.MaxInt64))
				_, err := resilience.Do(ctx, s.call, seconds(3), test.options...)
				wantStop(t, err, test.stop, 1)
			})
		})
	}
}

func TestBreakerIsAskedAgainDuringRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(500*time.Millisecond, b.Trip)
		s := failing(errUnavailable, errUnavailable)
		_, err = resilience.Do(t.Context(), s.call, seconds(3), resilience.WithBreaker(b))
		wantStop(t, err, resilience.ErrCircuitOpen, 1)
	})
}

func TestWhatTheBreakerCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err                          error
		successes, failures, ignored int64
	}{
		"success":      {nil, 1, 0, 0},
		"transient":    {errUnavailable, 0, 1, 0},
		"unknown":      {errUnknown, 0, 1, 0},
		"unclassified": {errors.New("boom"), 0, 1, 0},
		"permanent":    {errInvalid, 1, 0, 0},
		"conflict":     {errConflict, 1, 0, 0},
		"cancelled":    {context.Canceled, 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = resilience.Do(t.Context(), func(context.Context) (int, error) { return 0, c.err }, seconds(0),
				resilience.WithBreaker(b))
			got := b.Statistics().Totals
			if got.Successes != c.successes || got.Failures != c.failures || got.Ignored != c.ignored {
				t.Errorf("counted %+v", got)
			}
		})
	}
}

func TestAPanicGivesEverythingBack(t *testing.T) {
	t.Parallel()
	b, err := breaker.New(breaker.Config{Policy: breaker.Conservative()})
	if err != nil {
		t.Fatal(err)
	}
	bulkhead, err := resilience.NewBulkhead(resilience.BulkheadConfig{Concurrent: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := must(t, seconds(3), resilience.WithBreaker(b), resilience.WithBulkhead(bulkhead),
		resilience.WithAttemptTimeout(time.Second))
	func() {
		defer func() {
			if r := recover(); r != "boom" {
				t.Errorf("recovered %v", r)
			}
		}()
		_ = e.Run(t.Context(), func(context.Context) error { panic("boom") })
	}()
	if got := bulkhead.Statistics().Running; got != 0 {
		t.Errorf("%d places are lost", got)
	}
	if got := b.Statistics().Totals.Failures; got != 1 {
		t.Errorf("the breaker counted %d failures", got)
	}
	if s := e.Statistics(); s.Calls != 1 || s.Failures != 1 || s.Attempts != 1 {
		t.Errorf("counted %+v", s)
	}
}

func TestFallback(t *testing.T) {
	t.Parallel()
	e := must(t, seconds(0))
	call := resilience.Call[string]{
		Run:      failing(errUnavailable).call,
		Fallback: func(_ context.Context, err error) (string, error) { return "cached, since " + err.Error(), nil },
	}
	out, err := call.Do(t.Context(), e)
	if out != "cached, since 503 (no retry is left)" || err != nil || e.Statistics().Fallbacks != 1 {
		t.Errorf("%q, %v", out, err)
	}
}

// capped is a budget with a fixed number of retries.
type capped struct {
	left   int
	events []string
}

func (c *capped) Request() { c.events = append(c.events, "request") }
func (c *capped) Failure() { c.events = append(c.events, "failure") }
func (c *capped) Success(retried bool, after retry.Cause) {
	c.events = append(c.events, fmt.Sprint("success ", retried, " ", after))
}

func (c *capped) Retry(after retry.Cause) bool {
	c.left--
	c.events = append(c.events, fmt.Sprint("retry ", after))
	return c.left >= 0
}

func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := capped{left: 1}
		e := must(t, seconds(5), resilience.WithBudget(&b), resilience.WithIdempotent())
		if _, err := resilience.Execute(t.Context(), e, failing(syscall.ETIMEDOUT).call); err != nil {
			t.Fatal(err)
		}
		_, err := resilience.Execute(t.Context(), e, failing(errUnavailable).call)
		wantStop(t, err, resilience.ErrBudget, 1)
		want := "request, failure, retry timeout, success true timeout, request, failure, retry other"
		if got := strings.Join(b.events, ", "); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := must(t, seconds(1))
		for _, s := range []*service{
			failing(), failing(errUnavailable), failing(errUnavailable, errUnavailable), failing(errUnknown),
		} {
			_, _ = resilience.Execute(t.Context(), e, s.call)
		}
		got := e.Statistics()
		if got.Calls != 4 || got.Successes != 2 || got.Failures != 2 || got.Attempts != 6 || got.Retries != 2 ||
			got.RetriedSuccesses != 1 {
			t.Errorf("counted %+v", got)
		}
		if want := "map[no retry is left:1 the attempt may have taken effect, and the operation is not idempotent:1]"; fmt.Sprint(
			got.Refused) != want {
			t.Errorf("refused %v", got.Refused)
		}
		if got.RetriesByError[retry.ServiceUnavailableError] != 2 || got.MeanAttempts() != 1.5 ||
			got.SuccessRate() != 0.5 {
			t.Errorf("counted %+v", got)
		}
		if r := got.RetryRate(); math.Abs(r-1.0/3) > 1e-9 {
			t.Errorf("retry rate %v", r)
		}
	})
}
