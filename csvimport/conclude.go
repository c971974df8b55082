package csvimport

import (
	"context"

	"github.com/google/uuid"

	"stepback/outbox"
)

// Conclusion holds the final counts of a run, once each of its rows is settled.
type Conclusion struct {
	Applied, AlreadyApplied, Rejected, DeadLettered int64
}

// Concluder is a Store that records which runs are concluded, and has an outbox in the same database.
type Concluder interface {
	// Conclude records the conclusion of a run and writes messages to the outbox, in one transaction. It may be
	// called repeatedly, concurrently and again after a crash; only one of the calls for a run has an effect.
	Conclude(ctx context.Context, run Run, c Conclusion, messages []outbox.Message) error
}

// Conclude concludes a run if the store is a [Concluder]; otherwise it does nothing.
func Conclude(ctx context.Context, store Store, run Run, c Conclusion, messages []outbox.Message) error {
	if concluder, ok := store.(Concluder); ok {
		return concluder.Conclude(ctx, run, c, messages)
	}
	return nil
}

// messageSpace is the UUID namespace of the IDs of messages about runs. Receivers rely on these IDs: it must never
// change.
var messageSpace = uuid.MustParse("6f1c9f0e-2f0b-5f7e-9b0a-6d7c1c8f4e55")

// MessageID returns the ID of the message that a run sends to a topic: a version 5 UUID, the same for every attempt
// to send it.
func MessageID(run Run, topic string) string {
	name := run.File.Bucket + "\x00" + run.File.Key + "\x00" + run.File.ETag + "\x00" + run.Name + "\x00" + topic
	return uuid.NewSHA1(messageSpace, []byte(name)).String()
}
