package resilience

import (
	"errors"
	"time"

	"stepback/retry"
)

// Classifier returns the name of an error and the effect of repeating; false if nothing is known about it. Executors
// use [retry.Classify] unless [WithClassifier] sets another one.
type Classifier func(error) (retry.Classification, bool)

// Mark sets the classification of an error, for operations that know more than its text says: its class, and its name
// (one of package retry's constants, or a name of the caller's own). A nil error stays nil.
func Mark(err error, class retry.Class, name string) error {
	if err == nil {
		return nil
	}
	return &marked{err, retry.Classification{Error: name, Class: class, Identity: "mark"}}
}

type marked struct {
	error
	classification retry.Classification
}

func (m *marked) Unwrap() error { return m.error }

// ClassifyRetry implements [retry.Classified].
func (m *marked) ClassifyRetry() (retry.Classification, bool) { return m.classification, true }

// MarkRetryAfter attaches a server's request to an error: not to be called again before d has passed. A nil error
// stays nil; 0 or less means no request.
func MarkRetryAfter(err error, d time.Duration) error {
	if err == nil || d <= 0 {
		return err
	}
	return &postponed{err, d}
}

// MarkPushback attaches a server's decision to an error: to be called again exactly after wait or, if again is false,
// not at all. It replaces the policy's wait, but not its limits. A nil error stays nil.
func MarkPushback(err error, wait time.Duration, again bool) error {
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
