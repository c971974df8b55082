package idempotency

import (
	"context"
	"errors"
	"time"
)

// Store keeps idempotency keys. Many goroutines and processes use it concurrently. The difference between their
// clocks must be small compared with the lease. Times are truncated to milliseconds. Implementations must pass the
// suite in package storetest.
type Store interface {
	// Begin claims a key, or returns the key's state. It claims a key that is new or has expired; a running key
	// does not expire. It also claims a key whose lease has ended, if the fingerprint is the same. Calling Begin
	// again with the token of a held claim returns the same claim. It shortens the lease of another claim that
	// [Claim.ShortenLease] shortens.
	Begin(ctx context.Context, c Claim) (Standing, error)
	// Extend extends a claim's lease. It returns ErrLeaseLost if the token no longer holds the key.
	Extend(ctx context.Context, key, token string, until time.Time) error
	// Finish stores the answer of a claim, which is kept until expires. It returns ErrLeaseLost if the token no
	// longer holds the key, even if no other claim does. Finishing again with the same token succeeds and changes
	// nothing.
	Finish(ctx context.Context, key, token string, a Answer, expires time.Time) error
	// Release gives up a claim, so that the next request under the key runs. If the claim is not held, Release does
	// nothing.
	Release(ctx context.Context, key, token string) error
	// Purge removes up to most keys that expired before now, and returns their number.
	Purge(ctx context.Context, now time.Time, most int) (int, error)
	// MaxAnswer returns the maximum size of an answer's header and body in bytes; 0 means unlimited.
	MaxAnswer() int
}

// Claim is a request's attempt to claim a key.
type Claim struct {
	// Key has 1 to 1,024 bytes.
	Key string
	// Fingerprint identifies the request; the caller decides how it is computed. nil and an empty one are equal: every
	// request under the key is then the same.
	Fingerprint []byte
	// Token is unique to this claim.
	Token string
	// Now is the time of the claim. Until is the time at which its lease ends. Expires is the time after which the
	// key may be purged.
	Now, Until, Expires time.Time
}

// ShortenLease returns the end of the lease of another claim, which is stored as end and was claimed for the duration
// lasts; 0 means unknown. If end is further away than a lease can be, the clock was set back since: the lease ends
// after its duration from now, and changed is true. A store must store that end. The holder, if it lives, renews the
// lease in a third of that time; if it died, the key is not blocked for as long as the clock was set back.
func (c Claim) ShortenLease(end time.Time, lasts time.Duration) (shortened time.Time, changed bool) {
	if lasts <= 0 || end.Sub(c.Now) <= 2*lasts {
		return end, false
	}
	return c.Now.Add(lasts), true
}

// Standing is a store's reply to a claim.
type Standing struct {
	State State
	// TakenOver is set if State is Claimed. It is true if another claim's lease had ended without an answer.
	TakenOver bool
	// Until is the end of the lease. It is set if State is Running.
	Until time.Time
	// Answer is the stored answer. It is set if State is Done.
	Answer Answer
}

// State is the state of a key.
type State uint8

// The states.
const (
	// Claimed: the caller now holds the key and must run the request.
	Claimed State = iota + 1
	// Running: another claim holds the key, and its lease is still valid.
	Running
	// Done: the answer is stored.
	Done
	// Mismatched: the key was used for a different request.
	Mismatched
)

// String returns the state's name.
func (s State) String() string {
	switch s {
	case Claimed:
		return "claimed"
	case Running:
		return "running"
	case Done:
		return "done"
	case Mismatched:
		return "mismatched"
	default:
		return "unknown"
	}
}

// Answer is the outcome of a request.
type Answer struct {
	// Status is an HTTP status, or any number whose meaning the caller defines.
	Status int
	Header map[string][]string
	Body   []byte
}

// size returns the approximate size of an answer in bytes.
func (a Answer) size() int {
	n := len(a.Body)
	for name, values := range a.Header {
		n += len(name) + 8
		for _, v := range values {
			n += len(v) + 4
		}
	}
	return n
}

// The errors of a guard and its store.
var (
	// ErrLeaseLost: the claim is no longer held; its answer was not stored.
	ErrLeaseLost = errors.New("the lease of the idempotency key was lost")
	// ErrMismatch: the key was used for a different request.
	ErrMismatch = errors.New("the idempotency key was used for another request")
	// ErrRunning: the first request under the key is still running.
	ErrRunning = errors.New("a request with this idempotency key is still running")
	// ErrAnswerTooLong: the first request succeeded, but its answer was too long to be kept.
	ErrAnswerTooLong = errors.New("the response to the first request was too long to store")
	// ErrKey: the key is empty or too long.
	ErrKey = errors.New("an idempotency key has 1 to 1024 bytes")
)
