package limiter

import (
	"fmt"
	"sync"
	"time"

	"stepback/adaptive/breaker"
	"stepback/retry"
)

// Limiter is a [State] that many goroutines share. Create one with [New].
type Limiter struct {
	policy Policy
	now    func() time.Time

	mu    sync.Mutex
	state State
}

// Config configures a [Limiter]. Only Policy is required.
type Config struct {
	Policy Policy
	// Now returns the time; nil means the machine's.
	Now func() time.Time
	// State starts the limiter with the limit that an earlier one of the same callee learned: its [Limiter.State],
	// perhaps stored as JSON by a process that has ended. Its calls under way are left out. It is not used if its last
	// call was requested more than StateAge before Now, or after it: a limit that old says little about the callee. The
	// zero State starts at the policy's Initial.
	State State
}

// StateAge is the maximum age of a [Config.State] that is used.
const StateAge = 10 * time.Minute

// New returns a limiter. If the policy is out of range, the error names every invalid field.
func New(c Config) (*Limiter, error) {
	if err := c.Policy.Validate(); err != nil {
		return nil, err
	}
	if c.Now == nil {
		start := time.Now()
		c.Now = func() time.Time { return start.Add(time.Since(start)) }
	}
	return &Limiter{policy: c.Policy, now: c.Now, state: c.State.learned(c.Now())}, nil
}

// Allow requests permission to make a call. Pass the permit to [Limiter.Record] when the call has ended. If the call
// is refused, the error is an *[ExhaustedError].
func (l *Limiter) Allow() (Permit, error) {
	now := l.now()
	l.mu.Lock()
	permit, ok := l.state.Allow(&l.policy, now)
	limit, inFlight, momentary := l.state.Limit(&l.policy), l.state.total, l.state.Momentary()
	l.mu.Unlock()
	if !ok {
		return Permit{}, &ExhaustedError{Limit: limit, InFlight: inFlight, Momentary: momentary}
	}
	return permit, nil
}

// Record records the outcome of the call that permit allowed.
func (l *Limiter) Record(permit Permit, outcome breaker.Outcome) {
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Record(&l.policy, permit, now, outcome)
}

// State returns a copy of the state, to store for [Config.State].
func (l *Limiter) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Limit returns the present limit.
func (l *Limiter) Limit() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Limit(&l.policy)
}

// ExhaustedError is returned when the limiter refuses a call. A state machine waits for its error name, and tries
// again; see [ExhaustedError.Name].
type ExhaustedError struct {
	// Limit is the maximum number of concurrent calls.
	Limit float64
	// InFlight is the number of calls under way.
	InFlight int64
	// Momentary is true if few calls are refused; see [State.Momentary]. The call may then be repeated within seconds.
	Momentary bool
}

// Name returns the error's name: LimitReached if the refusal is momentary, so that the call may be repeated within
// seconds, and RetryBudgetExhausted if it should be repeated at a slower pace.
func (e *ExhaustedError) Name() string {
	if e.Momentary {
		return retry.LimitReached
	}
	return retry.RetryBudgetExhausted
}

// ClassifyRetry implements [retry.Classified]. The call was not made, so it may be repeated.
func (e *ExhaustedError) ClassifyRetry() (retry.Classification, bool) {
	return retry.Classification{Error: e.Name(), Class: retry.Transient, Identity: "limiter"}, true
}

// Error states the error name and the limit.
func (e *ExhaustedError) Error() string {
	when := "later"
	if e.Momentary {
		when = "in a moment"
	}
	return fmt.Sprintf("%s: the callee is called %d at a time and %d are under way; try again %s", e.Name(),
		int64(e.Limit), e.InFlight, when)
}
