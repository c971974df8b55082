package sqs

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/local/services/sqs/queue"
	"stepback/local/services/sqs/store"
)

type receiveRequest struct {
	queueRequest
	OldNames    []string `json:"AttributeNames"`
	SystemNames []string `json:"MessageSystemAttributeNames"`
	Names       []string `json:"MessageAttributeNames"`
	Max         *int64   `json:"MaxNumberOfMessages"`
	Hidden      *int64   `json:"VisibilityTimeout"`
	Wait        *int64   `json:"WaitTimeSeconds"`
	Attempt     string   `json:"ReceiveRequestAttemptId"`

	until int64 // deadline of a consumer within this process, also if polls do not wait; 0 for other receivers
}

// mostMessages is the maximum number of messages per receive.
const mostMessages = 10

// systemNames lists the system attributes of messages that can be requested.
var systemNames = []string{all, "SenderId", "SentTimestamp", "ApproximateReceiveCount",
	"ApproximateFirstReceiveTimestamp", "SequenceNumber", "MessageDeduplicationId", "MessageGroupId", traceHeader,
	"DeadLetterQueueSourceArn"}

func (in *receiveRequest) check() error {
	switch {
	case in.Max != nil && (*in.Max < 1 || *in.Max > mostMessages):
		return invalidValue(*in.Max, "MaxNumberOfMessages", "Must be between 1 and 10, if provided.")
	case in.Wait != nil && (*in.Wait < 0 || *in.Wait > mostWait):
		return invalidValue(*in.Wait, "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided.")
	case in.Hidden != nil && (*in.Hidden < 0 || *in.Hidden > mostHidden):
		return invalidValue(*in.Hidden, visibilityTimeout, "Must be >= 0 and <= 43200, if provided.")
	}
	for _, name := range in.SystemNames {
		if !slices.Contains(systemNames, name) {
			return unknownAttribute(name)
		}
	}
	for _, name := range in.OldNames {
		if _, ofQueue := forms[name]; !ofQueue && !slices.Contains(systemNames, name) {
			return unknownAttribute(name)
		}
	}
	return nil
}

// incoming is a message in the response of ReceiveMessage.
type incoming struct {
	ID           string `json:"MessageId"`
	Handle       string `json:"ReceiptHandle"`
	BodySum      string `json:"MD5OfBody"`
	Body         string
	System       map[string]string    `json:"Attributes,omitempty"`
	AttributeSum string               `json:"MD5OfMessageAttributes,omitempty"`
	Attributes   map[string]attribute `json:"MessageAttributes,omitempty"`
}

type received struct {
	Messages []incoming `json:",omitempty"`
}

// handedOut is a copy of a message as it was when it was delivered.
type handedOut struct {
	queue.Message
	queueID uint64
}

func (s *Service) receiveMessage(ctx context.Context, scope aws.Scope, in *receiveRequest) (*received, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	var deadline int64 // of a long poll; 0 until the queue is known
	waited := false
	for {
		var got []handedOut
		var poll *waiter
		err := s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) error {
			if ctx.Err() != nil { // nothing sent after ctx has ended is received
				if waited {
					s.wake(q, 1) // pass what woke this poll on to another one
				}
				return ctx.Err()
			}
			if deadline == 0 {
				deadline = now + q.limits.wait
				if in.Wait != nil {
					deadline = now + 1000**in.Wait
				}
				if in.until != 0 {
					deadline = in.until
				}
			}
			var more bool
			got, more = s.receive(now, b, q, in)
			// After a crash in the next moments, a message of a standard queue may be received once more, as
			// happens on SQS now and then. FIFO queues must wait for the disk because their order depends on the
			// messages in flight. Dead messages must wait for it because they must not come back.
			b.Later = !q.limits.fifo && !more
			switch {
			case len(got) > 0:
				q.counted.receive(now, len(got))
			case more:
				poll = pollNow
			case now < deadline && (in.until != 0 || !s.stopped):
				poll = s.enlist(now, q, deadline)
			case waited:
				q.counted.receive(now, 0)
				s.wake(q, 1)
			case !q.limits.fifo && q.queue.Full(now):
				return errOverLimit
			default:
				q.counted.receive(now, 0)
			}
			return nil
		})
		switch {
		case err != nil:
			return nil, err
		case poll == nil:
			return s.deliver(got, in)
		case poll == pollNow:
			continue
		}
		waited = true
		if err := s.await(ctx, poll); err != nil {
			return nil, err
		}
	}
}

