// Package eventbridgesink sends an outbox's messages to an event bus of Amazon EventBridge: the topic is the detail
// type, the payload, which has to be a JSON object, the detail, and urn:uuid: with the message's ID the first of the
// resources, by which receivers tell a repeat. Headers are not carried. It never retries by itself: the relay does.
package eventbridgesink

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"stepback/outbox"
	"stepback/outbox/internal/awsmessage"
)

// Limits of EventBridge, for one event and for a batch.
const (
	MaxBytes    = 1<<20 - 1
	maxMessages = 10
)

// Client is what the sink needs of *eventbridge.Client.
type Client interface {
	PutEvents(
		context.Context,
		*eventbridge.PutEventsInput,
		...func(*eventbridge.Options),
	) (*eventbridge.PutEventsOutput, error)
}

// Sink is an outbox.BatchSink.
type Sink struct {
	client      Client
	bus, source string
}

// New makes a sink of the event bus with that name or ARN. source is the events' source; it must not begin with "aws.".
func New(client Client, bus, source string) *Sink { return &Sink{client, bus, source} }

// BatchLimits implements outbox.BatchSink. It leaves room for what is sent with the details.
func (s *Sink) BatchLimits() (messages, bytes int) { return maxMessages, MaxBytes / 2 }

// Send implements outbox.Sink.
func (s *Sink) Send(ctx context.Context, m *outbox.Message) error {
	return s.SendBatch(ctx, []*outbox.Message{m})[0]
}

// SendBatch implements outbox.BatchSink.
func (s *Sink) SendBatch(ctx context.Context, all []*outbox.Message) []error {
	errs := make([]error, len(all))
	in := &eventbridge.PutEventsInput{}
	var of []int // which message an entry is
	for i, m := range all {
		resource := "urn:uuid:" + m.ID
		size := len(m.Payload) + len(m.Topic) + len(s.source) + len(resource) + 14 // 14 bytes are the time's
		if size > MaxBytes {
			errs[i] = awsmessage.TooLarge("EventBridge", size, MaxBytes)
			continue
		}
		if !isObject(m.Payload) {
			errs[i] = outbox.Invalid(errors.New("EventBridge takes JSON objects only, and the payload is none"))
			continue
		}
		in.Entries = append(in.Entries, types.PutEventsRequestEntry{
			Detail: aws.String(string(m.Payload)), DetailType: aws.String(m.Topic), EventBusName: aws.String(s.bus),
			Resources: []string{resource}, Source: aws.String(s.source),
		})
		of = append(of, i)
	}
	if len(of) == 0 {
		return errs
	}
	out, err := s.client.PutEvents(ctx, in, func(o *eventbridge.Options) { o.RetryMaxAttempts = 1 })
	if err == nil && len(out.Entries) != len(of) {
		err = fmt.Errorf("EventBridge answered for %d events of %d", len(out.Entries), len(of))
	}
	for n, i := range of {
		if err != nil {
			errs[i] = err
		} else if code := aws.ToString(out.Entries[n].ErrorCode); code != "" {
			errs[i] = awsmessage.Entry("EventBridge", code, aws.ToString(out.Entries[n].ErrorMessage), false)
		}
	}
	return errs
}

func isObject(payload []byte) bool {
	payload = bytes.TrimLeft(payload, " \t\r\n")
	return len(payload) > 0 && payload[0] == '{'
}
