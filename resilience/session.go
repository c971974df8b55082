package resilience

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
	"stepback/internal/ctxerr"
	"stepback/retry"
)

// session is one call in progress in an executor. It stays on the caller's stack.
type session struct {
	*Executor
	ctx context.Context // as returned by the observers

	repeats bool         // an unknown outcome may be repeated
	final   func() error // returns why there must be no other attempt

	attempts int       // started so far
	began    time.Time // start of the call
	started  time.Time // start of the last attempt
	spent    *spent    // per rule; nil before the first failure

	// wait and the fields after it describe the pause before the next attempt.
	wait  time.Duration
	last  error
	class retry.Classification
	paid  retry.Cause // cause of the failure that the last retry followed

	inside   bool // holds a slot in the bulkhead
	admitted bool // holds a permit of the breaker
	permit   breaker.Permit
	limited  bool // holds a permit of the limiter
	slot     limiter.Permit
	outcome  breaker.Outcome
	over     bool // ended with a result or an error, not with a panic
	err      *Error
}

// enter acquires the bulkhead's slot and the breaker's permit, or returns the error of the layer that refused.
func (s *session) enter() error {
	if s.ctx.Err() != nil {
		return s.stopped(nil, retry.Classification{}, cancelled(s.ctx))
	}
	s.began = s.clock.Now()
	if s.bulkhead != nil {
		if err := s.bulkhead.Enter(s.ctx); err != nil {
			if s.ctx.Err() != nil {
				err = cancelled(s.ctx)
			}
			return s.stopped(nil, retry.Classification{}, err)
		}
		s.inside = true
	}
	if s.expected > 0 {
		if err := s.checkDeadline(s.ctx, s.clock.Now(), 0, s.expected); err != nil {
			return s.stopped(nil, retry.Classification{}, err)
		}
	}
	if s.breaker != nil {
		if err := s.admit(); err != nil {
			return s.stopped(nil, retry.Classification{}, err)
		}
	}
	if err := s.take(); err != nil {
		s.outcome = breaker.Ignored // of a call that was not made
		return s.stopped(nil, retry.Classification{}, err)
	}
	if s.budget != nil {
		s.budget.Request()
	}
	s.attempts = 1
	s.started = s.began
	return nil
}

// admit requests a permit from the breaker.
func (s *session) admit() error {
	permit, err := s.breaker.Allow()
	if err != nil {
		if open, ok := errors.AsType[*breaker.OpenError](err); ok {
			err = MarkRetryAfter(err, open.RetryAfter) // for callers of this call that retry
		}
		return &refusedByBreaker{err}
	}
	s.permit, s.admitted = permit, true
	s.outcome = breaker.Failure // if the operation panics
	return nil
}

// take requests a permit from the limiter for the next attempt.
func (s *session) take() error {
	if s.limiter == nil {
		return nil
	}
	slot, err := s.limiter.Allow()
	if err != nil {
		return &refusedByLimiter{err}
	}
	s.slot, s.limited = slot, true
	s.outcome = breaker.Failure // if the operation panics
	return nil
}

// give returns the limiter's permit with the outcome of the attempt.
func (s *session) give() {
	if s.limited {
		s.limited = false
		s.limiter.Record(s.slot, s.outcome)
	}
}

// leave returns the permits and the bulkhead's slot, also when the operation panics.
func (s *session) leave() {
	s.give() // of an operation that panicked
	if s.admitted {
		s.breaker.Record(s.permit, s.outcome)
	}
	if s.inside {
		s.bulkhead.Leave()
	}
	if !s.over {
		s.counts.failures.Add(1)
		s.counts.attempts.Add(int64(s.attempts))
	}
	if len(s.observers) == 0 {
		return
	}
	ended := Event{Kind: CallEnded, Attempt: s.attempts, Duration: s.since(s.began)}
	switch {
	case !s.over:
		ended.Err = errPanicked
	case s.err != nil:
		ended.Err, ended.Classification = s.err, s.err.Classification
	}
	s.tell(s.ctx, ended)
}

var errPanicked = errors.New("the operation panicked")

// since returns the time elapsed since t. It returns 0 for the zero time, or if the clock was set back.
func (s *session) since(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(s.clock.Now().Sub(t), 0)
}

