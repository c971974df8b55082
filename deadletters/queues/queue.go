// Package queues looks after a dead-letter queue of Amazon SQS: what is in it, and redriving it to the queue that it
// comes from.
//
// SQS shows a message only by receiving it. Looking therefore counts as a receive, and hides the messages from others
// for a moment. A queue that is redriven whole and unchanged is moved by SQS itself (StartMessageMoveTask); single or
// edited messages are sent and then deleted, with the ID of the letter as their attribute Stepback-Letter, and as their
// deduplication ID in a FIFO queue. The package never deletes a message that it has not sent on, or that an operator
// has not discarded.
package queues

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"stepback/deadletters"
)

// Queue is a deadletters.Source: one dead-letter queue.
type Queue struct {
	Client *sqs.Client
	URL    string // of the dead-letter queue
	ARN    string
	// Target is the URL of the queue that messages are redriven to; empty means the one that they come from.
	Target string

	mu     sync.Mutex
	looked time.Time
	inside map[string]*inside // by the IDs of the letters
}

// inside is a message in the queue.
type inside struct {
	message types.Message
	letter  deadletters.Letter
}

const (
	prefix          = "sqs:"
	attributeLetter = "Stepback-Letter"
	headerMessage   = "Sqs-Message-Id"
	headerGroup     = "Sqs-Message-Group-Id"
)

// ReasonMaxReceives is the reason of the letters: a message was received as often as its queue allows.
const ReasonMaxReceives = "max_receives"

// Open finds a queue by its URL or its ARN.
func Open(ctx context.Context, client *sqs.Client, address string) (*Queue, error) {
	q := &Queue{Client: client, URL: address}
	if strings.HasPrefix(address, "arn:") {
		parts := strings.Split(address, ":")
		const arnParts = 6
		if len(parts) != arnParts {
			return nil, &deadletters.BadActError{Why: address + " is not the ARN of a queue"}
		}
		out, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &parts[5],
			QueueOwnerAWSAccountId: &parts[4]})
		if err != nil {
			return nil, fmt.Errorf("the queue %s cannot be found: %w", address, err)
		}
		q.URL = aws.ToString(out.QueueUrl)
	}
	out, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &q.URL,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		return nil, fmt.Errorf("the queue %s cannot be read: %w", address, err)
	}
	q.ARN = out.Attributes[string(types.QueueAttributeNameQueueArn)]
	return q, nil
}

// Name is that of the queue.
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

// Looking receives all messages, hides them for as long as it may take, and lets go of them.
const (
	hidden    = 20 // seconds
	staleness = 2 * time.Second
	atOnce    = 10
)

// look receives all that is in the queue, at most every two seconds.
func (q *Queue) look(ctx context.Context, fresh bool) (map[string]*inside, error) {
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
		if _, err := q.Client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q.URL,
			ReceiptHandle: in.message.ReceiptHandle, VisibilityTimeout: 0}); err != nil {
			return nil, fmt.Errorf("a message of %s was looked at and cannot be let go of; it comes back in %d seconds: %w",
				q.Name(), hidden, err)
		}
	}
	q.inside, q.looked = all, time.Now()
	return all, nil
}

// sweep receives until nothing comes any more.
func (q *Queue) sweep(ctx context.Context) (map[string]*inside, error) {
	all := map[string]*inside{}
	for empty := 0; empty < 2; {
		out, err := q.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &q.URL, MaxNumberOfMessages: atOnce, VisibilityTimeout: hidden, WaitTimeSeconds: 0,
			MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{
				types.MessageSystemAttributeNameAll,
			},
		})
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
				return all, nil // SQS shows messages again before all have been seen: the queue is large or slow
			}
			all[l.ID] = &inside{m, l}
		}
	}
	return all, nil
}

