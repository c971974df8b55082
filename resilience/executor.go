package resilience

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"stepback/adaptive/breaker"
	"stepback/adaptive/limiter"
	"stepback/retry"
)

// longest is the longest time.Duration.
const longest = time.Duration(1<<63 - 1)

// defaultMaxRetryAfter is the longest pause that a server may ask for if [WithMaxRetryAfter] is not set.
const defaultMaxRetryAfter = 5 * time.Minute

// Executor protects the calls to one service. All goroutines that call the service share it; it owns no goroutine and
// does not have to be closed.
type Executor struct {
	service     string
	rules       rules
	classify    Classifier
	clock       Clock
	machineTime bool // clock is the machine's clock
	rand        retry.Rand
	observers   []Observer

	idempotent      bool
	byCall          bool // each Call sets whether it is idempotent
	repeatConflicts bool
	attemptTimeout  time.Duration // 0: none
	expected        time.Duration // of an attempt; 0: use the measured duration
	maxRetryAfter   time.Duration
	bulkhead        *Bulkhead
	breaker         *breaker.Breaker
	limiter         *limiter.Limiter
	budget          Budget
	hedgeDelay      time.Duration
	hedges          int

	typical atomic.Int64 // smoothed duration of successful attempts, ns; 0: none yet
	counts  counters
}

// New returns an executor that repeats calls by one policy: a pattern's, a preset's or the caller's own. An unusable
// setting is reported as a [*ConfigError] or as the error of retry.Policy.Validate; all such errors are
// joined.
func New(policy retry.Policy, options ...Option) (*Executor, error) {
	return build(one(policy), options)
}

// NewWithRules is New with a policy for each kind of error: the first rule that covers an error's name is the policy
// for it, and each rule counts its own retries, as the retriers of a state do in Step Functions. Package retrypatterns
// has such rules: its Rules are the map from error name to pattern, and those of StateRetries the rows of a state.
func NewWithRules(rules []retry.Rule, options ...Option) (*Executor, error) {
	return build(slices.Clone(rules), options)
}

