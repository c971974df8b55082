// Package sqssink sends an outbox's messages to a queue of Amazon SQS. The message's ID is the attribute Message-Id
// and, in a FIFO queue, the deduplication ID; its key is the message group there. It never retries by itself: the
// relay does.
package sqssink

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"stepback/outbox"
	"stepback/outbox/internal/awsmessage"
)

// Limits of SQS, for one message with its attributes and for a batch.
const (
	MaxBytes    = 1 << 20
	maxMessages = 10
)

// Client is what the sink needs of *sqs.Client.
type Client interface {
	SendMessageBatch(
		context.Context,
		*sqs.SendMessageBatchInput,
		...func(*sqs.Options),
	) (*sqs.SendMessageBatchOutput, error)
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
	in := &sqs.SendMessageBatchInput{QueueUrl: aws.String(s.queue)}
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
	out, err := s.client.SendMessageBatch(ctx, in, func(o *sqs.Options) { o.RetryMaxAttempts = 1 })
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
		mark(answered, entry.Id)
	}
	for _, failed := range out.Failed {
		if i, ok := mark(answered, failed.Id); ok {
			errs[i] = awsmessage.Entry(
				"SQS",
				aws.ToString(failed.Code),
				aws.ToString(failed.Message),
				failed.SenderFault,
			)
		}
	}
	for i := range errs {
		if !answered[i] && errs[i] == nil {
			errs[i] = errors.New("SQS did not say what came of the message")
		}
	}
	return errs
}

func mark(answered []bool, id *string) (int, bool) {
	i, err := strconv.Atoi(aws.ToString(id))
	if err != nil || i < 0 || i >= len(answered) {
		return 0, false
	}
	answered[i] = true
	return i, true
}

func (s *Sink) entry(i int, m *outbox.Message) (types.SendMessageBatchRequestEntry, int) {
	body, encoded := awsmessage.Body(m)
	attributes := awsmessage.Attributes(m, encoded)
	e := types.SendMessageBatchRequestEntry{
		Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(body),
		MessageAttributes: make(map[string]types.MessageAttributeValue, len(attributes)),
	}
	for name, value := range attributes {
		e.MessageAttributes[name] = types.MessageAttributeValue{
			DataType:    aws.String("String"),
			StringValue: aws.String(value),
		}
	}
	if strings.HasSuffix(s.queue, ".fifo") {
		e.MessageDeduplicationId, e.MessageGroupId = aws.String(m.ID), aws.String(awsmessage.Group(m))
	}
	return e, awsmessage.Size(body, attributes)
}
