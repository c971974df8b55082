package resilience

import (
	"errors"
	"time"

	"stepback/retrypatterns"
)

// Classifier names an error and says what repeating can do; false where nothing is known about it.
type Classifier func(error) (retrypatterns.Classification, bool)

// Classify is the classifier that executors use unless [WithClassifier] sets another: what [Mark] said, what a refusal
// of a bulkhead or breaker is, a [TimeoutError], else retrypatterns.Classify.
func Classify(err error) (retrypatterns.Classification, bool) {
	if marked, ok := errors.AsType[*marked](err); ok {
		return marked.classification, true
	}
	if _, ok := errors.AsType[*TimeoutError](err); ok {
		return retrypatterns.Classification{
			Error: retrypatterns.TimeoutError, Class: retrypatterns.UnknownOutcome, Identity: "attempt timeout",
		}, true
	}
	switch { // what this package refused has not happened, and may come back paced
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

// Mark says what an error is, for operations that know better than its text: its class, and its name in the retry
// table (one of retrypatterns' constants, or a name of the caller's own). A nil error stays nil.
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

// WithRetryAfter attaches a server's wish to an error: not to be called again before d has passed. A nil error stays
// nil; 0 or less is no wish.
func WithRetryAfter(err error, d time.Duration) error {
	if err == nil || d <= 0 {
		return err
	}
	return &postponed{err, d}
}

// WithPushback attaches a server's decision to an error: to be called again exactly after wait, or not at all. It takes
// the place of the policy's wait, but not of its limits. A nil error stays nil.
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

// retryAfter is the pause that an error asks for; 0 when it asks for none.
func retryAfter(err error) time.Duration {
	if hint, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err); ok {
		return max(hint.RetryAfter(), 0)
	}
	return 0
}
