package sqs

import (
	"context"
	"errors"

	"stepback/aws"
	"stepback/local/services/sqs/queue"
	"stepback/local/services/sqs/store"
)

type visibilityRequest struct {
	queueRequest
	Handle  string `json:"ReceiptHandle"`
	Timeout *int64 `json:"VisibilityTimeout"`
}

func (s *Service) changeMessageVisibility(_ context.Context, scope aws.Scope, in *visibilityRequest) (*none, error) {
	return &none{}, s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) error {
		return s.hide(now, b, q, in.Handle, in.Timeout)
	})
}

func (s *Service) changeMessageVisibilityBatch(_ context.Context, scope aws.Scope, in *handleBatch) (*handleAnswer,
	error) {
	return s.each("ChangeMessageVisibilityBatchRequestEntry", scope, in,
		func(now int64, b *store.Batch, q *live, e *handleEntry) error {
			return s.hide(now, b, q, e.Handle, e.Timeout)
		})
}

// hide changes the visibility timeout of a message. mu is held.
func (s *Service) hide(now int64, b *store.Batch, q *live, handle string, timeout *int64) error {
	if timeout == nil {
		return missing(visibilityTimeout)
	}
	if *timeout < 0 || *timeout > mostHidden {
		return invalidValue(*timeout, visibilityTimeout, "VisibilityTimeout must be an integer between 0 and 43200")
	}
	r, err := q.receipt(handle, s.store.Salt())
	if err != nil {
		return err
	}
	m, err := q.queue.Hide(now, r.seq, r.number, 1000**timeout)
	switch {
	case errors.Is(err, queue.ErrNotInFlight):
		return &aws.Error{Code: "MessageNotInflight", Message: "The message is not in flight."}
	case errors.Is(err, queue.ErrTooLong):
		return invalidValue(*timeout, visibilityTimeout,
			"Total VisibilityTimeout for the message is beyond the limit [43200 seconds]")
	case err != nil:
		return invalidValue(handle, "ReceiptHandle",
			"Message does not exist or is not available for visibility timeout change.")
	}
	b.PutState(q.id, m)
	s.wake(q, 1)
	return nil
}
