// Package startevents manages S3's "Object Created" events for which no execution could be started. Redriving an
// event starts the execution that is named for its object's bucket, key and ETag, so that a file is imported once,
// however often its event is redriven.
//
// Events are stored in an [Inbox]: a prefix of a bucket on the laptop, a queue of Amazon SQS on AWS. The package
// itself never sends an event.
package startevents

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/engine/history"
	"stepback/internal/objectevent"
	"stepback/outbox/deadletters"
)

// Inbox is a store of undeliverable events.
type Inbox interface {
	// Each calls visit for the events.
	Each(ctx context.Context, visit func(Undelivered) error) error
	// Remove removes all deliveries of an event once its execution exists.
	Remove(ctx context.Context, u Undelivered) error
}

// Undelivered is an event and why no execution was started for it.
type Undelivered struct {
	Event        objectevent.Event `json:"event"`
	Error, Cause string
	Attempts     int
	At           time.Time // when it was given up
	Place        string    `json:"-"` // its place in the inbox
}

// Events implements deadletters.Source.
type Events struct {
	Inbox   Inbox
	Client  *sfn.Client
	Machine string // ARN of the state machine whose executions the events of files start, or of its alias
	// FilesMachine is the ARN of the state machine whose executions the events of manifests start, or of its alias. If
	// it is empty, redriving such an event is refused.
	FilesMachine string
}

const prefix = "event:"

// ReasonNotStarted is the reason of all letters of this kind.
const ReasonNotStarted = "not_started"

// Kind implements deadletters.Source.
func (s *Events) Kind() deadletters.Kind { return deadletters.KindEvent }

// Owns implements deadletters.Source.
func (s *Events) Owns(id string) bool { return strings.HasPrefix(id, prefix) }

// Each implements deadletters.Source.
func (s *Events) Each(ctx context.Context, visit func(deadletters.Letter) error) error {
	seen := map[string]bool{}
	return s.Inbox.Each(ctx, func(u Undelivered) error {
		l, err := letterOf(&u)
		if err != nil || seen[l.ID] {
			return err
		}
		seen[l.ID] = true
		return visit(l)
	})
}

func letterOf(u *Undelivered) (deadletters.Letter, error) {
	payload, err := json.Marshal(u.Event)
	o := u.Event.Detail.Object
	return deadletters.Letter{
		ID: prefix + u.Event.ExecutionName(), Kind: deadletters.KindEvent, State: deadletters.Dead,
		Subject: "s3://" + u.Event.Detail.Bucket.Name + "/" + o.Key, Reason: ReasonNotStarted, Error: u.Error,
		Cause: u.Cause, Attempts: u.Attempts, CreatedAt: u.Event.Time, LastAttemptAt: u.At, DeadAt: u.At,
		ContentType: "application/json", Payload: payload,
	}, err
}

// Find implements deadletters.Source.
func (s *Events) Find(ctx context.Context, id string) (found deadletters.Letter, err error) {
	err = s.Each(ctx, func(l deadletters.Letter) error {
		if l.ID != id {
			return nil
		}
		found = l
		return errFound
	})
	switch {
	case errors.Is(err, errFound):
		return found, nil
	case err != nil:
		return found, err
	}
	return found, deadletters.ErrNotFound
}

var errFound = errors.New("found")

// CheckEdit implements deadletters.Source. It rejects an event that names another object, because that would be a
// different event.
func (s *Events) CheckEdit(l *deadletters.Letter, payload []byte) error {
	var e objectevent.Event
	if err := json.Unmarshal(payload, &e); err != nil {
		return &deadletters.BadActError{Why: "the edited event cannot be read: " + err.Error() + "; nothing was changed"}
	}
	if e.ExecutionName() != strings.TrimPrefix(l.ID, prefix) {
		return &deadletters.BadActError{Why: "the edited event names another object (key " + e.Detail.Object.Key +
			", ETag " + e.Detail.Object.ETag + "): upload that object instead; nothing was changed"}
	}
	return nil
}

// Deliver implements deadletters.Source.
func (s *Events) Deliver(ctx context.Context, d *deadletters.Delivery) []error {
	errs := make([]error, len(d.Items))
	for i := range d.Items {
		if !d.Items[i].Gone {
			errs[i] = s.start(ctx, &d.Items[i])
		}
	}
	return errs
}

// start starts the execution of an event, and then removes the event from the inbox.
func (s *Events) start(ctx context.Context, it *deadletters.Item) error {
	var e objectevent.Event
	if err := json.Unmarshal(it.Payload, &e); err != nil {
		return &deadletters.BadActError{Why: "the event cannot be read: " + err.Error()}
	}
	machine := s.machine(e)
	if machine == "" {
		return &deadletters.BadActError{Why: e.Detail.Object.Key + " is a manifest, and the state machine that imports its " +
			"files as one is not named: name it with --files-machine, or import the files with stepback run --files"}
	}
	input, err := json.Marshal(e.StartInput())
	if err != nil {
		return err
	}
	_, err = s.Client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &machine,
		Name: aws.String(e.ExecutionName()), Input: aws.String(string(input))})
	if _, exists := errors.AsType[*types.ExecutionAlreadyExists](err); err != nil && !exists {
		if missing, ok := errors.AsType[*types.StateMachineDoesNotExist](err); ok {
			return &deadletters.BadActError{Why: missing.ErrorMessage() + "; deploy it first"}
		}
		return err
	}
	return s.remove(ctx, e.ExecutionName())
}

// machine returns the ARN of the state machine that an event is meant for; empty if it is not known.
func (s *Events) machine(e objectevent.Event) string {
	if e.OfManifest() {
		return s.FilesMachine
	}
	return s.Machine
}

// Remove implements deadletters.Remover.
func (s *Events) Remove(ctx context.Context, id string) error {
	return s.remove(ctx, strings.TrimPrefix(id, prefix))
}

// remove removes all copies of the event of an execution from the inbox.
func (s *Events) remove(ctx context.Context, execution string) error {
	var all []Undelivered
	if err := s.Inbox.Each(ctx, func(u Undelivered) error {
		if u.Event.ExecutionName() == execution {
			all = append(all, u)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, u := range all {
		if err := s.Inbox.Remove(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// Became implements deadletters.Source: an event is delivered once its execution exists.
func (s *Events) Became(ctx context.Context, d *deadletters.Delivery, i int) (deadletters.Letter, error) {
	l := deadletters.Letter(d.Items[i].Found)
	l.State = deadletters.Underway
	var e objectevent.Event
	if err := json.Unmarshal(d.Items[i].Payload, &e); err != nil {
		return l, err
	}
	machine := s.machine(e)
	if machine == "" { // another operator has named it
		return l, nil
	}
	arn := history.ExecutionARN(machine, strings.TrimPrefix(l.ID, prefix))
	x, err := s.Client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if _, missing := errors.AsType[*types.ExecutionDoesNotExist](err); missing {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	l.State, l.Execution, l.LastAttemptAt = deadletters.Delivered, arn, aws.ToTime(x.StartDate)
	l.DeadAt = time.Time{}
	return l, nil
}
