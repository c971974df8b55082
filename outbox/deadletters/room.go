package deadletters

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// By says who does something, and why.
type By struct {
	Who    string
	Reason string // must be given to discard
}

// Room is where letters of one kind are. Each act is one transaction that changes the letter and records the act, or
// does neither. A letter that is not there is [ErrNotFound]; an act on one that is not dead is a [NotDeadError].
type Room interface {
	List(ctx context.Context, q Query) (Page, error)
	Groups(ctx context.Context, f Filter) ([]Group, error)
	// Show finds a letter in any state.
	Show(ctx context.Context, id string) (Letter, error)
	// Edit keeps a payload beside the original, to be sent instead. The original as the payload takes an edit back.
	Edit(ctx context.Context, id string, payload []byte, by By) error
	// Redrive has a letter delivered as if it had just been written, under the ID it had.
	Redrive(ctx context.Context, id string, by By) error
	Discard(ctx context.Context, id string, by By) error
	// Acts are the last acts, on one letter or on all where id is empty, the newest first.
	Acts(ctx context.Context, id string, limit int) ([]Act, error)
}

// ErrNotFound says that there is no letter of that ID.
var ErrNotFound = errors.New("there is no letter with this ID")

// NotDeadError says that a letter does not wait for a person any more, or does not yet.
type NotDeadError struct {
	ID    string
	State State
	Last  *Act // what was last done to it, nil where nothing was
}

func (e *NotDeadError) Error() string {
	text := fmt.Sprintf("the letter %s is %s, not dead", e.ID, e.State)
	if e.Last != nil {
		text += fmt.Sprintf(": %s by %s at %s", e.Last.Verb, e.Last.Who, e.Last.At.UTC().Format(time.RFC3339))
	}
	return text
}
