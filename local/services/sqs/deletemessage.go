package sqs

import (
	"context"

	"stepback/aws"
	"stepback/local/services/sqs/store"
)

type deleteRequest struct {
	queueRequest
	Handle string `json:"ReceiptHandle"`
}

func (s *Service) deleteMessage(_ context.Context, scope aws.Scope, in *deleteRequest) (*none, error) {
	return &none{}, s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) error {
		return s.delete(now, b, q, in.Handle)
	})
}

// delete removes a message. It succeeds if the message no longer exists. mu is held.
func (s *Service) delete(now int64, b *store.Batch, q *live, handle string) error {
	r, err := q.receipt(handle, s.store.Salt())
	if err != nil {
		return err
	}
	m, err := q.queue.Delete(now, r.seq, r.number)
	switch {
	case err != nil:
		return invalidValue(handle, "ReceiptHandle", "The receipt handle has expired.")
	case m == nil:
		b.Sync() // an earlier deletion may not be on disk yet
		return nil
	}
	b.DeleteMessage(q.id, m)
	q.counted.remove(now)
	if q.limits.fifo {
		s.wake(q, 1) // for the rest of the group
	}
	return nil
}

type handleEntry struct {
	ID      string `json:"Id"`
	Handle  string `json:"ReceiptHandle"`
	Timeout *int64 `json:"VisibilityTimeout"`
}

type handleBatch struct {
	queueRequest
	Entries []handleEntry
}

type handleAnswer struct {
	Successful []identified
	Failed     []failed
}

func (s *Service) deleteMessageBatch(_ context.Context, scope aws.Scope, in *handleBatch) (*handleAnswer, error) {
	return s.each("DeleteMessageBatchRequestEntry", scope, in,
		func(now int64, b *store.Batch, q *live, e *handleEntry) error { return s.delete(now, b, q, e.Handle) })
}

// each processes the entries of a batch about received messages; kind is the name of their shape.
func (s *Service) each(
	kind string, scope aws.Scope, in *handleBatch, carryOut func(int64, *store.Batch, *live, *handleEntry) error,
) (*handleAnswer, error) {
	answer := &handleAnswer{[]identified{}, []failed{}}
	return answer, s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) error {
		if err := checkBatch(kind, in.Entries, func(e *handleEntry) string { return e.ID }); err != nil {
			return err
		}
		for i := range in.Entries {
			e := &in.Entries[i]
			err := carryOut(now, b, q, e)
			if err == nil {
				answer.Successful = append(answer.Successful, identified{e.ID})
				continue
			}
			f, ok := refused(e.ID, err)
			if !ok {
				return err
			}
			answer.Failed = append(answer.Failed, f)
		}
		return nil
	})
}