func (q *Queue) letter(m *types.Message) deadletters.Letter {
	id := prefix + q.Name() + ":" + aws.ToString(m.MessageId)
	headers := map[string]string{headerMessage: aws.ToString(m.MessageId)}
	text := func(name string) string { return aws.ToString(m.MessageAttributes[name].StringValue) }
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
	if body := strings.TrimSpace(aws.ToString(m.Body)); strings.HasPrefix(body, "{") || strings.HasPrefix(body, "[") {
		content = "application/json"
	}
	return deadletters.Letter{
		ID: id, Kind: deadletters.KindQueue, State: deadletters.Dead, Subject: q.Name(), Key: headers[headerGroup],
		Reason: ReasonMaxReceives, Error: text("ErrorCode"), Cause: text("ErrorMessage"), Attempts: received,
		CreatedAt: milliseconds(m.Attributes["SentTimestamp"]),
		DeadAt:    milliseconds(m.Attributes["ApproximateFirstReceiveTimestamp"]),
		Trace:     text("traceparent"), ContentType: content, Headers: headers, Payload: []byte(aws.ToString(m.Body)),
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
		return &deadletters.BadActError{Why: fmt.Sprintf("the edited message has %d bytes; SQS takes 1 to %d",
			len(payload), most)}
	}
	return nil
}

// Became implements deadletters.Source: a message that is in the queue again, as another one, has died again.
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
			continue // it was sent and deleted before
		}
		if errs[i] = q.send(ctx, target, it, in); errs[i] == nil {
			delete(all, it.ID)
		}
	}
	if err := q.release(ctx, all); err != nil {
		return errs // they come back by themselves
	}
	return errs
}

// release lets go of messages that were received.
func (q *Queue) release(ctx context.Context, all map[string]*inside) error {
	var errs []error
	for _, in := range all {
		_, err := q.Client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &q.URL,
			ReceiptHandle: in.message.ReceiptHandle, VisibilityTimeout: 0})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// whole tells whether a delivery is all that is in the queue, unchanged.
func (q *Queue) whole(d *deadletters.Delivery, all map[string]*inside) bool {
	if q.Target != "" || len(all) != len(d.Items) || len(all) == 0 {
		return false
	}
	for i := range d.Items {
		if it := &d.Items[i]; it.Edited || it.Gone || all[it.ID] == nil {
			return false
		}
	}
	return true
}

// move has SQS move the whole queue to where it comes from; it tells false where SQS cannot.
func (q *Queue) move(ctx context.Context) (bool, error) {
	_, err := q.Client.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &q.ARN})
	if err == nil {
		return true, nil
	}
	if _, ok := errors.AsType[*types.UnsupportedOperation](err); ok {
		return false, nil
	}
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); ok { // no queue has it as its dead-letter queue
		return false, nil
	}
	return false, err
}

// target is where messages go.
func (q *Queue) target(ctx context.Context) (string, error) {
	if q.Target != "" {
		return q.Target, nil
	}
	out, err := q.Client.ListDeadLetterSourceQueues(ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &q.URL})
	if err != nil {
		return "", fmt.Errorf("the queues whose dead letters %s has cannot be told: %w", q.Name(), err)
	}
	if len(out.QueueUrls) != 1 {
		return "", &deadletters.BadActError{Why: fmt.Sprintf(
			"%s is the dead-letter queue of %d queues: say with --queue-target which one its messages go to", q.Name(),
			len(out.QueueUrls))}
	}
	return out.QueueUrls[0], nil
}

// send sends a message on and deletes it here.
func (q *Queue) send(ctx context.Context, target string, it *deadletters.Item, in *inside) error {
	message := &sqs.SendMessageInput{QueueUrl: &target, MessageBody: aws.String(string(it.Payload)),
		MessageAttributes: map[string]types.MessageAttributeValue{}}
	const mostAttributes = 10
	for name, a := range in.message.MessageAttributes {
		message.MessageAttributes[name] = a
	}
	if len(message.MessageAttributes) < mostAttributes {
		message.MessageAttributes[attributeLetter] = types.MessageAttributeValue{DataType: aws.String("String"),
			StringValue: &it.ID}
	}
	if strings.HasSuffix(target, ".fifo") {
		message.MessageGroupId = aws.String(in.letter.Key)
		message.MessageDeduplicationId = aws.String(in.letter.Headers[headerMessage])
	}
	if _, err := q.Client.SendMessage(ctx, message); err != nil {
		return err
	}
	_, err := q.Client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.URL,
		ReceiptHandle: in.message.ReceiptHandle})
	return err
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
		if _, err := q.Client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.URL,
			ReceiptHandle: in.message.ReceiptHandle}); err != nil {
			return err
		}
	}
	return q.release(ctx, all)
}
