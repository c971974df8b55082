// Package queues manages a dead-letter queue of Amazon SQS: it lists its messages and redrives them to the queue
// that they came from.
//
// SQS shows a message only by receiving it. Listing therefore counts as a receive, and briefly hides the messages
// from other consumers. If all messages of a queue are redriven unchanged, SQS moves them itself
// (StartMessageMoveTask). Single or edited messages are sent and then deleted. The message sent carries the
// letter's ID as the attribute Stepback-Letter, and in a FIFO queue also as the deduplication ID. The package
// deletes a message only after sending it, or if an operator has discarded it.
package queues

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"stepback/outbox/deadletters"
)

// Client is the part of *client.Named, for the service "sqs", that a queue needs.
type Client interface {
	// Call calls an operation; in and out are marshalled with encoding/json.
	Call(ctx context.Context, operation string, in, out any) error
}

// Queue implements deadletters.Source for one dead-letter queue.
type Queue struct {
	Client Client
	URL    string // of the dead-letter queue
	ARN    string
	// Target is the URL of the queue to which messages are redriven; empty means the queue that they came from.
	Target string

	mu     sync.Mutex
	looked time.Time
	inside map[string]*queued // by the letters' IDs
}

// message is a message as SQS returns it.
type message struct {
	MessageID         string `json:"MessageId"`
	ReceiptHandle     string
	Body              string
	Attributes        map[string]string
	MessageAttributes map[string]attribute
}

// attribute is a message attribute.
type attribute struct {
	DataType    string
	StringValue *string `json:",omitempty"`
	BinaryValue []byte  `json:",omitempty"`
}

// document is the input of an operation.
type document map[string]any

// queued is a message in the queue, with its letter.
type queued struct {
	message message
	letter  deadletters.Letter
}

const (
	prefix          = "sqs:"
	attributeLetter = "Stepback-Letter"
	headerMessage   = "Sqs-Message-Id"
	headerGroup     = "Sqs-Message-Group-Id"
)

// ReasonMaxReceives is the reason of the letters: the message was received as often as its queue allows.
const ReasonMaxReceives = "max_receives"

// Open opens a queue by its URL or ARN.
func Open(ctx context.Context, client Client, address string) (*Queue, error) {
	q := &Queue{Client: client, URL: address}
	if strings.HasPrefix(address, "arn:") {
		parts := strings.Split(address, ":")
		const arnParts = 6
		if len(parts) != arnParts {
			return nil, &deadletters.BadActError{Why: address + " is not the ARN of a queue"}
		}
		var out struct {
			URL string `json:"QueueUrl"`
		}
		if err := client.Call(ctx, "GetQueueUrl", document{"QueueName": parts[5], "QueueOwnerAWSAccountId": parts[4]},
			&out); err != nil {
			return nil, fmt.Errorf("the queue %s cannot be found: %w", address, err)
		}
		q.URL = out.URL
	}
	var out struct{ Attributes map[string]string }
	if err := client.Call(ctx, "GetQueueAttributes",
		document{"QueueUrl": q.URL, "AttributeNames": []string{"QueueArn"}}, &out); err != nil {
		return nil, fmt.Errorf("the queue %s cannot be read: %w", address, err)
	}
	q.ARN = out.Attributes["QueueArn"]
	return q, nil
}

// Name returns the queue's name.
func (q *Queue) Name() string { return q.URL[strings.LastIndexByte(q.URL, '/')+1:] }

// Kind implements deadletters.Source.
func (q *Queue) Kind() deadletters.Kind { return deadletters.KindQueue }

// Owns implements deadletters.Source.
func (q *Queue) Owns(id string) bool { return strings.HasPrefix(id, prefix+q.Name()+":") }

// Each implements deadletters.Source.
func (q *Queue) Each(ctx context.Context, visit func(deadletters.Letter) error) error {
	all, err := q.look(ctx, true)
	if err != nil {
		return err
	}
	for _, in := range all {
		if err := visit(in.letter); err != nil {
			return err
		}
	}
	return nil
}

// Find implements deadletters.Source.
func (q *Queue) Find(ctx context.Context, id string) (deadletters.Letter, error) {
	all, err := q.look(ctx, false)
	if err != nil {
		return deadletters.Letter{}, err
	}
	in := all[id]
	if in == nil {
		return deadletters.Letter{}, deadletters.ErrNotFound
	}
	return in.letter, nil
}

// Listing the queue receives all messages, hides them while it runs, and then makes them visible again.
const (
	hidden    = 20 // seconds
	staleness = 2 * time.Second
	atOnce    = 10
)

