package history

import "time"

// PendingKind is the kind of event that a state is waiting for.
type PendingKind string

// The kinds of events that states wait for.
const (
	PendingRetry  PendingKind = "RETRY"   // the delay of a retrier, before the next attempt
	PendingWait   PendingKind = "WAIT"    // the end of a Wait state
	PendingTask   PendingKind = "TASK"    // the result of a task
	PendingMapRun PendingKind = "MAP_RUN" // the end of a Map Run
)

// Pending describes something that a running execution is waiting for. Histories do not show it: they have no event
// for a future retry.
type Pending struct {
	// ID identifies it within its execution, from 1.
	ID   int64       `json:"id"`
	Kind PendingKind `json:"kind"`
	// State is the waiting state, Entered the ID of its entry event.
	State   string `json:"state"`
	Entered int64  `json:"enteredEventId"`
	// At is when a retry or a Wait state continues; zero for the others, whose end is unknown.
	At time.Time `json:"at,omitzero"`
	// Retries is the number of retries of the state, including the one it is waiting for. Retrier has the numbers for
	// the elements of its Retry array, and is empty while there are none.
	Retries int64   `json:"retries"`
	Retrier []int64 `json:"retriers,omitempty"`
	// Token is the token of a task that is completed by a task token; empty for other tasks. Its holder can complete
	// the task.
	Token string `json:"-"`
	// MapRunARN is the ARN of the Map Run.
	MapRunARN string `json:"mapRunArn,omitempty"`
}
