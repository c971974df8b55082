package resilience

import (
	"errors"
	"time"

	"stepback/retry"
)

// Classifier returns the name of an error and whether repeating helps. It returns false if it does not know the
// error. Executors use [retry.Classify] unless [WithClassifier] sets another one.
type Classifier func(error) (retry.Classification, bool)

// Mark sets the class and the name of an error, for operations that know more than the error's text says. The name
// is one of package retry's constants or the caller's own. A nil error stays nil.
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

// MarkRetryAfter records in an error that the server must not be called again before d has passed. A nil error
// stays nil. If d is 0 or less, the error is unchanged.
func MarkRetryAfter(err error, d time.Duration) error {
	if err == nil || d <= 0 {
		return err
	}
	return &postponed{err, d}
}

// MarkPushback records in an error what the server decided: to be called again after exactly wait or, if again is
// false, not at all. This replaces the policy's wait, but not its limits. A nil error stays nil.
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

// retryAfter returns the pause that an error requests, or 0.
func retryAfter(err error) time.Duration {
	if hint, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err); ok {
		return max(hint.RetryAfter(), 0)
	}
	return 0
}
