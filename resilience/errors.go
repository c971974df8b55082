package resilience

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"stepback/adaptive/limiter"
	"stepback/retry"
)

// The reasons why a call was given up or never made. Test for them with errors.Is on the error that [Do] returns.
var (
	// ErrExhausted: the policy's last retry has failed.
	ErrExhausted = errors.New("no retry is left")
	// ErrPermanent: the error is permanent, so repeating cannot help.
	ErrPermanent = errors.New("permanent errors are not retried")
	// ErrUnclassified: the classifier does not know the error, which is therefore treated as permanent, to be safe.
	ErrUnclassified = errors.New("errors of unknown kind are not retried")
	// ErrNotIdempotent: the operation may have taken effect already, and it is not idempotent.
	ErrNotIdempotent = errors.New("the attempt may have taken effect, and the operation is not idempotent")
	// ErrConflict: the operation conflicted with a concurrent one, and must be repeated starting with its read.
	ErrConflict = errors.New("a conflict must be retried from the read, not from here")
	// ErrNoRetrier: no row of the table names the error.
	ErrNoRetrier = errors.New("no row of the retry table names the error")
	// ErrDeadline: another attempt could not end before the context's deadline.
	ErrDeadline = errors.New("another attempt could not finish before the deadline")
	// ErrRetryAfter: the server asks for a longer pause than [WithMaxRetryAfter] allows.
	ErrRetryAfter = errors.New("the server asks for a longer pause than is allowed")
	// ErrPushback: the server asked not to repeat the call.
	ErrPushback = errors.New("the server says not to retry")
	// ErrBudget: the retry budget is used up.
	ErrBudget error = &refusal{"the retry budget is used up", retry.RetryBudgetExhausted, "retry budget"}
	// ErrCircuitOpen: the circuit breaker admits no call.
	ErrCircuitOpen error = &refusal{"the circuit is open", retry.CircuitOpen, "circuit breaker"}
	// ErrLimited: the limiter admits no further attempt while as many are running as the callee can take. The error
	// name is LimitReached while the limiter refuses few attempts, and RetryBudgetExhausted otherwise.
	ErrLimited error = &refusal{"the limit of concurrent attempts is reached", retry.RetryBudgetExhausted, "limiter"}
	// ErrBulkheadFull: the bulkhead's limits for running and for waiting calls are both reached.
	ErrBulkheadFull error = &refusal{"the bulkhead is full", retry.ServiceUnavailableError, "bulkhead"}
	// ErrQueueTimeout: the call waited in the bulkhead's queue for the maximum time.
	ErrQueueTimeout error = &refusal{"the wait in the bulkhead's queue timed out", retry.ServiceUnavailableError,
		"bulkhead"}
	// ErrCancelled: the caller's context ended. The context's own error is wrapped as well.
	ErrCancelled = errors.New("the caller gave up")
)

// Error reports that a call did not succeed. errors.Is and errors.As find both the last attempt's error and the
// reason why no further attempt was made.
type Error struct {
	// Service is the executor's name; empty for [Do].
	Service string
	// Attempts is the number of times the operation was started; 0 if it never was.
	Attempts int
	// Stop is the reason why there was no further attempt: one of this package's Err… values, or an error that wraps
	// one.
	Stop error
	// Classification is the class and name of Err; zero if Err was not recognised.
	Classification retry.Classification
	// Err is the error of the last attempt; nil if there was no attempt.
	Err error
}

// Error returns a text such as "payments: 3 attempts: HTTP 503 …: no retry is left".
func (e *Error) Error() string {
	text := ""
	if e.Service != "" {
		text = e.Service + ": "
	}
	switch e.Attempts {
	case 0:
		text += "not called: "
	case 1: // the usual number of attempts need not be mentioned
	default:
		text += fmt.Sprintf("%d attempts: ", e.Attempts)
	}
	if e.Err != nil {
		text += e.Err.Error() + " ("
		return text + e.Stop.Error() + ")"
	}
	return text + e.Stop.Error()
}

// Unwrap returns the last attempt's error, if there is one, and the reason why no further attempt was made.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Stop}
	}
	return []error{e.Err, e.Stop}
}

