package outbox

// Status is the delivery status of a message.
type Status string

// The statuses of a message.
const (
	// Pending means that the message has not been attempted yet, or has been redriven.
	Pending Status = "pending"
	// Processing means that a relay holds the message until its lease ends.
	Processing Status = "processing"
	// Failed means that the last attempt failed; another follows at the time of the next attempt.
	Failed Status = "failed"
	// Sent means that the sink has accepted the message.
	Sent Status = "sent"
	// Dead means that the message is a dead letter; only a person can redrive or discard it.
	Dead Status = "dead"
	// Discarded means that a person decided not to send the message. It is kept until its retention ends, the record
	// of who discarded it for longer.
	Discarded Status = "discarded"
)

// Reasons for which a message becomes a dead letter. A sink may give others.
const (
	// ReasonInvalidPayload means that the check before sending rejected the message.
	ReasonInvalidPayload = "invalid_payload"
	// ReasonTooLarge means that the message is larger than the sink accepts.
	ReasonTooLarge = "payload_too_large"
	// ReasonRefused means that the receiver refused the message, and repeating does not help.
	ReasonRefused = "refused"
	// ReasonRetriesExhausted means that all retries failed.
	ReasonRetriesExhausted = "retries_exhausted"
	// ReasonLeaseExpired means that one relay after another claimed the message and vanished, as happens if it kills
	// the process that sends it.
	ReasonLeaseExpired = "lease_expired"
)
