package breaker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Breaker is a [State] that many goroutines share. Make one with [New]; it may be used until the end of the program and
// holds nothing that must be closed.
type Breaker struct {
	policy Policy
	now    func() time.Time
	listen func(Event)

	mu    sync.Mutex
	state State
}

// Config is what a [Breaker] is made of. Only Policy has to be set.
type Config struct {
	Policy Policy
	// Now returns the time; nil means the machine's.
	Now func() time.Time
	// Listen receives every event, on the goroutine that caused it and outside the breaker's lock: events of concurrent
	// calls may overtake one another, and [Event.Generation] gives the order of changes. It may call the breaker. nil
	// means that nothing listens.
	Listen func(Event)
	// State is a stored state to continue from; the zero State is closed.
	State State
}

// New makes a breaker. A policy that is out of range is an error that names every wrong field.
func New(c Config) (*Breaker, error) {
	if err := c.Policy.Validate(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = sinceStart(time.Now())
	}
	return &Breaker{policy: c.Policy, now: c.Now, listen: c.Listen, state: c.State}, nil
}

// sinceStart is a clock that reads only the monotonic one, which is half the work and never jumps.
func sinceStart(start time.Time) func() time.Time {
	return func() time.Time { return start.Add(time.Since(start)) }
}

// Allow asks to make a call. A permit has to be handed to [Breaker.Record] when the call has ended, whatever came of
// it; a refusal is an *[OpenError]. [Do] does both.
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

// Record tells how the call of a permit ended.
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

// State is a copy of the state, to be stored or looked at.
func (b *Breaker) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state
}

// Statistics is what the breaker looks like now.
func (b *Breaker) Statistics() Statistics {
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state.Statistics(&b.policy, now)
}

// Reset closes the circuit and forgets all that was counted.
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

// OpenError is a refusal. Its name is CircuitOpen, the error name by which a state machine waits and tries again.
type OpenError struct {
	// Circuit is Open, or HalfOpen when every probe's place was taken.
	Circuit Circuit
	// RetryAfter is how long it takes at least until a call can be admitted.
	RetryAfter time.Duration
}

// Error names the error, the circuit and when to come back.
func (e *OpenError) Error() string {
	return fmt.Sprintf("CircuitOpen: the circuit is %s and admits no call now; try again in %s", e.Circuit,
		e.RetryAfter)
}

// Call is one call through a [Breaker]; see [Do].
type Call[T any] struct {
	// Run makes the call.
	Run func(context.Context) (T, error)
	// Judge tells what an error says about the callee; by default every error is a Failure but the caller's own
	// cancellation, which is Ignored. It is not asked about nil, which is a Success.
	Judge func(error) Outcome
	// Fallback answers in place of a call that was refused or has failed, and is handed the *OpenError or the call's
	// error; without one that error is the answer. What the fallback does is not counted.
	Fallback func(context.Context, error) (T, error)
}

// Do makes a call if the breaker admits it, and records its outcome, also that of a call that panics, which is a
// Failure.
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
	outcome := Failure // of a panic
	defer func() { b.Record(permit, outcome) }()
	out, err := c.Run(ctx)
	switch {
	case err == nil:
		outcome = Success
	case c.Judge != nil:
		outcome = c.Judge(err)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		outcome = Ignored
	}
	return out, err
}
