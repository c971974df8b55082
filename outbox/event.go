package outbox

import "time"

// EventKind says what happened.
type EventKind string

// What a relay tells its observer.
const (
	EventClaimed     EventKind = "claimed"      // Count messages were claimed, in Took
	EventSent        EventKind = "sent"         // the sink took a message, in Took
	EventRetry       EventKind = "retry"        // an attempt failed with Error, another follows After
	EventDead        EventKind = "dead"         // a message became a dead letter for Reason, after Error
	EventReleased    EventKind = "released"     // a message goes back unattempted, since its key waits or the relay stops
	EventSettled     EventKind = "settled"      // Count outcomes were recorded, in Took; of Lost others the message was no longer this relay's
	EventOverrun     EventKind = "overrun"      // the sink did not return in time; its goroutine is left behind until it does
	EventStoreFailed EventKind = "store failed" // the store failed to do Error, with Err
	EventDeleted     EventKind = "deleted"      // Count messages were deleted, since they were kept for long enough
)

// Event is one thing that happened. Which members it has is said at its kind.
type Event struct {
	Kind     EventKind
	Delivery *Delivery // the message, where it is about one; not to be kept
	Count    int
	Lost     int
	Took     time.Duration
	After    time.Duration
	Error    string
	Reason   string
	Err      error
}
