package eventsource

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/local/services/dynamodb"
	"stepback/local/services/dynamodb/item"
	"stepback/tasks/lambda/invocation"
)

// change is a stream record in the form that functions receive.
type change struct {
	ID        string    `json:"eventID"`
	Name      string    `json:"eventName"`
	Version   string    `json:"eventVersion"`
	Source    string    `json:"eventSource"`
	Region    string    `json:"awsRegion"`
	Data      data      `json:"dynamodb"`
	Identity  *identity `json:"userIdentity,omitempty"`
	SourceARN string    `json:"eventSourceARN"`
}

type data struct {
	At       int64     `json:"ApproximateCreationDateTime"` // seconds since 1970
	Keys     item.Item `json:"Keys"`
	New      item.Item `json:"NewImage,omitempty"`
	Old      item.Item `json:"OldImage,omitempty"`
	Sequence string    `json:"SequenceNumber"`
	Bytes    int       `json:"SizeBytes"`
	View     string    `json:"StreamViewType"`
}

type identity struct {
	Type      string `json:"type"`
	Principal string `json:"principalId"`
}

// read is a stream record together with its form for the function.
type read struct {
	sequence string
	at       time.Time
	record   json.RawMessage
}

// placeText returns the stored form of a position in a stream.
func placeText(place uint64) []byte { return binary.BigEndian.AppendUint64(nil, place) }

// readStream passes the records of the stream to the function, in order.
func (p *poller) readStream(ctx context.Context) {
	s := p.service
	place, err := p.checkpoint()
	for err != nil {
		p.note(noSource)
		s.o.Log.Warn("an event source mapping cannot read its stream", "stream", p.mapping.EventSourceArn, "error", err)
		if p.pause(ctx, idle) != nil {
			return
		}
		place, err = p.checkpoint()
	}
	b := s.o.Clock.NewBell()
	end, err := s.o.Streams.Follow(p.mapping.EventSourceArn, b.Ring)
	if err == nil {
		defer end()
	}
	for ctx.Err() == nil {
		err := s.mayRead(ctx, p.mapping)
		var changes []dynamodb.Change
		var next uint64
		if err == nil {
			changes, next, err = s.o.Streams.Changes(p.mapping.EventSourceArn, place, p.mapping.BatchSize, maxPayload/2)
		}
		if err != nil {
			s.o.Log.Warn("an event source mapping cannot read its stream", "stream", p.mapping.EventSourceArn, "error", err)
			p.note(noSource)
			if p.pause(ctx, idle) != nil {
				return
			}
			continue
		}
		if len(changes) == 0 {
			place = next
			if b.Await(ctx) != nil {
				return
			}
			continue
		}
		if p.mapping.Window > 0 && len(changes) < p.mapping.BatchSize {
			if s.o.Clock.Sleep(ctx, time.Duration(p.mapping.Window)*time.Second) != nil {
				return
			}
			if changes, next, err = s.o.Streams.Changes(p.mapping.EventSourceArn, place, p.mapping.BatchSize,
				maxPayload/2); err != nil {
				continue
			}
		}
		if ctx.Err() != nil {
			return // the mapping may have been stopped before these records were written
		}
		if next, err = p.handleChanges(ctx, changes, next); err == nil {
			err = p.advance(next)
		}
		if err != nil {
			if ctx.Err() != nil || p.pause(ctx, idle) != nil {
				return
			}
			s.o.Log.Warn("an event source mapping cannot go on", "stream", p.mapping.EventSourceArn, "error", err)
			continue
		}
		place = next
	}
}

// checkpoint returns the position in the stream where the mapping continues.
func (p *poller) checkpoint() (uint64, error) {
	text, found, err := p.service.checkpoints.Get(p.mapping.UUID)
	if err != nil {
		return 0, err
	}
	if found && len(text) == 8 {
		return binary.BigEndian.Uint64(text), nil
	}
	place, _, err := p.service.o.Streams.Position(p.mapping.EventSourceArn, p.mapping.StartingPosition == "LATEST")
	return place, err
}

