package outbox

import "stepback/outbox/deadletters"

// HeaderExecution is the header with the ARN of the execution that a message reports on.
const HeaderExecution = "Stepback-Execution"

// StateOf converts a message's status to the state of a dead letter.
func StateOf(s Status) deadletters.State {
	switch s {
	case Dead:
		return deadletters.Dead
	case Sent:
		return deadletters.Delivered
	case Discarded:
		return deadletters.Discarded
	default:
		return deadletters.Underway
	}
}

// RedriveSnapshots returns the fields that a redrive changes, before and after.
func RedriveSnapshots(l *deadletters.Letter) (before, after deadletters.Snapshot) {
	none := 0
	return deadletters.Snapshot{Status: string(Dead), Reason: l.Reason, Error: l.Error, Attempts: &l.Attempts},
		deadletters.Snapshot{Status: string(Pending), Attempts: &none}
}

// DiscardSnapshots returns the fields that a discard changes, before and after. The payload is included, because
// the message itself is eventually deleted.
func DiscardSnapshots(l *deadletters.Letter) (before, after deadletters.Snapshot) {
	before = deadletters.WithPayload(l.Sent())
	before.Status, before.Reason, before.Error, before.Attempts = string(Dead), l.Reason, l.Error, &l.Attempts
	return before, deadletters.Snapshot{Status: string(Discarded)}
}
