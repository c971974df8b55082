package outbox

// Status is where a message stands.
type Status string

// The states of a message.
const (
	// Pending: not attempted yet, or redriven.
	Pending Status = "pending"
	// Processing: a relay has it, until its lease ends.
	Processing Status = "processing"
	// Failed: the last attempt failed; another follows at the time of the next attempt.
	Failed Status = "failed"
	// Sent: the sink has taken it.
	Sent Status = "sent"
	// Dead: it is a dead letter; only a person gets it out of there.
	Dead Status = "dead"
	// Discarded: a person decided that it will not be sent. It is kept until the retention ends, the record of who did
	// it for longer.
	Discarded Status = "discarded"
)

// Reasons why a message is dead. A sink may give others.
const (
	// ReasonInvalidPayload: the check before sending refused it.
	ReasonInvalidPayload = "invalid_payload"
	// ReasonTooLarge: it is larger than the sink can take.
	ReasonTooLarge = "payload_too_large"
	// ReasonRefused: the receiver refused it, and repeating does not help.
	ReasonRefused = "refused"
	// ReasonRetriesExhausted: all retries failed.
	ReasonRetriesExhausted = "retries_exhausted"
	// ReasonLeaseExpired: relay after relay took it and was not heard of again, as when it kills the process that sends
	// it.
	ReasonLeaseExpired = "lease_expired"
)
