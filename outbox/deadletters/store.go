package deadletters

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// By holds who acts, and why.
type By struct {
	Who    string
	Reason string // required for a discard
}

// Store is a store of letters of one kind. Each act is one transaction that changes the letter and records the act, or
// does neither. It fails with [ErrNotFound] if the letter does not exist, and with a [NotDeadError] if it is not
// dead.
type Store interface {
	List(ctx context.Context, q Query) (Page, error)
	Groups(ctx context.Context, f Filter) ([]Group, error)
	// Show returns a letter in any state.
	Show(ctx context.Context, id string) (Letter, error)
	// Edit stores a payload next to the original, to be sent instead. If the payload equals the original, it undoes
	// an edit.
	Edit(ctx context.Context, id string, payload []byte, by By) error
	// Redrive queues a letter for delivery under its old ID, as if it had just been written.
	Redrive(ctx context.Context, id string, by By) error
	Discard(ctx context.Context, id string, by By) error
	// Acts returns the latest acts on one letter, or on all letters if id is empty, newest first.
	Acts(ctx context.Context, id string, limit int) ([]Act, error)
}

// ErrNotFound is returned if no letter has the ID.
var ErrNotFound = errors.New("there is no letter with this ID")

// undecided returns the error for an act on a letter that may have been delivered.
func undecided(l *Letter) error {
	return &BadActError{fmt.Sprintf("the letter %s may have been delivered: %s ended with %s before it decided the letter; "+
		"redrive the letter, which resumes that delivery and delivers nothing twice", l.ID, l.Execution, l.Error)}
}

// NotDeadError is returned if a letter is not dead, or not dead any more.
type NotDeadError struct {
	ID    string
	State State
	Last  *Act // the last act on it; nil if there was none
}

func (e *NotDeadError) Error() string {
	text := fmt.Sprintf("the letter %s is %s, not dead", e.ID, e.State)
	if e.Last != nil {
		text += fmt.Sprintf(": %s by %s at %s", e.Last.Verb.Past(), e.Last.Who, e.Last.At.UTC().Format(time.RFC3339))
	}
	return text
}