// advance stores the mapping's position, unless the mapping was deleted.
func (p *poller) advance(place uint64) error {
	s := p.service
	s.changes.Lock()
	defer s.changes.Unlock()
	s.mu.Lock()
	m := s.of[p.mapping.UUID]
	s.mu.Unlock()
	if m == nil {
		return nil
	}
	b, err := s.o.Store.Begin()
	if err != nil {
		return err
	}
	b.Put(s.checkpoints, p.mapping.UUID, placeText(place))
	return b.Apply()()
}

// handleChanges passes as many records to the function as fit into one invocation, and returns the position after
// them. The error is ctx's, or the error of a record that cannot be encoded.
func (p *poller) handleChanges(ctx context.Context, changes []dynamodb.Change, next uint64) (uint64, error) {
	var batch []read
	size := 0
	for i := range changes {
		c := &changes[i]
		text, err := p.recordOf(c)
		if err != nil {
			return 0, err
		}
		if size+len(text) > maxPayload && i > 0 {
			next = c.Number
			break
		}
		size += len(text)
		if p.matches(text, "") {
			batch = append(batch, read{c.Sequence, c.At, text})
		}
	}
	if len(batch) == 0 {
		return next, nil
	}
	return next, p.handle(ctx, batch)
}

func (p *poller) recordOf(c *dynamodb.Change) (json.RawMessage, error) {
	r := change{ID: c.ID, Name: c.Name, Version: "1.1", Source: "aws:dynamodb", Region: c.Region,
		SourceARN: p.mapping.EventSourceArn, Data: data{At: c.At.Unix(), Keys: c.Keys, New: c.New, Old: c.Old,
			Sequence: c.Sequence, Bytes: c.Bytes, View: c.View}}
	if c.Expired {
		r.Identity = &identity{"Service", "dynamodb.amazonaws.com"}
	}
	return json.Marshal(r)
}

// handle passes a batch to the function and retries it until it is handled or given up. The error is ctx's.
func (p *poller) handle(ctx context.Context, batch []read) error {
	attempts := 0
	for delays := 0; ; {
		old := p.tooOld(batch)
		if err := p.giveUp(ctx, batch[:old], "RecordAgeExceeded", attempts, nil); err != nil {
			return err
		}
		if batch = batch[old:]; len(batch) == 0 {
			return nil
		}
		answer, err := p.invokeWith(ctx, batch)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			p.note(problem)
			wait := backoff(delays)
			delays++
			if gone(err) {
				err = p.pause(ctx, idle)
			} else {
				err = p.service.o.Clock.Sleep(ctx, wait)
			}
			if err != nil {
				return err
			}
			continue
		}
		handled, ok := p.handled(answer, batch)
		if ok {
			p.note(processed)
			return nil
		}
		p.note(problem)
		batch = batch[handled:]
		attempts++
		switch {
		case p.mapping.Bisect && handled == 0 && len(batch) > 1: // splitting does not count as a retry
			half := len(batch) / 2
			if err := p.handle(ctx, batch[:half]); err != nil {
				return err
			}
			return p.handle(ctx, batch[half:])
		case p.mapping.MaxRetries >= 0 && attempts > p.mapping.MaxRetries:
			return p.giveUp(ctx, batch, "RetryAttemptsExhausted", attempts, answer)
		}
		if err := p.service.o.Clock.Sleep(ctx, backoff(attempts-1)); err != nil {
			return err
		}
	}
}

// tooOld returns how many records at the start of a batch are too old to be handled.
func (p *poller) tooOld(batch []read) (n int) {
	if p.mapping.MaxAge < 0 {
		return 0
	}
	before := p.service.o.Clock.Now().Add(-time.Duration(p.mapping.MaxAge) * time.Second)
	for n < len(batch) && batch[n].at.Before(before) {
		n++
	}
	return n
}

func (p *poller) invokeWith(ctx context.Context, batch []read) (*invocation.Answer, error) {
	records := make([]json.RawMessage, len(batch))
	for i, r := range batch {
		records[i] = r.record
	}
	own, end := p.outliving(ctx)
	defer end()
	return p.invoke(own, records)
}