func build(r rules, options []Option) (*Executor, error) {
	e := &Executor{
		rules: r, classify: retry.Classify, clock: machineClock{}, machineTime: true, rand: sharedRand{},
		maxRetryAfter: defaultMaxRetryAfter,
	}
	var problems []error
	for _, row := range r {
		problems = append(problems, row.Policy.Validate())
	}
	for _, o := range options {
		if o == nil {
			problems = append(problems, present("Option", false))
			continue
		}
		problems = append(problems, o(e))
	}
	if e.hedges > 0 && !e.idempotent && !e.byCall {
		problems = append(problems, &ConfigError{
			"WithHedge",
			"set for an operation that is not idempotent",
			"WithIdempotent or WithIdempotentByCall as well: a hedge runs the operation twice",
		})
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return e, nil
}

// Service returns the executor's name.
func (e *Executor) Service() string { return e.service }

// Hedges reports whether the executor hedges, so that the operation may run several times at once.
func (e *Executor) Hedges() bool { return e.hedges > 0 }

// Breaker returns the executor's circuit breaker, or nil if it has none.
func (e *Executor) Breaker() *breaker.Breaker { return e.breaker }

// Limiter returns the executor's limiter, or nil if it has none.
func (e *Executor) Limiter() *limiter.Limiter { return e.limiter }

// Bulkhead returns the executor's bulkhead, or nil if it has none.
func (e *Executor) Bulkhead() *Bulkhead { return e.bulkhead }

// WorstWait returns the longest total of the waits between attempts, if no server requests a longer pause. It is
// the sum over the policy's retries, or over the retries of all rules if the errors alternate.
func (e *Executor) WorstWait() time.Duration { return e.rules.worst() }

// Option configures an executor. It returns an error if its value is unusable; [New] returns that error.
type Option func(*Executor) error

// WithName names the service in errors, events and metrics.
func WithName(service string) Option {
	return func(e *Executor) error { e.service = service; return nil }
}

// WithIdempotent declares that the operation may run twice, so that an attempt with an unknown outcome is repeated too.
func WithIdempotent() Option {
	return func(e *Executor) error { e.idempotent = true; return nil }
}

// WithIdempotentByCall lets each [Call] declare whether it is idempotent. Hedges are started only for idempotent
// calls.
func WithIdempotentByCall() Option {
	return func(e *Executor) error { e.byCall = true; return nil }
}

// WithRepeatConflicts declares that the operation reads again what it changes, as a whole transaction does, so that it
// may be repeated after a conflict with a concurrent one.
func WithRepeatConflicts() Option {
	return func(e *Executor) error { e.repeatConflicts = true; return nil }
}

// WithAttemptTimeout limits each attempt: its context ends after d, which must be above 0. If the operation
// succeeds nevertheless, the attempt has succeeded. A timeout is an unknown outcome named TimeoutError.
func WithAttemptTimeout(d time.Duration) Option {
	return func(e *Executor) error { e.attemptTimeout = d; return needsPositive("WithAttemptTimeout", d) }
}

// WithExpectedAttempt sets how long an attempt usually takes; d must be above 0. If less time than that is left
// before the context's deadline, no attempt is started, not even the first. Without this option, retries use the
// smoothed duration of the successful attempts.
func WithExpectedAttempt(d time.Duration) Option {
	return func(e *Executor) error { e.expected = d; return needsPositive("WithExpectedAttempt", d) }
}

// WithMaxRetryAfter sets the longest pause that a server may request; d must be above 0. If a server requests more,
// the call ends. The default is 5 minutes.
func WithMaxRetryAfter(d time.Duration) Option {
	return func(e *Executor) error { e.maxRetryAfter = d; return needsPositive("WithMaxRetryAfter", d) }
}

// WithBulkhead bounds how many calls run at a time. One bulkhead may serve several executors.
func WithBulkhead(b *Bulkhead) Option {
	return func(e *Executor) error { e.bulkhead = b; return present("WithBulkhead", b != nil) }
}

// WithBreaker lets a circuit breaker admit or refuse calls. A call counts once, by the outcome of its last attempt:
// as a failure if the error is transient, of unknown outcome or unclassified; as a success if the callee answered
// (also with a permanent error or a conflict); and not at all if the caller gave up. If the circuit changes while a
// call waits for its next attempt, the breaker is asked again.
func WithBreaker(b *breaker.Breaker) Option {
	return func(e *Executor) error { e.breaker = b; return present("WithBreaker", b != nil) }
}

// WithLimiter lets a limiter admit or refuse attempts. Each attempt, and each hedge, holds one of the limiter's
// permits while it runs, not during waits. The limiter learns from the outcome of each attempt, as the breaker does.
// A refused call ends with [ErrLimited]; it may be repeated within seconds if the error name is LimitReached, and
// otherwise at a slower pace. One limiter may serve several executors.
func WithLimiter(l *limiter.Limiter) Option {
	return func(e *Executor) error { e.limiter = l; return present("WithLimiter", l != nil) }
}

// WithBudget bounds the retries of all calls together. One budget may serve several executors.
func WithBudget(b Budget) Option {
	return func(e *Executor) error { e.budget = b; return present("WithBudget", b != nil) }
}

// WithHedge starts an idempotent operation once more whenever delay passes without a response, up to extra times.
// The first success counts. The others are cancelled and waited for, so the operation must end when its context
// ends. A hedge uses the retry budget like a retry.
func WithHedge(delay time.Duration, extra int) Option {
	return func(e *Executor) error {
		e.hedgeDelay, e.hedges = delay, extra
		return errors.Join(needsPositive("WithHedge's delay", delay), needsAtLeast("WithHedge's extra", extra, 1))
	}
}

// WithClassifier classifies errors by c instead of [retry.Classify].
func WithClassifier(c Classifier) Option {
	return func(e *Executor) error { e.classify = c; return present("WithClassifier", c != nil) }
}

// WithClock replaces the system's clock.
func WithClock(c Clock) Option {
	return func(e *Executor) error {
		e.clock = c
		_, e.machineTime = c.(machineClock)
		return present("WithClock", c != nil)
	}
}

// WithRand uses rnd for jitter instead of math/rand/v2. rnd must be safe for concurrent use.
func WithRand(rnd retry.Rand) Option {
	return func(e *Executor) error { e.rand = rnd; return present("WithRand", rnd != nil) }
}

// WithObserver adds an observer, which receives the events of calls. Several observers receive them in the order in
// which they were added.
func WithObserver(o Observer) Option {
	return func(e *Executor) error {
		e.observers = append(e.observers, o)
		return present("WithObserver", o != nil)
	}
}

func present(setting string, ok bool) error {
	if ok {
		return nil
	}
	return &ConfigError{setting, "nil", "a value"}
}

func (e *Executor) begin(ctx context.Context) context.Context {
	for _, o := range e.observers {
		ctx = o.Begin(ctx, e.service)
	}
	return ctx
}

func (e *Executor) tell(ctx context.Context, ev Event) {
	ev.Service = e.service
	for _, o := range e.observers {
		o.Observe(ctx, ev)
	}
}

// usual returns the expected duration of an attempt; 0 if it is not known.
func (e *Executor) usual() time.Duration {
	if e.expected > 0 {
		return e.expected
	}
	return time.Duration(e.typical.Load())
}

// learn smooths the duration of successful attempts over about the last eight. Concurrent updates may overwrite each
// other, which does not matter for a mean.
func (e *Executor) learn(took time.Duration) {
	if took <= 0 {
		return
	}
	old := e.typical.Load()
	if old == 0 {
		e.typical.Store(int64(took))
		return
	}
	e.typical.Store(old + (int64(took)-old)/8)
}

// checkDeadline returns an error if wait and attempt together do not fit before the context's deadline; the error
// says how much time is missing.
func (e *Executor) checkDeadline(ctx context.Context, now time.Time, wait, attempt time.Duration) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil
	}
	left := deadline.Sub(now)
	if wait < left && attempt <= left-wait {
		return nil
	}
	return &stop{
		ErrDeadline,
		fmt.Sprintf("%s left, a wait of %s and an attempt of about %s to come", max(left, 0), wait, attempt),
	}
}
