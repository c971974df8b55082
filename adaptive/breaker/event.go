package breaker

import "time"

// EventKind is the kind of an [Event].
type EventKind uint8

// The kinds of events.
const (
	// Changed: the circuit changed between two states, From and To.
	Changed EventKind = iota
	// Recorded: an admitted call ended with Outcome.
	Recorded
	// Rejected: a call was refused.
	Rejected
)

// Event reports a circuit change, a recorded call or a refusal of a [Breaker].
type Event struct {
	Kind EventKind
	// From and To are the circuit before and after the event; they differ only if it changed.
	From, To Circuit
	// At is the time of the event.
	At time.Time
	// Outcome is the outcome of a Recorded call.
	Outcome Outcome
	// Generation counts the changes of the circuit, so that events received out of order can be sorted.
	Generation uint64
}
