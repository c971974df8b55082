package outbox

import "time"

// EventKind is the kind of an event.
type EventKind string

// The events that a relay reports to its observer.
const (
	EventClaimed EventKind = "claimed" // Count messages were claimed, in Took
	EventSent    EventKind = "sent"    // the sink accepted a message, in Took
	EventRetry   EventKind = "retry"   // an attempt failed with Error, another follows After
	EventDead    EventKind = "dead"    // a message became a dead letter for Reason, after Error
	// the relay released a message without an attempt, because its key waits or the relay stops
	EventReleased EventKind = "released"
	// Count outcomes were recorded, in Took; Lost further outcomes were for messages that this relay no longer
	// holds
	EventSettled     EventKind = "settled"
	EventOverrun     EventKind = "overrun"      // the sink did not return in time; its goroutine is abandoned until it does
	EventStoreFailed EventKind = "store failed" // the store operation Error failed with Err
	EventDeleted     EventKind = "deleted"      // Count messages were deleted at the end of their retention
)

// Event is one event of a relay. Its kind determines which fields are set.
type Event struct {
	Kind     EventKind
	Delivery *Delivery // the message, if the event concerns one; must not be retained
	Count    int
	Lost     int
	Took     time.Duration
	After    time.Duration
	Error    string
	Reason   string
	Err      error
}
