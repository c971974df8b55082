package breaker

import "time"

// EventKind is what an [Event] tells.
type EventKind uint8

// The kinds of events.
const (
	// Changed: the circuit went From one To another.
	Changed EventKind = iota
	// Recorded: an admitted call ended with Outcome.
	Recorded
	// Rejected: a call was refused.
	Rejected
)

// Event is something that happened to a [Breaker].
type Event struct {
	Kind EventKind
	// From and To are the circuit before and after; the same unless it changed.
	From, To Circuit
	// At is when.
	At time.Time
	// Outcome is that of a Recorded call.
	Outcome Outcome
	// Generation counts the changes of the circuit, so that changes told out of order can be put in order.
	Generation uint64
}
