package resilience

import (
	"errors"
	"time"

	"stepback/retrypatterns"
)

// Classifier returns the name of an error and the effect of repeating; false if nothing is known about it.
type Classifier func(error) (retrypatterns.Classification, bool)

// Classify is the default classifier of executors; [WithClassifier] sets another. It recognizes errors marked with
// [Mark], refusals of a bulkhead or breaker, and [TimeoutError]; others it passes to retrypatterns.Classify.
func Classify(err error) (retrypatterns.Classification, bool) {
	if marked, ok := errors.AsType[*marked](err); ok {
		return marked.classification, true
	}
	if _, ok := errors.AsType[*TimeoutError](err); ok {
		return retrypatterns.Classification{
			Error: retrypatterns.TimeoutError, Class: retrypatterns.UnknownOutcome, Identity: "attempt timeout",
		}, true
	}
	switch { // a call refused by this package has not happened and may be repeated after a pause
	case errors.Is(err, ErrCircuitOpen):
		return retrypatterns.Classification{
			Error: retrypatterns.CircuitOpen, Class: retrypatterns.Transient, Identity: "circuit breaker",
		}, true
	case errors.Is(err, ErrBudget):
		return retrypatterns.Classification{
			Error: retrypatterns.RetryBudgetExhausted, Class: retrypatterns.Transient, Identity: "retry budget",
		}, true
	case errors.Is(err, ErrBulkheadFull), errors.Is(err, ErrQueueTimeout):
		return retrypatterns.Classification{
			Error: retrypatterns.ServiceUnavailableError, Class: retrypatterns.Transient, Identity: "bulkhead",
		}, true
	}
	return retrypatterns.Classify(err)
}

// Mark sets the classification of an error, for operations that know more than its text says: its class, and its name
// in the retry table (one of retrypatterns' constants, or any other name). A nil error stays nil.
func Mark(err error, class retrypatterns.Class, name string) error {
	if err == nil {
		return nil
	}
	return &marked{err, retrypatterns.Classification{Error: name, Class: class, Identity: "mark"}}
}

type marked struct {
	error
	classification retrypatterns.Classification
}

func (m *marked) Unwrap() error { return m.error }

// WithRetryAfter attaches a server's request to an error: not to be called again before d has passed. A nil error
// stays nil; 0 or less means no request.
func WithRetryAfter(err error, d time.Duration) error {
	if err == nil || d <= 0 {
		return err
	}
	return &postponed{err, d}
}

// WithPushback attaches a server's decision to an error: to be called again exactly after wait or, if again is false,
// not at all. It replaces the policy's wait, but not its limits. A nil error stays nil.
func WithPushback(err error, wait time.Duration, again bool) error {
	if err == nil {
		return nil
	}
	return &pushedBack{err, max(wait, 0), again}
}

type pushedBack struct {
	error
	wait  time.Duration
	again bool
}

func (p *pushedBack) Unwrap() error { return p.error }

type postponed struct {
	error
	after time.Duration
}

func (p *postponed) Unwrap() error             { return p.error }
func (p *postponed) RetryAfter() time.Duration { return p.after }

// retryAfter returns the pause that an error requests; 0 if none.
func retryAfter(err error) time.Duration {
	if hint, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err); ok {
		return max(hint.RetryAfter(), 0)
	}
	return 0
}
