package sqs

import (
	"context"
	"errors"
	"math"
	"time"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/local/services/sqs/store"
)

// Received is a message as a consumer receives it.
type Received struct {
	ID, Handle, Body string
	// BodySum is the MD5 sum of the body. AttributeSum is the MD5 sum of the message attributes; it is empty if
	// there are none.
	BodySum, AttributeSum string
	// System holds the attributes that SQS adds to a message, such as SentTimestamp.
	System     map[string]string
	Attributes map[string]delivery.Attribute
}

// forever is the deadline of a poll without a time limit.
const forever = math.MaxInt64

// Consume receives at most ten messages with all their attributes for a consumer within this process, and hides
// them for the queue's visibility timeout. It waits until there is a message or until the time end; a zero end
// means no time limit. While it waits it releases the clock hold of the work in ctx, and virtual time advances only
// to messages that are delayed or in flight. The error is an *aws.Error, as ReceiveMessage returns it, or ctx's.
func (s *Service) Consume(ctx context.Context, queue aws.ARN, most int, end time.Time) ([]Received, error) {
	n, until := int64(min(most, mostMessages)), int64(forever)
	if !end.IsZero() {
		until = end.UnixMilli()
	}
	in := &receiveRequest{queueRequest: queueRequest{urlOf(queue)}, Max: &n, Names: []string{all},
		SystemNames: []string{all}, until: until}
	out, err := s.receiveMessage(ctx, queue.Scope(), in)
	if err != nil {
		return nil, err
	}
	got := make([]Received, len(out.Messages))
	for i, m := range out.Messages {
		r := Received{ID: m.ID, Handle: m.Handle, Body: m.Body, BodySum: m.BodySum, AttributeSum: m.AttributeSum,
			System: m.System, Attributes: make(map[string]delivery.Attribute, len(m.Attributes))}
		for name, a := range m.Attributes {
			made := delivery.Attribute{Type: a.DataType, Binary: a.BinaryValue}
			if a.StringValue != nil {
				made.String = *a.StringValue
			}
			r.Attributes[name] = made
		}
		got[i] = r
	}
	return got, nil
}

// urlOf returns a URL path of the queue with an ARN.
func urlOf(queue aws.ARN) string { return "/" + queue.Account + "/" + queue.Resource }

// Remove deletes messages that a consumer has received, by their receipt handles, and waits until the deletion is
// on disk. Messages that another consumer has received since then are kept.
func (s *Service) Remove(queue aws.ARN, handles []string) error {
	return s.on(queue.Scope(), urlOf(queue), func(now int64, b *store.Batch, q *live) error {
		for _, handle := range handles {
			var refused *aws.Error // the handle has expired, or the queue was recreated
			if err := s.delete(now, b, q, handle); err != nil && !errors.As(err, &refused) {
				return err
			}
		}
		return nil
	})
}

// Consumable holds what a consumer needs to know about a queue.
type Consumable struct {
	FIFO              bool
	VisibilityTimeout time.Duration
}

// Queue returns what a consumer needs to know about the queue with an ARN. The error is an *aws.Error.
func (s *Service) Queue(queue aws.ARN) (Consumable, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[address{queue.Scope(), queue.Resource}]
	if q == nil {
		return Consumable{}, errNoQueue
	}
	return Consumable{q.limits.fifo, time.Duration(q.limits.hidden) * time.Millisecond}, nil
}