// succeeded records a successful attempt.
func (s *session) succeeded() {
	s.over, s.outcome = true, breaker.Success
	s.give()
	took := s.since(s.started)
	s.learn(took)
	if s.attempts == 1 {
		s.counts.firstTime.Add(1)
	} else {
		s.counts.retriedSuccesses.Add(1)
		s.counts.attempts.Add(int64(s.attempts))
	}
	s.settle()
	if len(s.observers) > 0 {
		s.tell(s.ctx, Event{Kind: AttemptEnded, Attempt: s.attempts, Duration: took})
	}
}

// failed handles a failed attempt. It returns nil if the call is to be retried, or else the error that ends the call.
func (s *session) failed(err error) error {
	now := s.clock.Now()
	c, known := s.name(err)
	s.outcome = health(s.ctx, c, known)
	s.give()
	s.settle()
	s.tell(s.ctx, Event{
		Kind: AttemptEnded, Attempt: s.attempts, Duration: max(now.Sub(s.started), 0), Err: err, Classification: c,
	})
	wait, retries, reason := s.decide(now, err, c, known)
	if reason != nil {
		return s.stopped(err, c, reason)
	}
	s.tell(s.ctx, Event{
		Kind: RetryScheduled, Attempt: s.attempts, MaxRetries: retries, Delay: wait, Budget: s.tokens(), Err: err,
		Classification: c,
	})
	s.wait, s.last, s.class = wait, err, c
	return nil
}

// tokens returns the tokens left in the budget; nil if the budget does not know or the call has no observer.
func (s *session) tokens() *float64 {
	counted, ok := s.budget.(interface{ Tokens() float64 })
	if !ok || len(s.observers) == 0 {
		return nil
	}
	left := counted.Tokens()
	return &left
}

// pause waits for the next attempt. It returns an error if the call has to end instead.
func (s *session) pause() error {
	if s.clock.Sleep(s.ctx, s.wait) != nil {
		return s.stopped(s.last, s.class, cancelled(s.ctx))
	}
	if reason := s.readmit(); reason != nil {
		return s.stopped(s.last, s.class, reason)
	}
	if reason := s.take(); reason != nil {
		return s.stopped(s.last, s.class, reason)
	}
	s.counts.retry(s.class.Error)
	s.attempts++
	s.started = s.clock.Now()
	return nil
}

// readmit requests a new permit if the breaker's circuit has changed since the last one.
func (s *session) readmit() error {
	if !s.admitted {
		return nil
	}
	if state := s.breaker.State(); state.Generation() == s.permit.Generation {
		return nil
	}
	s.breaker.Record(s.permit, breaker.Ignored) // late, so it is not counted
	s.admitted = false
	return s.admit()
}

// name classifies an error. It also recognises timeouts that a custom classifier does not.
func (s *session) name(err error) (retry.Classification, bool) {
	c, known := s.classify(err)
	if !known {
		if _, timeout := errors.AsType[*TimeoutError](err); timeout {
			return retry.Classify(err)
		}
	}
	return c, known
}

// health returns the outcome of a failed attempt that is recorded in the breaker.
func health(ctx context.Context, c retry.Classification, known bool) breaker.Outcome {
	switch {
	case errors.Is(ctx.Err(), context.Canceled), known && c.Error == retry.OperationCancelled:
		return breaker.Ignored
	case known && (c.Class == retry.Permanent || c.Class == retry.Conflict):
		return breaker.Success // the callee answered
	default:
		return breaker.FailureAs(c.Error)
	}
}