// look returns all messages in the queue. It receives them again at most every two seconds, unless fresh is true.
func (q *Queue) look(ctx context.Context, fresh bool) (map[string]*queued, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !fresh && q.inside != nil && time.Since(q.looked) < staleness {
		return q.inside, nil
	}
	all, err := q.sweep(ctx)
	if err != nil {
		return nil, err
	}
	for _, in := range all {
		if err := q.letGo(ctx, in); err != nil {
			return nil, fmt.Errorf("a message of %s was read and cannot be released; it becomes visible again in %d seconds: %w",
				q.Name(), hidden, err)
		}
	}
	q.inside, q.looked = all, time.Now()
	return all, nil
}

// letGo makes a message visible to other consumers again.
func (q *Queue) letGo(ctx context.Context, in *queued) error {
	return q.Client.Call(ctx, "ChangeMessageVisibility", document{"QueueUrl": q.URL,
		"ReceiptHandle": in.message.ReceiptHandle, "VisibilityTimeout": 0}, nil)
}

// sweep receives messages until there are none left.
func (q *Queue) sweep(ctx context.Context) (map[string]*queued, error) {
	all := map[string]*queued{}
	for empty := 0; empty < 2; {
		var out struct{ Messages []message }
		err := q.Client.Call(ctx, "ReceiveMessage", document{
			"QueueUrl": q.URL, "MaxNumberOfMessages": atOnce, "VisibilityTimeout": hidden, "WaitTimeSeconds": 0,
			"MessageAttributeNames": []string{"All"}, "MessageSystemAttributeNames": []string{"All"},
		}, &out)
		if err != nil {
			return nil, fmt.Errorf("the queue %s cannot be read: %w", q.Name(), err)
		}
		if len(out.Messages) == 0 {
			empty++
			continue
		}
		empty = 0
		for _, m := range out.Messages {
			l := q.letter(&m)
			if all[l.ID] != nil {
				return all, nil // SQS returns messages again before all have been received: the queue is large or slow
			}
			all[l.ID] = &queued{m, l}
		}
	}
	return all, nil
}

func (q *Queue) letter(m *message) deadletters.Letter {
	id := prefix + q.Name() + ":" + m.MessageID
	headers := map[string]string{headerMessage: m.MessageID}
	text := func(name string) string { return headers[name] }
	for name, a := range m.MessageAttributes {
		if a.StringValue != nil {
			headers[name] = *a.StringValue
		}
	}
	if own := text(attributeLetter); q.Owns(own) {
		id = own
	}
	if group := m.Attributes["MessageGroupId"]; group != "" {
		headers[headerGroup] = group
	}
	received, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	content := "text/plain"
	if body := strings.TrimSpace(m.Body); strings.HasPrefix(body, "{") || strings.HasPrefix(body, "[") {
		content = "application/json"
	}
	return deadletters.Letter{
		ID: id, Kind: deadletters.KindQueue, State: deadletters.Dead, Subject: q.Name(), Key: headers[headerGroup],
		Reason: ReasonMaxReceives, Error: text("ErrorCode"), Cause: text("ErrorMessage"), Attempts: received,
		CreatedAt: milliseconds(m.Attributes["SentTimestamp"]),
		DeadAt:    milliseconds(m.Attributes["ApproximateFirstReceiveTimestamp"]),
		Trace:     text("traceparent"), ContentType: content, Headers: headers, Payload: []byte(m.Body),
	}
}

