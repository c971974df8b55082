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

// Pending describes something that a running execution is waiting for. A history does not show it, because it has
// no event for a future retry.
type Pending struct {
	// ID identifies it within its execution, from 1.
	ID   int64       `json:"id"`
	Kind PendingKind `json:"kind"`
	// State is the waiting state. Entered is the ID of its entry event.
	State   string `json:"state"`
	Entered int64  `json:"enteredEventId"`
	// At is when a retry or a Wait state continues. It is zero for the other kinds, because their end is unknown.
	At time.Time `json:"at,omitzero"`
	// Retries is the number of retries of the state, including the one it is waiting for. Retrier has the number of
	// retries for each element of the Retry array; it is empty if there have been none.
	Retries int64   `json:"retries"`
	Retrier []int64 `json:"retriers,omitempty"`
	// Token is the task token with which the task is completed; empty for tasks that are completed in another way.
	// Its holder can complete the task.
	Token string `json:"-"`
	// MapRunARN is the ARN of the Map Run.
	MapRunARN string `json:"mapRunArn,omitempty"`
}
