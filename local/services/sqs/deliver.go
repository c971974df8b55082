package sqs

import (
	"context"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/local/services/sqs/store"
)

// Deliver sends a message to the queue with an ARN; see delivery.Target. It returns once the message is on disk. The
// sender is the account of the queue. The error is an *aws.Error, as SendMessage returns it.
func (s *Service) Deliver(_ context.Context, to aws.ARN, m *delivery.Message) error {
	return s.change(func(now int64, b *store.Batch) error { return s.post(now, b, to, m) })
}

// post sends a message to the queue with an ARN. mu is held.
func (s *Service) post(now int64, b *store.Batch, to aws.ARN, m *delivery.Message) error {
	q := s.queues[address{to.Scope(), to.Resource}]
	if q == nil {
		return errNoQueue
	}
	s.tidy(now, b, q)
	out := outgoing{Body: m.Body, passedOn: m.TraceHeader}
	if m.Group != "" {
		out.Group = &m.Group
	}
	if m.Deduplication != "" {
		out.Deduplication = &m.Deduplication
	}
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
	_, err := s.send(now, b, q, to.Account, &out)
	return err
}

// DeliverAll sends messages to queues with a single wait for the disk. It returns one error per letter, nil for those
// that were delivered. A disk error is returned for all of them.
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
