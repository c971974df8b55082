package idempotency

import (
	"context"
	"errors"
	"time"
)

// Store remembers keys. Any number of goroutines and processes use it at once; their clocks have to agree to within a
// small part of the lease. Times are cut to milliseconds. Implementations pass package storetest.
type Store interface {
	// Begin claims a key, or says what is there. It claims a key that is new, one that has expired (which one that
	// runs does not), and one whose claim's lease has ended, for the same fingerprint. Asking again with the token of
	// a claim that is held is the same claim.
	Begin(ctx context.Context, c Claim) (Standing, error)
	// Extend moves the end of a claim's lease. It fails with ErrLeaseLost when the token no longer holds the key.
	Extend(ctx context.Context, key, token string, until time.Time) error
	// Finish stores the answer of a claim, to be kept until expires. It fails with ErrLeaseLost when the token no
	// longer holds the key, even if nobody else does; finishing again with the same token is fine and changes nothing.
	Finish(ctx context.Context, key, token string, a Answer, expires time.Time) error
	// Release gives a claim up, so that the next request under the key runs. One that is not held is left as it is.
	Release(ctx context.Context, key, token string) error
	// Purge removes up to most keys that expired before now, and says how many.
	Purge(ctx context.Context, now time.Time, most int) (int, error)
	// MaxAnswer is how many bytes of header and body an answer may have; 0 is any number.
	MaxAnswer() int
}

// Claim is the wish to run under a key.
type Claim struct {
	// Key is 1 to 1,024 bytes.
	Key string
	// Fingerprint is that of the request; what it is made of is the caller's affair.
	Fingerprint []byte
	// Token tells this claim from all others.
	Token string
	// Now is the time of the claim, Until the end of its lease, Expires when the key is forgotten.
	Now, Until, Expires time.Time
}

// Standing is what a store says to a claim.
type Standing struct {
	State State
	// TakenOver says, of Claimed, that another claim's lease had ended without an answer.
	TakenOver bool
	// Until is the end of the lease, of Running.
	Until time.Time
	// Answer is what was stored, of Done.
	Answer Answer
}

// State is where a key stands.
type State uint8

// The states.
const (
	// Claimed: the key is the caller's, who runs.
	Claimed State = iota + 1
	// Running: another claim's lease has not ended.
	Running
	// Done: the answer is stored.
	Done
	// Mismatched: the key was used for another request.
	Mismatched
)

// String is the state's name.
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

// Answer is what a request came to.
type Answer struct {
	// Status is an HTTP status, or any other number that the caller gives a meaning.
	Status int
	Header map[string][]string
	Body   []byte
}

// size is about how much room an answer takes.
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

// What a guard and its store fail with.
var (
	// ErrLeaseLost: the claim is held no longer; its answer was not stored.
	ErrLeaseLost = errors.New("the lease of the idempotency key was lost")
	// ErrMismatch: the key was used for another request.
	ErrMismatch = errors.New("the idempotency key was used for another request")
	// ErrRunning: the first request under the key still runs.
	ErrRunning = errors.New("a request under the idempotency key still runs")
	// ErrAnswerTooLong: the first request succeeded, and its answer was too long to be kept.
	ErrAnswerTooLong = errors.New("the answer to the first request was too long to be kept")
	// ErrKey: the key is empty or too long.
	ErrKey = errors.New("an idempotency key has 1 to 1024 bytes")
)
