package budget

import (
	"sync"
	"time"
)

// Budget is a [State] that many goroutines share. Create one with [New].
type Budget struct {
	policy Policy
	now    func() time.Time

	mu    sync.Mutex
	state State
}

// New returns a budget that reads the time from now, or from the machine if now is nil. If the policy is out of
// range, the error names every invalid field.
func New(p Policy, now func() time.Time) (*Budget, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if now == nil {
		start := time.Now()
		now = func() time.Time { return start.Add(time.Since(start)) }
	}
	return &Budget{policy: p, now: now}, nil
}

// Request calls [State.Request].
func (b *Budget) Request() { b.change(func(s *State, now time.Time) { s.Request(&b.policy, now) }) }

// Retry calls [State.Retry].
func (b *Budget) Retry(afterTimeout bool) (allowed bool) {
	b.change(func(s *State, now time.Time) { allowed = s.Retry(&b.policy, now, afterTimeout) })
	return allowed
}

// Success calls [State.Success].
func (b *Budget) Success(retried, afterTimeout bool) {
	b.change(func(s *State, now time.Time) { s.Success(&b.policy, now, retried, afterTimeout) })
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