func milliseconds(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// CheckEdit implements deadletters.Source.
func (q *Queue) CheckEdit(_ *deadletters.Letter, payload []byte) error {
	const most = 1 << 20
	if len(payload) == 0 || len(payload) > most {
		return &deadletters.BadActError{Why: fmt.Sprintf("the edited message has %d bytes; SQS accepts 1 to %d",
			len(payload), most)}
	}
	return nil
}

// Became implements deadletters.Source: if the letter is in the queue again, as a different message, it has died
// again.
func (q *Queue) Became(ctx context.Context, d *deadletters.Delivery, i int) (deadletters.Letter, error) {
	it := &d.Items[i]
	l := deadletters.Letter(it.Found)
	all, err := q.look(ctx, false)
	if err != nil {
		return l, err
	}
	in := all[it.ID]
	switch {
	case in == nil:
		l.State, l.DeadAt = deadletters.Delivered, time.Time{}
	case in.letter.Headers[headerMessage] == it.Found.Headers[headerMessage]:
		l.State = deadletters.Underway
	default:
		l = in.letter
	}
	return l, nil
}

// Deliver implements deadletters.Source.
func (q *Queue) Deliver(ctx context.Context, d *deadletters.Delivery) []error {
	errs := make([]error, len(d.Items))
	fail := func(err error) []error {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	all, err := q.sweep(ctx)
	if err != nil {
		return fail(err)
	}
	q.inside = nil
	var moved bool
	if q.whole(d, all) {
		if err := q.release(ctx, all); err != nil {
			return fail(err)
		}
		if moved, err = q.move(ctx); err != nil || moved {
			return fail(err)
		}
		if all, err = q.sweep(ctx); err != nil {
			return fail(err)
		}
	}
	target, err := q.target(ctx)
	if err != nil {
		return fail(err)
	}
	for i := range d.Items {
		it := &d.Items[i]
		in := all[it.ID]
		if it.Gone || in == nil || in.letter.Headers[headerMessage] != it.Found.Headers[headerMessage] {
			continue // it has already been sent and deleted
		}
		if errs[i] = q.send(ctx, target, it, in); errs[i] == nil {
			delete(all, it.ID)
		}
	}
	if err := q.release(ctx, all); err != nil {
		return errs // they become visible again on their own
	}
	return errs
}

// release makes received messages visible again.
func (q *Queue) release(ctx context.Context, all map[string]*queued) error {
	errs := make([]error, 0, len(all))
	for _, in := range all {
		errs = append(errs, q.letGo(ctx, in))
	}
	return errors.Join(errs...)
}

// whole reports whether a delivery consists of all messages in the queue, unchanged, and whether each came from a
// source queue. SQS does not move messages that were sent to the dead-letter queue directly.
func (q *Queue) whole(d *deadletters.Delivery, all map[string]*queued) bool {
	if q.Target != "" || len(all) != len(d.Items) || len(all) == 0 {
		return false
	}
	for i := range d.Items {
		if it := &d.Items[i]; it.Edited || it.Gone || all[it.ID] == nil ||
			all[it.ID].message.Attributes["DeadLetterQueueSourceArn"] == "" {
			return false
		}
	}
	return true
}

// move starts moving all messages back to the source queue. It returns false if SQS cannot.
func (q *Queue) move(ctx context.Context) (bool, error) {
	err := q.Client.Call(ctx, "StartMessageMoveTask", document{"SourceArn": q.ARN}, nil)
	if err == nil {
		return true, nil
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorFault() == smithy.FaultClient {
		// no queue uses it as its dead-letter queue, or SQS lacks permission: send the messages one by one
		return false, nil
	}
	return false, err
}

// target returns the URL of the queue to which messages are sent.
func (q *Queue) target(ctx context.Context) (string, error) {
	if q.Target != "" {
		return q.Target, nil
	}
	var out struct {
		URLs []string `json:"queueUrls"`
	}
	if err := q.Client.Call(ctx, "ListDeadLetterSourceQueues", document{"QueueUrl": q.URL}, &out); err != nil {
		return "", fmt.Errorf("the source queues of the dead-letter queue %s cannot be listed: %w", q.Name(), err)
	}
	if len(out.URLs) != 1 {
		return "", &deadletters.BadActError{Why: fmt.Sprintf(
			"%s is the dead-letter queue of %d queues: name the one to send its messages to with --queue-target", q.Name(),
			len(out.URLs))}
	}
	return out.URLs[0], nil
}

// send sends a message to the target and deletes it from this queue.
func (q *Queue) send(ctx context.Context, target string, it *deadletters.Item, in *queued) error {
	attributes := map[string]attribute{}
	const mostAttributes = 10
	for name, a := range in.message.MessageAttributes {
		attributes[name] = a
	}
	if len(attributes) < mostAttributes {
		attributes[attributeLetter] = attribute{DataType: "String", StringValue: &it.ID}
	}
	message := document{"QueueUrl": target, "MessageBody": string(it.Payload), "MessageAttributes": attributes}
	if strings.HasSuffix(target, ".fifo") {
		message["MessageGroupId"] = in.letter.Key
		message["MessageDeduplicationId"] = in.letter.Headers[headerMessage]
	}
	if err := q.Client.Call(ctx, "SendMessage", message, nil); err != nil {
		return err
	}
	return q.delete(ctx, in)
}

func (q *Queue) delete(ctx context.Context, in *queued) error {
	return q.Client.Call(ctx, "DeleteMessage", document{"QueueUrl": q.URL, "ReceiptHandle": in.message.ReceiptHandle}, nil)
}

// Remove implements deadletters.Remover: it deletes a message.
func (q *Queue) Remove(ctx context.Context, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	all, err := q.sweep(ctx)
	if err != nil {
		return err
	}
	q.inside = nil
	if in := all[id]; in != nil {
		delete(all, id)
		if err := q.delete(ctx, in); err != nil {
			return err
		}
	}
	return q.release(ctx, all)
}
