package limiter

import (
	"fmt"
	"sync"
	"time"

	"stepback/adaptive/breaker"
)

// Limiter is a [State] that many goroutines share. Make one with [New].
type Limiter struct {
	policy Policy
	now    func() time.Time

	mu    sync.Mutex
	state State
}

// Config is what a [Limiter] is made of.
type Config struct {
	Policy Policy
	// Now returns the time; nil means the machine's.
	Now func() time.Time
}

// New makes a limiter. A policy that is out of range is an error that names every wrong field.
func New(c Config) (*Limiter, error) {
	if err := c.Policy.Validate(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		start := time.Now()
		c.Now = func() time.Time { return start.Add(time.Since(start)) }
	}
	return &Limiter{policy: c.Policy, now: c.Now}, nil
}

// Allow asks to make a call. A permit has to be handed to [Limiter.Record]; a refusal is an *[ExhaustedError].
func (l *Limiter) Allow() (Permit, error) {
	now := l.now()
	l.mu.Lock()
	permit, ok := l.state.Allow(&l.policy, now)
	limit, inFlight := l.state.Limit(&l.policy), l.state.total
	l.mu.Unlock()
	if !ok {
		return Permit{}, &ExhaustedError{Limit: limit, InFlight: inFlight}
	}
	return permit, nil
}

// Record tells how the call of a permit ended.
func (l *Limiter) Record(permit Permit, outcome breaker.Outcome) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Record(&l.policy, permit, now, outcome)
}

// Limit is the limit now.
func (l *Limiter) Limit() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Limit(&l.policy)
}

// ExhaustedError is a refusal. Its name is RetryBudgetExhausted, the error name by which a state machine waits and
// tries again, paced.
type ExhaustedError struct {
	// Limit is how many calls are admitted at a time.
	Limit float64
	// InFlight are under way.
	InFlight int64
}

// Error names the error and the limit.
func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("RetryBudgetExhausted: the callee is called %d at a time and %d are under way; try again later",
		int64(e.Limit), e.InFlight)
}
