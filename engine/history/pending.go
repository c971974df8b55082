package history

import "time"

// PendingKind says what a state waits for.
type PendingKind string

// What states wait for.
const (
	PendingRetry  PendingKind = "RETRY"   // the delay of a retrier, before the next attempt
	PendingWait   PendingKind = "WAIT"    // the end of a Wait state
	PendingTask   PendingKind = "TASK"    // the answer of a task
	PendingMapRun PendingKind = "MAP_RUN" // the end of a Map Run
)

// Pending is something that an execution under way waits for. Histories do not show it: they have no event for a retry
// that is to come.
type Pending struct {
	// ID names it within its execution, from 1.
	ID   int64       `json:"id"`
	Kind PendingKind `json:"kind"`
	// State is the state that waits, Entered the ID of the event of its entry.
	State   string `json:"state"`
	Entered int64  `json:"enteredEventId"`
	// At is when a retry or a Wait state goes on; zero for the others, whose end is not known.
	At time.Time `json:"at,omitzero"`
	// Retries is how many retries the state has asked for, the one that it waits for included; Retrier counts them by
	// the elements of its Retry array, and is empty while there is none.
	Retries int64   `json:"retries"`
	Retrier []int64 `json:"retriers,omitempty"`
	// Token is the task token of a task that is ended by one; empty for other tasks. Who has it can end the task.
	Token string `json:"-"`
	// MapRunARN is the Map Run.
	MapRunARN string `json:"mapRunArn,omitempty"`
}