// decide returns the wait before the next attempt and the number of retries that the policy allows, or an error if
// there is to be no further attempt.
func (s *session) decide(
	now time.Time,
	err error,
	c retry.Classification,
	known bool,
) (time.Duration, int, error) {
	if s.ctx.Err() != nil {
		return 0, 0, cancelled(s.ctx)
	}
	if reason := s.repeatable(c, known); reason != nil {
		return 0, 0, reason
	}
	if s.spent == nil {
		s.spent = s.rules.open()
	}
	row := s.row(c.Error)
	if row < 0 {
		return 0, 0, &stop{ErrNoRetrier, c.Error}
	}
	policy := &s.rules[row].Policy
	if s.spent.retries[row] >= policy.MaxAttempts {
		return 0, policy.MaxAttempts, ErrExhausted
	}
	wait := policy.DelayAfter(s.spent.retries[row]+1, s.spent.previous[row], s.rand)
	s.spent.retries[row]++
	s.spent.previous[row] = wait
	wait, reason := s.asked(err, wait)
	if reason != nil {
		return 0, policy.MaxAttempts, reason
	}
	if reason := s.checkDeadline(s.ctx, now, wait, s.usual()); reason != nil {
		return 0, policy.MaxAttempts, reason
	}
	cause := causeOf(err, c)
	if s.budget != nil && !s.budget.Retry(cause) {
		return 0, policy.MaxAttempts, ErrBudget
	}
	s.paid = cause
	return wait, policy.MaxAttempts, nil
}

// row returns the index of the rule for an error name; negative if there is none. A call that another executor's
// limiter refuses for the moment waits at the slower pace of RetryBudgetExhausted if there is no rule for
// LimitReached, or its retries are used up.
func (s *session) row(name string) int {
	row := s.rules.match(name)
	if name == retry.LimitReached && (row < 0 || s.spent.retries[row] >= s.rules[row].Policy.MaxAttempts) {
		if paced := s.rules.match(retry.RetryBudgetExhausted); paced >= 0 {
			return paced
		}
	}
	return row
}

// asked adjusts the wait to the server's pushback or Retry-After. It returns ErrPushback if the server forbids a
// retry, and ErrRetryAfter if it asks for more than the maximum.
func (s *session) asked(err error, wait time.Duration) (time.Duration, error) {
	least := retryAfter(err)
	if p, ok := errors.AsType[*pushedBack](err); ok {
		if !p.again {
			return 0, ErrPushback
		}
		wait, least = p.wait, p.wait
	}
	if least > s.maxRetryAfter {
		return 0, &stop{ErrRetryAfter, fmt.Sprintf("%s asked, %s allowed", least, s.maxRetryAfter)}
	}
	return max(wait, least), nil
}

// causeOf returns the kind of an attempt's failure.
func causeOf(err error, c retry.Classification) retry.Cause {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	switch {
	case ok && timeout.Timeout(), c.Error == retry.TimeoutError:
		return retry.CauseTimeout
	case retry.IsThrottle(c.Error):
		return retry.CauseThrottle
	default:
		return retry.CauseOther
	}
}

// repeatable returns nil if an error of class c may be retried, and the reason why not otherwise.
func (s *session) repeatable(c retry.Classification, known bool) error {
	if s.final != nil {
		if reason := s.final(); reason != nil {
			return reason
		}
	}
	switch {
	case !known:
		return ErrUnclassified
	case c.Retriable(s.repeats), c.Class == retry.Conflict && s.repeatConflicts:
		return nil
	case c.Class == retry.UnknownOutcome:
		return ErrNotIdempotent
	case c.Class == retry.Conflict:
		return ErrConflict
	default:
		return ErrPermanent
	}
}

// stopped ends the call without success and returns its error.
func (s *session) stopped(err error, c retry.Classification, reason error) error {
	s.over = true
	s.counts.failures.Add(1)
	s.counts.attempts.Add(int64(s.attempts))
	for _, known := range reasons {
		if errors.Is(reason, known) {
			s.counts.refuse(known)
			break
		}
	}
	s.err = &Error{Service: s.service, Attempts: s.attempts, Stop: reason, Classification: c, Err: err}
	return s.err
}

// reasons are the reasons that are counted separately.
var reasons = [...]error{
	ErrExhausted,
	ErrPermanent,
	ErrUnclassified,
	ErrNotIdempotent,
	ErrConflict,
	ErrNoRetrier,
	ErrDeadline,
	ErrRetryAfter,
	ErrPushback,
	ErrBudget,
	ErrCircuitOpen,
	ErrLimited,
	ErrBulkheadFull,
	ErrQueueTimeout,
	ErrCancelled,
}

// cancelled returns ErrDeadline if the caller's context reached its deadline, and ErrCancelled otherwise.
func cancelled(ctx context.Context) error {
	reason := ErrCancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = ErrDeadline
	}
	return fmt.Errorf("%w: %w", reason, ctxerr.Of(ctx))
}
