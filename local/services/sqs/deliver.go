package sqs

import (
	"context"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/local/services/sqs/store"
)

// Deliver puts a message into the queue of an ARN, as delivery.Target says: it returns when the message is on the disk.
// The sender is the account of the queue. An error is an *aws.Error, as SendMessage would answer it.
func (s *Service) Deliver(_ context.Context, to aws.ARN, m *delivery.Message) error {
	return s.change(func(now int64, b *store.Batch) error { return s.post(now, b, to, m) })
}

// post puts a message into the queue of an ARN. mu is held.
func (s *Service) post(now int64, b *store.Batch, to aws.ARN, m *delivery.Message) error {
	q := s.queues[address{to.Scope(), to.Resource}]
	if q == nil {
		return errNoQueue
	}
	s.tidy(now, b, q)
	out := outgoing{Body: m.Body, Group: m.Group, Deduplication: m.Deduplication}
	for name, a := range m.Attributes {
		if out.Attributes == nil {
			out.Attributes = make(map[string]attribute, len(m.Attributes))
		}
		if a.Binary != nil {
			out.Attributes[name] = attribute{DataType: a.Type, BinaryValue: a.Binary}
		} else {
			out.Attributes[name] = attribute{DataType: a.Type, StringValue: &a.String}
		}
	}
	if m.TraceHeader != "" {
		out.System = map[string]attribute{traceHeader: {DataType: "String", StringValue: &m.TraceHeader}}
	}
	_, err := s.send(now, b, q, to.Account, &out)
	return err
}

// DeliverAll puts messages into queues with one wait for the disk, and returns the error of each letter, nil for those
// that are delivered. The error of the disk is that of all.
func (s *Service) DeliverAll(letters []delivery.Letter) []error {
	errs := make([]error, len(letters))
	err := s.change(func(now int64, b *store.Batch) error {
		for i, l := range letters {
			errs[i] = s.post(now, b, l.To, l.Message)
		}
		return nil
	})
	if err != nil {
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}
