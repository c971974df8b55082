package eventsource

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/local/services/sqs"
)

// atOnce is the maximum number of concurrent batches of a queue, unless the mapping sets another.
const atOnce = 32

// message is a queue message in the form that functions receive.
type message struct {
	ID                string                      `json:"messageId"`
	Handle            string                      `json:"receiptHandle"`
	Body              string                      `json:"body"`
	Attributes        map[string]string           `json:"attributes"`
	MessageAttributes map[string]messageAttribute `json:"messageAttributes"`
	AttributeSum      string                      `json:"md5OfMessageAttributes,omitempty"`
	BodySum           string                      `json:"md5OfBody"`
	Source            string                      `json:"eventSource"`
	SourceARN         string                      `json:"eventSourceARN"`
	Region            string                      `json:"awsRegion"`
}

type messageAttribute struct {
	String   *string  `json:"stringValue,omitempty"`
	Binary   *string  `json:"binaryValue,omitempty"`
	Strings  []string `json:"stringListValues"`
	Binaries []string `json:"binaryListValues"`
	Type     string   `json:"dataType"`
}

// received is a message together with its record for the function.
type received struct {
	id, handle string
	record     json.RawMessage
}

// readQueue receives messages from the queue and passes them to the function until ctx ends.
func (p *poller) readQueue(ctx context.Context) {
	s, most := p.service, atOnce
	if p.mapping.Scaling != nil {
		most = p.mapping.Scaling.MaximumConcurrency
	}
	queue, _ := aws.ParseARN(p.mapping.EventSourceArn) // is a valid ARN
	slots := make(chan struct{}, most)
	freed := s.o.Clock.NewBell()
	var batches sync.WaitGroup
	defer batches.Wait()
	for {
		for len(slots) == most {
			if freed.Await(ctx) != nil {
				return
			}
		}
		slots <- struct{}{} // does not block: only this goroutine fills it
		batch, err := p.gather(ctx, queue)
		if len(batch) > 0 {
			//nolint:contextcheck // a batch outlives the mapping
			s.o.Clock.Go(p.service.ctx, &batches, patience, func(own context.Context) {
				defer func() {
					<-slots
					freed.Ring()
				}()
				p.handleMessages(own, queue, batch)
			})
		} else {
			<-slots
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.o.Log.Warn("an event source mapping cannot read its queue", "queue", p.mapping.EventSourceArn, "error", err)
			if p.pause(ctx, idle) != nil {
				return
			}
		}
	}
}

// gather waits for messages, then collects more until the batch is full or its window has passed. Messages that the
// filters exclude are deleted.
func (p *poller) gather(ctx context.Context, queue aws.ARN) (batch []received, err error) {
	const atATime = 10
	var end time.Time
	size := 0
	if err := p.service.mayRead(ctx, p.mapping); err != nil {
		return nil, err
	}
	for len(batch) < p.mapping.BatchSize && size < maxPayload {
		got, err := p.service.o.Queues.Consume(ctx, queue, min(atATime, p.mapping.BatchSize-len(batch)), end)
		if err != nil {
			return batch, err
		}
		var unwanted []string
		for i := range got {
			record, err := p.record(queue, &got[i])
			if err != nil {
				return batch, err
			}
			if !p.matches(record, got[i].Body) {
				unwanted = append(unwanted, got[i].Handle)
				continue
			}
			size += len(record)
			batch = append(batch, received{got[i].ID, got[i].Handle, record})
		}
		if len(unwanted) > 0 {
			if err := p.service.o.Queues.Remove(queue, unwanted); err != nil {
				return batch, err
			}
		}
		now := p.service.o.Clock.Now()
		if end.IsZero() && len(batch) > 0 {
			end = now.Add(time.Duration(p.mapping.Window) * time.Second)
		}
		if !end.IsZero() && !now.Before(end) {
			break
		}
	}
	return batch, nil
}

// record returns a message in the form that the function receives.
func (p *poller) record(queue aws.ARN, m *sqs.Received) (json.RawMessage, error) {
	r := message{ID: m.ID, Handle: m.Handle, Body: m.Body, Attributes: m.System, BodySum: m.BodySum,
		AttributeSum: m.AttributeSum, MessageAttributes: make(map[string]messageAttribute, len(m.Attributes)),
		Source: "aws:sqs", SourceARN: p.mapping.EventSourceArn, Region: queue.Region}
	for name, a := range m.Attributes {
		made := messageAttribute{Strings: []string{}, Binaries: []string{}, Type: a.Type}
		if strings.HasPrefix(a.Type, "Binary") {
			text := base64.StdEncoding.EncodeToString(a.Binary)
			made.Binary = &text
		} else {
			made.String = &a.String
		}
		r.MessageAttributes[name] = made
	}
	return json.Marshal(r)
}

// handleMessages passes a batch to the function, in several parts if it is too large for one invocation, and deletes
// the messages that were handled. For a FIFO queue, no part is sent after one that failed.
func (p *poller) handleMessages(ctx context.Context, queue aws.ARN, batch []received) {
	for len(batch) > 0 && ctx.Err() == nil {
		n, size := 0, 0
		for n < len(batch) && (n == 0 || size+len(batch[n].record) <= maxPayload) {
			size += len(batch[n].record)
			n++
		}
		if !p.handlePart(ctx, queue, batch[:n]) && strings.HasSuffix(queue.Resource, ".fifo") {
			return
		}
		batch = batch[n:]
	}
}

// handlePart reports whether the function has handled the whole part.
func (p *poller) handlePart(ctx context.Context, queue aws.ARN, part []received) bool {
	records, items := make([]json.RawMessage, len(part)), make(map[string]bool, len(part))
	for i, m := range part {
		records[i] = m.record
		items[m.id] = true
	}
	s := p.service
	answer, err := p.invoke(ctx, records)
	if err != nil {
		if ctx.Err() == nil {
			s.o.Log.Warn("an event source mapping cannot invoke its function", "function", p.mapping.FunctionArn,
				"error", err)
			wait := time.Second
			if gone(err) {
				wait = idle
			}
			_ = p.pause(ctx, wait) // the caller notices if ctx has ended
		}
		return false
	}
	if answer.FunctionError != "" {
		return false
	}
	var failed map[string]bool
	if p.mapping.reportsItems() {
		reported, ok := failures(answer.Payload, items)
		if !ok {
			return false
		}
		failed = reported
	}
	handles := make([]string, 0, len(part))
	for _, m := range part {
		if !failed[m.id] {
			handles = append(handles, m.handle)
		}
	}
	if len(handles) == 0 {
		return false
	}
	if err := s.o.Queues.Remove(queue, handles); err != nil {
		s.o.Log.Warn("messages that a function has handled cannot be deleted", "queue", p.mapping.EventSourceArn, "error",
			err)
		return false
	}
	return len(failed) == 0
}
