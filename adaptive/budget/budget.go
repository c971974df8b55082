package budget

import (
	"sync"
	"time"

	"stepback/retry"
)

// Budget is a [State] that many goroutines share. Create one with [New].
type Budget struct {
	policy Policy
	now    func() time.Time

	mu    sync.Mutex
	state State
}

// Config configures a [Budget]. Only Policy is required.
type Config struct {
	Policy Policy
	// Now returns the time; nil means the machine's.
	Now func() time.Time
}

// New returns a budget. If the policy is out of range, the error names every invalid field.
func New(c Config) (*Budget, error) {
	if err := c.Policy.Validate(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		start := time.Now()
		c.Now = func() time.Time { return start.Add(time.Since(start)) }
	}
	return &Budget{policy: c.Policy, now: c.Now}, nil
}

// Request calls [State.Request].
func (b *Budget) Request() { b.change(func(s *State, now time.Time) { s.Request(&b.policy, now) }) }

// Retry calls [State.Retry].
func (b *Budget) Retry(after retry.Cause) (allowed bool) {
	b.change(func(s *State, now time.Time) { allowed = s.Retry(&b.policy, now, after) })
	return allowed
}

// Success calls [State.Success].
func (b *Budget) Success(retried bool, after retry.Cause) {
	b.change(func(s *State, now time.Time) { s.Success(&b.policy, now, retried, after) })
}

// Failure calls [State.Failure].
func (b *Budget) Failure() { b.change(func(s *State, now time.Time) { s.Failure(&b.policy, now) }) }

// Tokens calls [State.Tokens].
func (b *Budget) Tokens() (tokens float64) {
	b.change(func(s *State, now time.Time) { tokens = s.Tokens(&b.policy, now) })
	return tokens
}

func (b *Budget) change(f func(*State, time.Time)) {
	now := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.state, now)
}
