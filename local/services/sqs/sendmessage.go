package sqs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"stepback/aws"
	"stepback/local/services/sqs/queue"
	"stepback/local/services/sqs/store"
)

// outgoing is a message in a send request.
type outgoing struct {
	Body          string               `json:"MessageBody"`
	Delay         *int64               `json:"DelaySeconds"`
	Attributes    map[string]attribute `json:"MessageAttributes"`
	System        map[string]attribute `json:"MessageSystemAttributes"`
	Deduplication *string              `json:"MessageDeduplicationId"`
	Group         *string              `json:"MessageGroupId"`

	passedOn string // trace of the request
}

// group returns the message group; empty means none.
func (m *outgoing) group() string {
	if m.Group == nil {
		return ""
	}
	return *m.Group
}

type sendRequest struct {
	queueRequest
	outgoing
}

// sent is the response for a sent message.
type sent struct {
	BodySum      string `json:"MD5OfMessageBody"`
	AttributeSum string `json:"MD5OfMessageAttributes,omitempty"`
	SystemSum    string `json:"MD5OfMessageSystemAttributes,omitempty"`
	ID           string `json:"MessageId"`
	Sequence     string `json:"SequenceNumber,omitempty"`
}

func (s *Service) sendMessage(ctx context.Context, scope aws.Scope, in *sendRequest) (*sent, error) {
	var answer *sent
	in.trace(ctx)
	return answer, s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) (err error) {
		answer, err = s.send(now, b, q, scope.Account, &in.outgoing)
		return err
	})
}

// send adds a message to a queue. mu is held.
func (s *Service) send(now int64, b *store.Batch, q *live, sender string, m *outgoing) (*sent, error) {
	if err := m.check(&q.limits); err != nil {
		return nil, err
	}
	answer := &sent{BodySum: sumOfText(m.Body), AttributeSum: sumOf(m.Attributes), SystemSum: sumOf(m.System)}
	var deduplication, key string
	if q.limits.fifo {
		if m.Deduplication != nil {
			deduplication = *m.Deduplication
		} else {
			sum := sha256.Sum256([]byte(m.Body))
			deduplication = hex.EncodeToString(sum[:])
		}
		key = deduplication
		if q.limits.perGroup {
			key = m.group() + "\x00" + deduplication
		}
		if seq, ok := q.queue.Duplicate(now, key); ok {
			b.Sync() // wait for the disk write of the first one
			answer.ID, answer.Sequence = s.messageID(seq), sequence(seq)
			return answer, nil
		}
	}
	delay := q.limits.delay
	if m.Delay != nil && !q.limits.fifo {
		delay = 1000 * *m.Delay
	}
	seq := s.number(b)
	state := &queue.Message{Seq: seq, Body: seq, Origin: seq, Group: m.group(), Sent: now, VisibleAt: now + delay}
	kept := contents{body: m.Body, sender: sender, deduplication: deduplication, attributes: m.Attributes}
	if kept.trace = m.passedOn; kept.trace == "" {
		if a, ok := m.System[traceHeader]; ok {
			kept.trace = *a.StringValue
		}
	}
	b.PutBody(seq, kept.encode())
	b.PutState(q.id, state)
	q.queue.Put(state)
	if q.limits.fifo {
		q.queue.Remember(now, key, seq)
		b.PutDuplicate(q.id, key, now, seq)
		answer.Sequence = sequence(seq)
	}
	answer.ID = s.messageID(seq)
	q.counted.send(now, m.size())
	s.wake(q, 1)
	return answer, nil
}

// trace adds the trace of the request to a message that carries none. SQS passes on the header X-Amzn-Trace-Id as the
// system attribute AWSTraceHeader.
func (m *outgoing) trace(ctx context.Context) {
	trace, ok := aws.TraceOf(ctx)
	if _, own := m.System[traceHeader]; !ok || own {
		return
	}
	m.passedOn = trace.String()
}

// messageID derives the ID of a message from the number under which it was first sent.
func (s *Service) messageID(origin uint64) string {
	r := aws.Random{Seed: s.store.Salt() + origin<<20}
	return aws.DrawUUID(r.Uint64)
}

// sequence formats seq as a sequence number: twenty digits that increase with seq.
func sequence(seq uint64) string {
	const first, step = 18_000_000_000_000_000_000, 256
	return fmt.Sprintf("%020d", first+step*seq)
}

type sendEntry struct {
	ID string `json:"Id"`
	outgoing
}

type sendBatchRequest struct {
	queueRequest
	Entries []sendEntry
}

type sentEntry struct {
	ID string `json:"Id"`
	sent
}

type sendBatchAnswer struct {
	Successful []sentEntry
	Failed     []failed
}

func (s *Service) sendMessageBatch(ctx context.Context, scope aws.Scope, in *sendBatchRequest) (*sendBatchAnswer, error) {
	answer := &sendBatchAnswer{[]sentEntry{}, []failed{}}
	return answer, s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) error {
		if err := checkBatch("SendMessageBatchRequestEntry", in.Entries, func(e *sendEntry) string { return e.ID }); err != nil {
			return err
		}
		size := 0
		for i := range in.Entries {
			in.Entries[i].trace(ctx)
			size += in.Entries[i].size()
			if err := in.Entries[i].checkIdentity(&q.limits); err != nil {
				return err
			}
		}
		if size > MaxMessageBytes {
			return batchTooLong(size)
		}
		for i := range in.Entries {
			e := &in.Entries[i]
			done, err := s.send(now, b, q, scope.Account, &e.outgoing)
			if err == nil {
				answer.Successful = append(answer.Successful, sentEntry{e.ID, *done})
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
