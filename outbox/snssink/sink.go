// Package snssink sends an outbox's messages to a topic of Amazon SNS. The message's ID is the attribute Message-Id
// and, in a FIFO topic, the deduplication ID; its key is the message group there. It never retries by itself: the
// relay does.
package snssink

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"stepback/outbox"
	"stepback/outbox/internal/awsmessage"
)

// Limits of SNS, for one message with its attributes and for a batch.
const (
	MaxBytes    = 256 << 10
	maxMessages = 10
)

// Client is what the sink needs of *sns.Client.
type Client interface {
	PublishBatch(context.Context, *sns.PublishBatchInput, ...func(*sns.Options)) (*sns.PublishBatchOutput, error)
}

// Sink is an outbox.BatchSink.
type Sink struct {
	client Client
	topic  string
}

// New makes a sink of the topic with that ARN.
func New(client Client, topicARN string) *Sink { return &Sink{client, topicARN} }

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
	in := &sns.PublishBatchInput{TopicArn: aws.String(s.topic)}
	for i, m := range all {
		entry, size := s.entry(i, m)
		if size > MaxBytes {
			errs[i] = awsmessage.TooLarge("SNS", size, MaxBytes)
			continue
		}
		in.PublishBatchRequestEntries = append(in.PublishBatchRequestEntries, entry)
	}
	if len(in.PublishBatchRequestEntries) == 0 {
		return errs
	}
	out, err := s.client.PublishBatch(ctx, in, func(o *sns.Options) { o.RetryMaxAttempts = 1 })
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
				"SNS",
				aws.ToString(failed.Code),
				aws.ToString(failed.Message),
				failed.SenderFault,
			)
		}
	}
	for i := range errs {
		if !answered[i] && errs[i] == nil {
			errs[i] = errors.New("SNS did not say what came of the message")
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

func (s *Sink) entry(i int, m *outbox.Message) (types.PublishBatchRequestEntry, int) {
	body, encoded := awsmessage.Body(m)
	attributes := awsmessage.Attributes(m, encoded)
	e := types.PublishBatchRequestEntry{
		Id: aws.String(strconv.Itoa(i)), Message: aws.String(body),
		MessageAttributes: make(map[string]types.MessageAttributeValue, len(attributes)),
	}
	for name, value := range attributes {
		e.MessageAttributes[name] = types.MessageAttributeValue{
			DataType:    aws.String("String"),
			StringValue: aws.String(value),
		}
	}
	if strings.HasSuffix(s.topic, ".fifo") {
		e.MessageDeduplicationId, e.MessageGroupId = aws.String(m.ID), aws.String(awsmessage.Group(m))
	}
	return e, awsmessage.Size(body, attributes)
}
