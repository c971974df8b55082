// Package eventbridgesink sends an outbox's messages to an Amazon EventBridge event bus. The topic becomes the detail
// type; the payload, which must be a JSON object, becomes the detail. The first of the resources is urn:uuid: with
// the message's ID, by which receivers detect duplicates. Headers are not sent. The package never retries by itself;
// the relay does.
package eventbridgesink

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"stepback/outbox"
	"stepback/outbox/internal/awsmessage"
)

// EventBridge's limits for one event and for a batch.
const (
	MaxBytes    = 1<<20 - 1
	maxMessages = 10
)

// Client is the part of *client.Named, for the service "eventbridge", that the sink needs. It should not retry by
// itself.
type Client interface {
	// Call calls an operation; encoding/json encodes in and decodes out.
	Call(ctx context.Context, operation string, in, out any) error
}

// Sink implements outbox.BatchSink.
type Sink struct {
	client      Client
	bus, source string
}

// New returns a sink for the event bus with that name or ARN. source is the events' source; it must not begin with
// "aws.".
func New(client Client, bus, source string) *Sink { return &Sink{client, bus, source} }

// BatchLimits implements outbox.BatchSink. It leaves space for the other members of the entries.
func (s *Sink) BatchLimits() (messages, bytes int) { return maxMessages, MaxBytes / 2 }

// Send implements outbox.Sink.
func (s *Sink) Send(ctx context.Context, m *outbox.Message) error {
	return s.SendBatch(ctx, []*outbox.Message{m})[0]
}

// SendBatch implements outbox.BatchSink.
func (s *Sink) SendBatch(ctx context.Context, all []*outbox.Message) []error {
	errs := make([]error, len(all))
	var in request
	var of []int // index of each entry's message
	for i, m := range all {
		resource := "urn:uuid:" + m.ID
		size := len(m.Payload) + len(m.Topic) + len(s.source) + len(resource) + 14 // 14 bytes for the time
		if size > MaxBytes {
			errs[i] = awsmessage.TooLarge("EventBridge", size, MaxBytes)
			continue
		}
		if !isObject(m.Payload) {
			errs[i] = outbox.Invalid(errors.New("EventBridge only accepts JSON objects, and the payload is not one"))
			continue
		}
		in.Entries = append(in.Entries, event{
			Detail: string(m.Payload), DetailType: m.Topic, EventBusName: s.bus, Resources: []string{resource},
			Source: s.source,
		})
		of = append(of, i)
	}
	if len(of) == 0 {
		return errs
	}
	var out answer
	err := s.client.Call(ctx, "PutEvents", in, &out)
	if err == nil && len(out.Entries) != len(of) {
		err = fmt.Errorf("EventBridge returned results for %d of %d events", len(out.Entries), len(of))
	}
	for n, i := range of {
		if err != nil {
			errs[i] = err
		} else if code := out.Entries[n].ErrorCode; code != "" {
			errs[i] = awsmessage.Entry("EventBridge", code, out.Entries[n].ErrorMessage, false)
		}
	}
	return errs
}

func isObject(payload []byte) bool {
	payload = bytes.TrimLeft(payload, " \t\r\n")
	return len(payload) > 0 && payload[0] == '{'
}

// request is the input of PutEvents; answer is its output.
type (
	request struct{ Entries []event }
	event   struct {
		Detail, DetailType, EventBusName, Source string
		Resources                                []string
	}
	answer struct {
		Entries []struct{ ErrorCode, ErrorMessage string }
	}
)