// handled returns the number of records at the start of a batch that the function has handled, and whether that is
// the whole batch.
func (p *poller) handled(answer *invocation.Answer, batch []read) (n int, all bool) {
	if answer.FunctionError != "" {
		return 0, false
	}
	if !p.mapping.reportsItems() {
		return len(batch), true
	}
	items := make(map[string]bool, len(batch))
	for _, r := range batch {
		items[r.sequence] = true
	}
	failed, ok := failures(answer.Payload, items)
	if !ok {
		return 0, false
	}
	for i, r := range batch {
		if failed[r.sequence] {
			return i, false
		}
	}
	return len(batch), true
}

// discarded is the notification of records that were given up, as sent to a destination.
type discarded struct {
	RequestContext struct {
		RequestID   string `json:"requestId"`
		FunctionArn string `json:"functionArn"`
		Condition   string `json:"condition"`
		Attempts    int    `json:"approximateInvokeCount"`
	} `json:"requestContext"`
	ResponseContext *responseContext `json:"responseContext,omitempty"`
	Version         string           `json:"version"`
	Timestamp       string           `json:"timestamp"`
	Batch           batchInfo        `json:"DDBStreamBatchInfo"`
}

type responseContext struct {
	StatusCode      int    `json:"statusCode"`
	ExecutedVersion string `json:"executedVersion"`
	FunctionError   string `json:"functionError,omitempty"`
}

type batchInfo struct {
	Shard  string `json:"shardId"`
	First  string `json:"startSequenceNumber"`
	Last   string `json:"endSequenceNumber"`
	From   string `json:"approximateArrivalOfFirstRecord"`
	To     string `json:"approximateArrivalOfLastRecord"`
	Size   int    `json:"batchSize"`
	Stream string `json:"streamArn"`
}

const timeForm = "2006-01-02T15:04:05.000Z"

// giveUp notifies the destination of records that are given up. The error is ctx's.
func (p *poller) giveUp(ctx context.Context, batch []read, condition string, attempts int,
	answer *invocation.Answer) error {
	if len(batch) == 0 {
		return nil
	}
	s, first, last := p.service, batch[0], batch[len(batch)-1]
	s.o.Log.Warn("an event source mapping has given records up", "stream", p.mapping.EventSourceArn, "function",
		p.mapping.FunctionArn, "condition", condition, "first", first.sequence, "last", last.sequence)
	if p.mapping.OnFailure == "" {
		return nil
	}
	_, shard, _ := s.o.Streams.Position(p.mapping.EventSourceArn, false) // empty if the stream no longer exists
	var d discarded
	d.RequestContext.RequestID, d.RequestContext.FunctionArn = aws.NewID(), p.mapping.FunctionArn
	d.RequestContext.Condition, d.RequestContext.Attempts = condition, attempts
	if answer != nil {
		d.ResponseContext = &responseContext{answer.StatusCode, answer.ExecutedVersion, answer.FunctionError}
		d.RequestContext.RequestID = answer.RequestID
	}
	d.Version, d.Timestamp = "1.0", s.o.Clock.Now().UTC().Format(timeForm)
	d.Batch = batchInfo{shard, first.sequence, last.sequence, first.at.UTC().Format(time.RFC3339),
		last.at.UTC().Format(time.RFC3339), len(batch), p.mapping.EventSourceArn}
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	ctx = delivery.From(ctx, delivery.Sender{Service: "lambda.amazonaws.com", Source: p.mapping.FunctionArn})
	for failed := 0; ; failed++ {
		err := s.o.Deliver(ctx, p.mapping.OnFailure, &delivery.Message{Body: string(body)})
		var refused *aws.Error
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &refused) && !refused.ByServer():
			s.o.Log.Warn("records that were given up could not be told of", "destination", p.mapping.OnFailure, "error",
				err)
			return nil
		}
		if err := s.o.Clock.Sleep(ctx, backoff(failed)); err != nil {
			return err
		}
	}
}
