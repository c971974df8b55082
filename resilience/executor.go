package resilience

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"stepback/adaptive/breaker"
	"stepback/retrypatterns"
)

// longest is the longest time.Duration.
const longest = time.Duration(1<<63 - 1)

// defaultMaxRetryAfter is the longest pause that a server may ask for if [MaxRetryAfter] is not set.
const defaultMaxRetryAfter = 5 * time.Minute

// Executor protects the calls to one service. All goroutines that call the service share it; it owns no goroutine and
// does not have to be closed.
type Executor struct {
	service     string
	rules       rules
	classify    Classifier
	clock       Clock
	machineTime bool // clock is the machine's clock
	source      retrypatterns.Source
	observers   []Observer

	idempotent      bool
	byCall          bool // each Call sets whether it is idempotent
	repeatConflicts bool
	attemptTimeout  time.Duration // 0: none
	expected        time.Duration // of an attempt; 0: use the measured duration
	maxRetryAfter   time.Duration
	bulkhead        *Bulkhead
	breaker         *breaker.Breaker
	budget          Budget
	hedgeDelay      time.Duration
	hedges          int

	typical atomic.Int64 // smoothed duration of successful attempts, ns; 0: none yet
	counts  counters
}

// New returns an executor that repeats calls by one policy: a pattern's, a preset's or the caller's own. An unusable
// setting is reported as a [*SettingError] or as the error of retrypatterns.Policy.Validate; all such errors are
// joined.
func New(policy retrypatterns.Policy, options ...Option) (*Executor, error) {
	return build(one(policy), options)
}

// NewFromRows is New for the rows of a state of the retry table. The first row that names an error is the policy for
// it, and each row counts its own retries, as the state's retriers do in Step Functions.
func NewFromRows(rows []retrypatterns.Row, options ...Option) (*Executor, error) {
	return build(ofRows(rows), options)
}

// NewByError is New for the map from error name to pattern (retrypatterns.ErrorPatterns): each kind of error is
// repeated by its own pattern.
func NewByError(options ...Option) (*Executor, error) { return build(byError(), options) }

func build(r rules, options []Option) (*Executor, error) {
	e := &Executor{
		rules: r, classify: Classify, clock: machineClock{}, machineTime: true, source: sharedSource{},
		maxRetryAfter: defaultMaxRetryAfter,
	}
	var problems []error
	for _, row := range r {
		problems = append(problems, row.policy.Validate())
	}
	for _, o := range options {
		problems = append(problems, o(e))
	}
	if e.hedges > 0 && !e.idempotent && !e.byCall {
		problems = append(problems, &SettingError{
			"Hedge",
			"set for an operation that is not idempotent",
			"Idempotent or IdempotentByCall as well: a hedge runs the operation twice",
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

// Bulkhead returns the executor's bulkhead, or nil if it has none.
func (e *Executor) Bulkhead() *Bulkhead { return e.bulkhead }

// WorstWait returns the longest time that the waits between attempts can take in total, if no server asks for a
// longer pause: the sum over the policy's retries, or over all rows if the errors alternate.
func (e *Executor) WorstWait() time.Duration { return e.rules.worst() }

// Option configures an executor. It returns an error, which [New] passes on, if its value is unusable.
type Option func(*Executor) error

// Name sets the service's name in errors, events and metrics.
func Name(service string) Option {
	return func(e *Executor) error { e.service = service; return nil }
}

// Idempotent declares that the operation may run twice, so that an attempt with an unknown outcome is repeated too.
func Idempotent() Option {
	return func(e *Executor) error { e.idempotent = true; return nil }
}

// IdempotentByCall leaves it to each [Call] to declare whether it is idempotent; hedges are started only for calls
// that are.
func IdempotentByCall() Option {
	return func(e *Executor) error { e.byCall = true; return nil }
}

// RepeatConflicts declares that the operation starts with its read, so that it may be repeated after a conflict.
func RepeatConflicts() Option {
	return func(e *Executor) error { e.repeatConflicts = true; return nil }
}

// AttemptTimeout bounds each attempt: its context ends after d, which must be above 0. If the operation succeeds
// regardless, its result counts. A timeout is an unknown outcome with the error name TimeoutError.
func AttemptTimeout(d time.Duration) Option {
	return func(e *Executor) error { e.attemptTimeout = d; return needsPositive("AttemptTimeout", d) }
}

// ExpectedAttempt sets the usual duration of an attempt, which must be above 0. No attempt, not even the first, is
// started if less than d is left before the context's deadline. Without this option, retries use the smoothed
// duration of the attempts that have succeeded.
func ExpectedAttempt(d time.Duration) Option {
	return func(e *Executor) error { e.expected = d; return needsPositive("ExpectedAttempt", d) }
}

// MaxRetryAfter sets the longest pause that a server may ask for; it must be above 0 and is 5 minutes by default. If
// a server asks for more, the call is given up.
func MaxRetryAfter(d time.Duration) Option {
	return func(e *Executor) error { e.maxRetryAfter = d; return needsPositive("MaxRetryAfter", d) }
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

// WithBudget bounds the retries of all calls together. One budget may serve several executors.
func WithBudget(b Budget) Option {
	return func(e *Executor) error { e.budget = b; return present("WithBudget", b != nil) }
}

// Hedge starts an idempotent operation once more whenever the running ones have taken delay without a result, up to
// extra times. The first success counts. The others are cancelled and waited for, so the operation must respect its
// context. A hedge spends retry budget like a retry.
func Hedge(delay time.Duration, extra int) Option {
	return func(e *Executor) error {
		e.hedgeDelay, e.hedges = delay, extra
		return errors.Join(needsPositive("Hedge's delay", delay), needsAtLeast("Hedge's extra", extra, 1))
	}
}

// WithClassifier replaces [Classify] as the classifier of errors.
func WithClassifier(c Classifier) Option {
	return func(e *Executor) error { e.classify = c; return present("WithClassifier", c != nil) }
}

// WithClock replaces the machine's clock.
func WithClock(c Clock) Option {
	return func(e *Executor) error {
		e.clock = c
		_, e.machineTime = c.(machineClock)
		return present("WithClock", c != nil)
	}
}

// WithSource draws jitter from rnd instead of math/rand/v2. Many goroutines use rnd at once.
func WithSource(rnd retrypatterns.Source) Option {
	return func(e *Executor) error { e.source = rnd; return present("WithSource", rnd != nil) }
}

// Observe adds an observer. Observers are called in the order in which they were added.
func Observe(o Observer) Option {
	return func(e *Executor) error {
		e.observers = append(e.observers, o)
		return present("Observe", o != nil)
	}
}

func present(setting string, ok bool) error {
	if ok {
		return nil
	}
	return &SettingError{setting, "nil", "a value"}
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

// room returns an error if wait and attempt together do not fit before the context's deadline; the error says how
// much time is missing.
func (e *Executor) room(ctx context.Context, now time.Time, wait, attempt time.Duration) error {
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