// Timeout reports whether the attempt or the caller's context timed out. url.Error calls it.
func (e *Error) Timeout() bool { return errors.Is(e, context.DeadlineExceeded) }

// refusal is the reason why this package did not make a call. Since the operation has not run, the call may be
// repeated at a slower pace.
type refusal struct{ text, name, by string }

func (r *refusal) Error() string { return r.text }

// ClassifyRetry implements [retry.Classified].
func (r *refusal) ClassifyRetry() (retry.Classification, bool) {
	return retry.Classification{Error: r.name, Class: retry.Transient, Identity: r.by}, true
}

// refusedByBreaker is an ErrCircuitOpen with the breaker's own error, which says the same and when to try again.
type refusedByBreaker struct{ err error }

func (r *refusedByBreaker) Error() string   { return r.err.Error() }
func (r *refusedByBreaker) Unwrap() []error { return []error{ErrCircuitOpen, r.err} }

// refusedByLimiter is an ErrLimited with the limiter's own error, which states the limit and decides the error name.
type refusedByLimiter struct{ err error }

func (r *refusedByLimiter) Error() string   { return r.err.Error() }
func (r *refusedByLimiter) Unwrap() []error { return []error{ErrLimited, r.err} }

// ClassifyRetry implements [retry.Classified].
func (r *refusedByLimiter) ClassifyRetry() (retry.Classification, bool) {
	if exhausted, ok := errors.AsType[*limiter.ExhaustedError](r.err); ok {
		return exhausted.ClassifyRetry()
	}
	return retry.Classification{}, false
}

// stop is a reason to end a call, with a detail that explains it.
type stop struct {
	reason error
	detail string
}

func (s *stop) Error() string { return s.reason.Error() + ": " + s.detail }
func (s *stop) Unwrap() error { return s.reason }

// ConfigError is returned if a policy, an option or a bulkhead has an unusable value.
type ConfigError struct {
	Setting string // the setting's name
	Value   string // its value
	Want    string // what is accepted
}

// Error names the setting, the value and what is accepted.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("resilience: %s is %s; want %s", e.Setting, e.Value, e.Want)
}

func needsPositive(setting string, d time.Duration) error {
	if d > 0 {
		return nil
	}
	return &ConfigError{setting, d.String(), "more than 0"}
}

func needsAtLeast(setting string, n, least int) error {
	if n >= least {
		return nil
	}
	return &ConfigError{setting, strconv.Itoa(n), fmt.Sprintf("%d or more", least)}
}

// TimeoutError reports an attempt that was ended by its [WithAttemptTimeout]. errors.Is finds context.DeadlineExceeded
// and the operation's own error.
type TimeoutError struct {
	After time.Duration
	// Err is the error that the operation returned when its context had ended.
	Err error
}

// Error names the timeout and the operation's error.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the attempt took longer than %s: %v", e.After, e.Err)
}

// Timeout returns true; it implements net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// ClassifyRetry implements [retry.Classified]. If the operation's error was classified by [Mark], it returns that
// classification. Otherwise it returns TimeoutError with an unknown outcome.
func (e *TimeoutError) ClassifyRetry() (retry.Classification, bool) {
	if marked, ok := errors.AsType[*marked](e.Err); ok {
		return marked.classification, true
	}
	return retry.Classification{
		Error: retry.TimeoutError, Class: retry.UnknownOutcome, Identity: "attempt timeout",
	}, true
}

// Unwrap returns context.DeadlineExceeded and the operation's error.
func (e *TimeoutError) Unwrap() []error { return []error{context.DeadlineExceeded, e.Err} }

// PanicError is the value with which [Call.Do] panics if an operation panicked on the goroutine of a hedge. A panic
// on the caller's own goroutine passes through unchanged.
type PanicError struct {
	Recovered any
	Stack     []byte
}

// Error returns the recovered value and the stack of the goroutine that panicked.
func (e *PanicError) Error() string { return fmt.Sprintf("%v\n\n%s", e.Recovered, e.Stack) }

// Unwrap returns the recovered value if it is an error, or nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Recovered.(error)
	return err
}
