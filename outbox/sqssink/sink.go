// Package sqssink sends an outbox's messages to a queue of Amazon SQS. The message's ID is the attribute Message-Id
// and, in a FIFO queue, the deduplication ID; its key is the message group there. It never retries by itself: the
// relay does.
package sqssink

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"stepback/outbox"
	"stepback/outbox/internal/awsmessage"
)

// Limits of SQS, for one message with its attributes and for a batch.
const (
	MaxBytes    = 1 << 20
	maxMessages = 10
)

// Client is what the sink needs of *client.Named for the service "sqs". It should not retry by itself.
type Client interface {
	// Call calls an operation with an input and an output that encoding/json writes and reads.
	Call(ctx context.Context, operation string, in, out any) error
}

// Sink is an outbox.BatchSink.
type Sink struct {
	client Client
	queue  string
}

// New makes a sink of the queue with that URL.
func New(client Client, queueURL string) *Sink { return &Sink{client, queueURL} }

// BatchLimits implements outbox.BatchSink. It leaves room for the attributes.
func (s *Sink) BatchLimits() (messages, bytes int) { return maxMessages, MaxBytes / 2 }

// Send implements outbox.Sink.
func (s *Sink) Send(ctx context.Context, m *outbox.Message) error {
	if errs := s.SendBatch(ctx, []*outbox.Message{m}); errs != nil {
		return errs[0]
	}
	return nil
}

// SendBatch implements outbox.BatchSink.
func (s *Sink) SendBatch(ctx context.Context, all []*outbox.Message) []error {
	errs := make([]error, len(all))
	in := request{QueueURL: s.queue}
	for i, m := range all {
		entry, size := s.entry(i, m)
		if size > MaxBytes {
			errs[i] = awsmessage.TooLarge("SQS", size, MaxBytes)
			continue
		}
		in.Entries = append(in.Entries, entry)
	}
	if len(in.Entries) == 0 {
		return errs
	}
	var out awsmessage.BatchAnswer
	err := s.client.Call(ctx, "SendMessageBatch", in, &out)
	if err != nil {
		for i := range errs {
			if errs[i] == nil {
				errs[i] = err
			}
		}
		return errs
	}
	answered := make([]bool, len(all))
	for _, entry := range out.Successful {
		mark(answered, entry.ID)
	}
	for _, failed := range out.Failed {
		if i, ok := mark(answered, failed.ID); ok {
			errs[i] = awsmessage.Entry("SQS", failed.Code, failed.Message, failed.SenderFault)
		}
	}
	for i := range errs {
		if !answered[i] && errs[i] == nil {
			errs[i] = errors.New("SQS did not say what came of the message")
		}
	}
	return errs
}

func mark(answered []bool, id string) (int, bool) {
	i, err := strconv.Atoi(id)
	if err != nil || i < 0 || i >= len(answered) {
		return 0, false
	}
	answered[i] = true
	return i, true
}

func (s *Sink) entry(i int, m *outbox.Message) (entry, int) {
	body, encoded := awsmessage.Body(m)
	attributes := awsmessage.Attributes(m, encoded)
	e := entry{ID: strconv.Itoa(i), Body: body, Attributes: awsmessage.Values(attributes)}
	if strings.HasSuffix(s.queue, ".fifo") {
		e.Deduplication, e.Group = m.ID, awsmessage.Group(m)
	}
	return e, awsmessage.Size(body, attributes)
}

// request is the input of SendMessageBatch.
type request struct {
	QueueURL string  `json:"QueueUrl"`
	Entries  []entry `json:"Entries"`
}

type entry struct {
	ID            string                      `json:"Id"`
	Body          string                      `json:"MessageBody"`
	Attributes    map[string]awsmessage.Value `json:"MessageAttributes"`
	Deduplication string                      `json:"MessageDeduplicationId,omitempty"`
	Group         string                      `json:"MessageGroupId,omitempty"`
}
