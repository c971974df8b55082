package resilience

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"stepback/retry"
)

// Why a call was given up, or never made. Each can be asked for with errors.Is on what [Do] returns.
var (
	// ErrExhausted: the policy's last retry has failed.
	ErrExhausted = errors.New("no retry is left")
	// ErrPermanent: repeating cannot help.
	ErrPermanent = errors.New("a permanent error is not repeated")
	// ErrUnclassified: nothing is known about the error; the careful reading is permanent.
	ErrUnclassified = errors.New("an error of unknown kind is not repeated")
	// ErrNotIdempotent: it may have happened already, and the operation is not idempotent.
	ErrNotIdempotent = errors.New("it may have happened already, and the operation is not idempotent")
	// ErrConflict: it lost against another one; who read before has to read again.
	ErrConflict = errors.New("a conflict is repeated from the read on, not from here")
	// ErrNoRetrier: no row of the table names the error.
	ErrNoRetrier = errors.New("no row of the retry table names the error")
	// ErrDeadline: another attempt could not end before the context's deadline.
	ErrDeadline = errors.New("another attempt could not end before the deadline")
	// ErrRetryAfter: the server asks for a longer pause than [WithMaxRetryAfter] allows.
	ErrRetryAfter = errors.New("the server asks for a longer pause than is allowed")
	// ErrPushback: the server says not to repeat the call.
	ErrPushback = errors.New("the server says not to try again")
	// ErrBudget: the retry budget is used up.
	ErrBudget error = &refusal{"the retry budget is used up", retry.RetryBudgetExhausted, "retry budget"}
	// ErrCircuitOpen: the circuit breaker admits no call.
	ErrCircuitOpen error = &refusal{"the circuit is open", retry.CircuitOpen, "circuit breaker"}
	// ErrBulkheadFull: as many calls run and wait as the bulkhead holds.
	ErrBulkheadFull error = &refusal{"the bulkhead is full", retry.ServiceUnavailableError, "bulkhead"}
	// ErrQueueTimeout: the call waited in the bulkhead's queue for as long as it may.
	ErrQueueTimeout error = &refusal{"the wait in the bulkhead's queue took too long", retry.ServiceUnavailableError,
		"bulkhead"}
	// ErrCancelled: the caller's context ended. The context's own error is there as well.
	ErrCancelled = errors.New("the caller gave up")
)

// Error is how a call ended that did not succeed. errors.Is and errors.As see both what failed last and why no further
// attempt was made.
type Error struct {
	// Service is the executor's name; empty for [Do].
	Service string
	// Attempts is how often the operation was started; 0 if it never was.
	Attempts int
	// Stop says why there was no further attempt: one of this package's Err… values, or one that wraps it.
	Stop error
	// Classification is what Err was recognised as; zero when it was not.
	Classification retry.Classification
	// Err is what the last attempt answered; nil when there was none.
	Err error
}

// Error reads like "payments: 3 attempts: HTTP 503 …: no retry is left".
func (e *Error) Error() string {
	text := ""
	if e.Service != "" {
		text = e.Service + ": "
	}
	switch e.Attempts {
	case 0:
		text += "not called: "
	case 1: // the usual number goes without saying
	default:
		text += fmt.Sprintf("%d attempts: ", e.Attempts)
	}
	if e.Err != nil {
		text += e.Err.Error() + " ("
		return text + e.Stop.Error() + ")"
	}
	return text + e.Stop.Error()
}

// Unwrap gives what failed last, then why no further attempt was made.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Stop}
	}
	return []error{e.Err, e.Stop}
}

// Timeout tells whether time ran out: the attempt's, or that of the caller's context. It is what url.Error asks.
func (e *Error) Timeout() bool { return errors.Is(e, context.DeadlineExceeded) }

// refusal is why this package did not make a call. The call has not happened, and may come back at a slower pace.
type refusal struct{ text, name, by string }

func (r *refusal) Error() string { return r.text }

// ClassifyRetry implements [retry.Classified].
func (r *refusal) ClassifyRetry() (retry.Classification, bool) {
	return retry.Classification{Error: r.name, Class: retry.Transient, Identity: r.by}, true
}

// stop is a reason with the reader's next question answered.
type stop struct {
	reason error
	detail string
}

func (s *stop) Error() string { return s.reason.Error() + ": " + s.detail }
func (s *stop) Unwrap() error { return s.reason }

// ConfigError says that a policy, an option or a bulkhead was given a value that makes no sense.
type ConfigError struct {
	Setting string // what was set
	Value   string // the value
	Want    string // what would be accepted
}

// Error names the setting, the value and what would be accepted.
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

// TimeoutError is an attempt that its [WithAttemptTimeout] ended. errors.Is sees context.DeadlineExceeded and what the
// operation answered.
type TimeoutError struct {
	After time.Duration
	// Err is what the operation answered when its context had ended.
	Err error
}

// Error names the timeout and what the operation answered.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the attempt took longer than %s: %v", e.After, e.Err)
}

// Timeout is true, as net.Error has it.
func (e *TimeoutError) Timeout() bool { return true }

// ClassifyRetry implements [retry.Classified]: what [Mark] said of the operation's answer, else TimeoutError with an
// unknown outcome.
func (e *TimeoutError) ClassifyRetry() (retry.Classification, bool) {
	if marked, ok := errors.AsType[*marked](e.Err); ok {
		return marked.classification, true
	}
	return retry.Classification{
		Error: retry.TimeoutError, Class: retry.UnknownOutcome, Identity: "attempt timeout",
	}, true
}

// Unwrap gives the context's error and what the operation answered.
func (e *TimeoutError) Unwrap() []error { return []error{context.DeadlineExceeded, e.Err} }

// PanicError is the value that [Call.Do] panics with when an operation panicked on the goroutine of a hedge. On the
// caller's own goroutine a panic passes through unchanged.
type PanicError struct {
	Recovered any
	Stack     []byte
}

// Error shows the value and the stack of the goroutine that panicked.
func (e *PanicError) Error() string { return fmt.Sprintf("%v\n\n%s", e.Recovered, e.Stack) }

// Unwrap is the recovered value, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Recovered.(error)
	return err
}
