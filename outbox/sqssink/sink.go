// Package sqssink sends an outbox's messages to an Amazon SQS queue. The message's ID is the attribute Message-Id
// and, in a FIFO queue, the deduplication ID; its key is the message group there. The package never retries by
// itself; the relay does.
package sqssink

import (
	"context"

	"stepback/outbox"
	"stepback/outbox/internal/awsmessage"
)

// MaxBytes is SQS's limit for one message with its attributes.
const MaxBytes = 1 << 20

// Client is the part of *client.Named, for the service "sqs", that the sink needs. It should not retry by itself.
type Client interface {
	// Call calls an operation; encoding/json encodes in and decodes out.
	Call(ctx context.Context, operation string, in, out any) error
}

// Sink implements outbox.BatchSink.
type Sink struct {
	client Client
	batch  awsmessage.Batch
}

// New returns a sink for the queue with that URL.
func New(client Client, queueURL string) *Sink {
	return &Sink{client, awsmessage.Batch{
		Service: "SQS", Operation: "SendMessageBatch", MaxBytes: MaxBytes, To: "QueueUrl", At: queueURL, Entries: "Entries",
		Body: "MessageBody",
	}}
}

// BatchLimits implements outbox.BatchSink. It leaves space for the attributes.
func (s *Sink) BatchLimits() (messages, bytes int) { return awsmessage.MaxMessages, MaxBytes / 2 }

// Send implements outbox.Sink.
func (s *Sink) Send(ctx context.Context, m *outbox.Message) error {
	return s.SendBatch(ctx, []*outbox.Message{m})[0]
}

// SendBatch implements outbox.BatchSink.
func (s *Sink) SendBatch(ctx context.Context, all []*outbox.Message) []error {
	return s.batch.Send(ctx, s.client.Call, all)
}
