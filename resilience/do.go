package resilience

import (
	"context"

	"stepback/retry"
)

// Do calls an operation and repeats it by a policy: a pattern's, a preset's or the caller's own. It makes an [Executor]
// for this call; a breaker, bulkhead or budget among the options is shared by all calls that name it.
//
// The error is an [*Error], or a setting that makes no sense: then the operation has not been called.
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

// Run is [Execute] for an operation without a result.
func (e *Executor) Run(ctx context.Context, op func(context.Context) error) error {
	_, err := Execute(ctx, e, func(ctx context.Context) (struct{}, error) { return struct{}{}, op(ctx) })
	return err
}

// Call is one call with all that can be said of it.
type Call[T any] struct {
	// Run is the operation; it may be called several times, with [WithHedge] at the same time. It must heed its
	// context.
	Run func(ctx context.Context) (T, error)
	// Judge says what is wrong with a result that came without an error, such as a response with a failing status; nil
	// if nothing is. A result that it refuses is repeated like an error; the last one is returned beside the [*Error].
	Judge func(result T) error
	// Idempotent is as the option of that name, for this call.
	Idempotent bool
	// Final is asked after an attempt that failed why there must be no other one; it answers nil if there may.
	Final func() error
	// Fallback answers in place of a call that failed or was refused, and is handed the [*Error]. It is not called when
	// the caller's context has ended. What it does is not counted.
	Fallback func(ctx context.Context, err error) (T, error)
	// Keep is handed a result that is read later, such as an HTTP response with its body: the attempt's timeout ends,
	// but its context lives on until release is called. Keep returns the result that releases it in time. It is not
	// called where attempts have neither a timeout nor hedges: their context is the caller's.
	Keep func(result T, release func()) T
	// Discard lets go of a result that nobody gets: one that Judge refused and that is repeated, or that of a hedge
	// that came too late.
	Discard func(result T)
}

// Do makes the call under an executor. The error is an [*Error], or the fallback's.
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

// answer is what an attempt came to: a result, an error, or both when the result was refused.
type answer[T any] struct {
	out   T
	err   error
	there bool // out is a result
}

func (c *Call[T]) discard(a answer[T]) {
	if a.there && c.Discard != nil {
		c.Discard(a.out)
	}
}

// run runs the operation and judges its result.
func (c *Call[T]) run(ctx context.Context) (a answer[T]) {
	a.out, a.err = c.Run(ctx)
	if a.there = a.err == nil; a.there && c.Judge != nil {
		a.err = c.Judge(a.out)
	}
	return a
}

// attempt runs the operation once, or with hedges a few times at once.
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
	case got.there && c.Keep != nil:
		kept = true
		a.calm()
		got.out = c.Keep(got.out, a.cancel)
	case got.err != nil && a.timedOut():
		got.err = &TimeoutError{s.attemptTimeout, got.err}
	}
	return got
}
