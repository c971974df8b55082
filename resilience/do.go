package resilience

import (
	"context"

	"stepback/retry"
)

// Do calls an operation and repeats it by a policy: a pattern's, a preset's or the caller's own. It creates an
// [Executor] for this call; a breaker, bulkhead or budget among the options is shared by all calls that use it.
//
// The error is an [*Error], or reports an invalid setting, in which case the operation has not been called.
func Do[T any](
	ctx context.Context,
	op func(context.Context) (T, error),
	policy retry.Policy,
	options ...Option,
) (T, error) {
	e, err := New(policy, options...)
	if err != nil {
		var none T
		return none, err
	}
	return Execute(ctx, e, op)
}

// Execute calls an operation under an executor. The error is an [*Error].
func Execute[T any](ctx context.Context, e *Executor, op func(context.Context) (T, error)) (T, error) {
	return Call[T]{Run: op}.Do(ctx, e)
}

// Run works like [Execute] for an operation without a result.
func (e *Executor) Run(ctx context.Context, op func(context.Context) error) error {
	_, err := Execute(ctx, e, func(ctx context.Context) (struct{}, error) { return struct{}{}, op(ctx) })
	return err
}

// Call is one call with all its options.
type Call[T any] struct {
	// Run is the operation. It may be called several times, and concurrently with [WithHedge]. It must end when its
	// context ends.
	Run func(ctx context.Context) (T, error)
	// Judge checks a result that was returned without an error. It returns an error if the result is not
	// acceptable, such as a response with a failing status. A refused result is retried like an error. If the last
	// result is refused, it is returned together with the [*Error].
	Judge func(result T) error
	// Idempotent sets the option [WithIdempotent] for this call only.
	Idempotent bool
	// Final is called after a failed attempt. If it returns an error, no further attempt is made, and the error is
	// the reason; nil permits another attempt.
	Final func() error
	// Fallback provides the result of a call that failed or was refused; it receives the [*Error]. It is not called
	// if the caller's context has ended. Its own outcome is not counted.
	Fallback func(ctx context.Context, err error) (T, error)
	// Keep wraps a result that is read after the attempt has returned, such as an HTTP response with its body: the
	// attempt's timeout ends, but its context stays alive until release is called. Keep returns a result that calls
	// release when it is done. Keep is not called if attempts have neither a timeout nor hedges, because their
	// context is then the caller's.
	Keep func(result T, release func()) T
	// Discard releases a result that is not returned to the caller: a result that Judge refused and that is
	// retried, or the result of a hedge that finished too late.
	Discard func(result T)
}

// Do makes the call under an executor. The error is an [*Error], or the one that Fallback returned.
func (c Call[T]) Do(ctx context.Context, e *Executor) (T, error) {
	out, err := c.protected(ctx, e)
	if err != nil && c.Fallback != nil && ctx.Err() == nil {
		e.counts.fallbacks.Add(1)
		return c.Fallback(ctx, err)
	}
	return out, err
}

func (c *Call[T]) protected(ctx context.Context, e *Executor) (T, error) {
	var none T
	s := session{Executor: e, ctx: ctx, repeats: c.Idempotent || e.idempotent, final: c.Final}
	if len(e.observers) > 0 {
		s.ctx = e.begin(ctx)
	}
	defer s.leave()
	if err := s.enter(); err != nil {
		return none, err
	}
	for {
		a := c.attempt(&s) //nolint:contextcheck // with ctx and the observers' values
		if a.err == nil {
			s.succeeded()
			return a.out, nil
		}
		if stopped := s.failed(a.err); stopped != nil {
			return a.out, stopped
		}
		c.discard(a)
		if stopped := s.pause(); stopped != nil {
			return none, stopped
		}
	}
}

// answer is the outcome of an attempt: a result, an error, or both if Judge refused the result.
type answer[T any] struct {
	out       T
	err       error
	hasResult bool // out is set
}

func (c *Call[T]) discard(a answer[T]) {
	if a.hasResult && c.Discard != nil {
		c.Discard(a.out)
	}
}

// run runs the operation and judges its result.
func (c *Call[T]) run(ctx context.Context) (a answer[T]) {
	a.out, a.err = c.Run(ctx)
	if a.hasResult = a.err == nil; a.hasResult && c.Judge != nil {
		a.err = c.Judge(a.out)
	}
	return a
}

// attempt runs the operation once, or several times concurrently with hedges.
func (c *Call[T]) attempt(s *session) (got answer[T]) {
	hedge := s.hedges > 0 && s.repeats
	if s.attemptTimeout == 0 && !hedge {
		return c.run(s.ctx)
	}
	a := newAttempt(s.ctx, s.clock, s.started, s.attemptTimeout)
	kept := false
	defer func() {
		if !kept {
			a.cancel()
		}
	}()
	if hedge {
		got = c.hedged(a, s.Executor, s.attempts)
	} else {
		got = c.run(a)
	}
	switch {
	case got.hasResult && c.Keep != nil:
		kept = true
		a.clearTimeout()
		got.out = c.Keep(got.out, a.cancel)
	case got.err != nil && a.timedOut():
		got.err = &TimeoutError{s.attemptTimeout, got.err}
	}
	return got
}
