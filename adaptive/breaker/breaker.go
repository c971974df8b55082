package breaker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Breaker is a [State] that many goroutines share. Create one with [New]; it needs no closing.
type Breaker struct {
	policy Policy
	now    func() time.Time
	listen func(Event)

	mu    sync.Mutex
	state State
}

// Config configures a [Breaker]. Only Policy is required.
type Config struct {
	Policy Policy
	// Now returns the time; nil means the machine's.
	Now func() time.Time
	// Listen is called for every event, on the goroutine that caused it and outside the breaker's lock. Events of
	// concurrent calls may arrive out of order; [Event.Generation] gives the order of circuit changes. Listen may call
	// the breaker. nil means no listener.
	Listen func(Event)
	// State is a stored state to start from; the zero State is closed.
	State State
}

// New returns a breaker. If the policy is out of range, the error names every invalid field.
func New(c Config) (*Breaker, error) {
	if err := c.Policy.Validate(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = sinceStart(time.Now())
	}
	return &Breaker{policy: c.Policy, now: c.Now, listen: c.Listen, state: c.State}, nil
}

// sinceStart returns a clock that reads only the monotonic clock, which is half the work and never jumps.
func sinceStart(start time.Time) func() time.Time {
	return func() time.Time { return start.Add(time.Since(start)) }
}

// Allow requests permission to make a call. Pass the permit to [Breaker.Record] when the call has ended, whatever its
// outcome. If the call is refused, the error is an *[OpenError]. [Do] combines both steps.
func (b *Breaker) Allow() (Permit, error) {
	now := b.now()
	b.mu.Lock()
	before := b.state.circuit
	permit, ok := b.state.Allow(&b.policy, now)
	after, generation := b.state.circuit, b.state.generation
	if ok {
		b.mu.Unlock()
	} else {
		wait := b.state.RetryAfter(&b.policy, now)
		b.mu.Unlock()
		b.tell(Event{Kind: Rejected, From: after, To: after, At: now, Generation: generation})
		return Permit{}, &OpenError{Circuit: after, RetryAfter: wait}
	}
	if before != after {
		b.tell(Event{Kind: Changed, From: before, To: after, At: now, Generation: generation})
	}
	return permit, nil
}

// Record records the outcome of the call that permit allowed.
func (b *Breaker) Record(permit Permit, outcome Outcome) {
	now := b.now()
	b.mu.Lock()
	before := b.state.circuit
	b.state.Record(&b.policy, permit, now, outcome)
	after, generation := b.state.circuit, b.state.generation
	b.mu.Unlock()
	if b.listen == nil {
		return
	}
	b.tell(Event{Kind: Recorded, From: before, To: after, At: now, Outcome: outcome, Generation: generation})
	if before != after {
		b.tell(Event{Kind: Changed, From: before, To: after, At: now, Generation: generation})
	}
}

func (b *Breaker) tell(e Event) {
	if b.listen != nil {
		b.listen(e)
	}
}

// State returns a copy of the state, to store or inspect.
func (b *Breaker) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// Statistics returns the breaker's present statistics.
func (b *Breaker) Statistics() Statistics {
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state.Statistics(&b.policy, now)
}

// Reset closes the circuit and clears all counts.
func (b *Breaker) Reset() { b.force(func(s *State, now time.Time) { s.Reset(now) }) }

// Trip opens the circuit now, as an operator would to take load off a callee.
func (b *Breaker) Trip() { b.force(func(s *State, now time.Time) { s.Trip(now) }) }

func (b *Breaker) force(change func(*State, time.Time)) {
	now := b.now()
	b.mu.Lock()
	before := b.state.circuit
	change(&b.state, now)
	after, generation := b.state.circuit, b.state.generation
	b.mu.Unlock()
	if before != after {
		b.tell(Event{Kind: Changed, From: before, To: after, At: now, Generation: generation})
	}
}

// OpenError is returned when the breaker refuses a call. Its error name is CircuitOpen, for which a state machine
// waits and tries again.
type OpenError struct {
	// Circuit is Open, or HalfOpen if all probe slots were taken.
	Circuit Circuit
	// RetryAfter is the minimum time until a call can be admitted.
	RetryAfter time.Duration
}

// Error states the error name, the circuit and when to try again.
func (e *OpenError) Error() string {
	return fmt.Sprintf("CircuitOpen: the circuit is %s and admits no calls; try again in %s", e.Circuit,
		e.RetryAfter)
}

// Call describes one call through a [Breaker]; see [Do].
type Call[T any] struct {
	// Run makes the call.
	Run func(context.Context) (T, error)
	// Judge classifies an error as an outcome. By default every error is a Failure except the caller's own
	// cancellation, which is Ignored. Judge is not called for nil, which is always a Success.
	Judge func(error) Outcome
	// Fallback provides the result of a call that was refused or has failed; it receives the *OpenError or the call's
	// error. Without a Fallback, Do returns that error. The outcome of the fallback is not counted.
	Fallback func(context.Context, error) (T, error)
}

// Do makes a call if the breaker admits it, and records its outcome. A call that panics is recorded as a Failure.
func Do[T any](ctx context.Context, b *Breaker, c Call[T]) (T, error) {
	permit, err := b.Allow()
	var out T
	if err == nil {
		out, err = recorded(ctx, b, permit, c)
	}
	if err != nil && c.Fallback != nil {
		return c.Fallback(ctx, err)
	}
	return out, err
}

func recorded[T any](ctx context.Context, b *Breaker, permit Permit, c Call[T]) (T, error) {
	outcome := Failure // if the call panics
	defer func() { b.Record(permit, outcome) }()
	out, err := c.Run(ctx)
	switch {
	case err == nil:
		outcome = Success
	case c.Judge != nil:
		outcome = c.Judge(err)
	case errors.Is(ctx.Err(), context.Canceled): // the call may return the cause alone
		outcome = Ignored
	}
	return out, err
}