// receive delivers messages and moves dead ones to the dead-letter queue. If it returns no message, more is true if
// there may still be some. mu is held.
func (s *Service) receive(now int64, b *store.Batch, q *live, in *receiveRequest) (got []handedOut, more bool) {
	n, hidden := 1, q.limits.hidden
	if in.Max != nil {
		n = int(*in.Max)
	}
	if in.Hidden != nil {
		hidden = 1000 * *in.Hidden
	}
	keep := func(messages []*queue.Message) {
		for _, m := range messages {
			b.PutState(q.id, m)
			got = append(got, handedOut{*m, q.id})
		}
	}
	if in.Attempt != "" && q.limits.fifo {
		if messages, ok := q.queue.Again(now, in.Attempt, hidden); ok {
			keep(messages)
			return got, false
		}
	}
	settings := q.limits.settings()
	letters := s.byARN(q.limits.redrive.target)
	if letters == nil { // without a dead-letter queue no message is dead
		settings.MaxReceives = 0
	}
	q.queue.Set(settings)
	messages, dead := q.queue.Receive(now, n, hidden, q.messages)
	for _, m := range dead {
		s.bury(now, b, q, letters, m)
	}
	keep(messages)
	if in.Attempt != "" && q.limits.fifo && len(messages) > 0 {
		q.queue.Attempted(now, in.Attempt, messages)
	}
	return got, len(dead) > 0
}

// deliver returns the response for delivered messages.
func (s *Service) deliver(got []handedOut, in *receiveRequest) (*received, error) {
	answer := &received{}
	for i := range got {
		m := &got[i]
		text, err := s.store.Body(m.Body)
		if err != nil {
			return nil, err
		}
		if text == nil {
			continue // deleted in the meantime
		}
		kept, err := decode(text)
		if err != nil {
			return nil, err
		}
		made := incoming{ID: s.messageID(m.Origin), Body: kept.body, BodySum: sumOfText(kept.body),
			Handle: receipt{m.queueID, m.Seq, m.Receipt}.text(s.store.Salt()), Attributes: map[string]attribute{}}
		for name, a := range kept.attributes {
			if asksFor(in.Names, name) {
				made.Attributes[name] = a
			}
		}
		made.AttributeSum = sumOf(made.Attributes)
		made.System = systemAttributes(m, kept, append(in.SystemNames[:len(in.SystemNames):len(in.SystemNames)],
			in.OldNames...))
		answer.Messages = append(answer.Messages, made)
	}
	return answer, nil
}

// asksFor reports whether the names in a request include name: as All, *, .*, prefix.* or the name itself.
func asksFor(names []string, name string) bool {
	return slices.ContainsFunc(names, func(asked string) bool {
		prefix, open := strings.CutSuffix(asked, ".*")
		return asked == all || asked == "*" || asked == name || open && strings.HasPrefix(name, prefix)
	})
}

// systemAttributes returns the requested attributes that SQS adds to a message.
func systemAttributes(m *handedOut, kept *contents, names []string) map[string]string {
	known := map[string]string{
		"SenderId": kept.sender, "SentTimestamp": strconv.FormatInt(m.Sent, 10),
		"ApproximateReceiveCount":          strconv.Itoa(m.Receives),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(m.FirstReceived, 10),
		"MessageDeduplicationId":           kept.deduplication, "MessageGroupId": m.Group,
		traceHeader: kept.trace, "DeadLetterQueueSourceArn": m.Source,
	}
	if kept.deduplication != "" { // only in FIFO queues
		known["SequenceNumber"] = sequence(m.Seq)
	}
	asked := map[string]string{}
	for name, value := range known {
		if value != "" && (slices.Contains(names, name) || slices.Contains(names, all)) {
			asked[name] = value
		}
	}
	return asked
}

// bury moves a message to its queue's dead-letter queue. mu is held.
func (s *Service) bury(now int64, b *store.Batch, from, to *live, m *queue.Message) {
	moved := queue.Message{Seq: s.number(b), Body: m.Body, Origin: m.Origin, Group: m.Group, Source: from.arn,
		Sent: m.Sent, Receives: m.Receives, FirstReceived: m.FirstReceived, LastReceived: m.LastReceived}
	if to.limits.fifo { // where the retention period starts again
		moved.Sent = now
	}
	s.put(b, from, to, m, &moved)
}

// put adds a message that was removed from one queue to another. mu is held.
func (s *Service) put(b *store.Batch, from, to *live, m, moved *queue.Message) {
	b.DeleteState(from.id, m.Seq)
	b.PutState(to.id, moved)
	to.queue.Put(moved)
	s.wake(to, 1)
}
