package startevents

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"stepback/internal/objectevent"
	"stepback/outbox/deadletters"
)

// Messages is the queue that an inbox reads; *queues.Queue implements it.
type Messages interface {
	Each(ctx context.Context, visit func(deadletters.Letter) error) error
	// Remove deletes the message whose letter has the ID.
	Remove(ctx context.Context, id string) error
}

// Queue implements Inbox with a queue to which EventBridge, and Lambda's on-failure destination, send events.
type Queue struct{ Messages Messages }

// record is the message that Lambda sends to an on-failure destination (AWS Lambda developer guide, "Adding a
// destination").
type record struct {
	RequestContext struct {
		Condition              string `json:"condition"`
		ApproximateInvokeCount int    `json:"approximateInvokeCount"`
	} `json:"requestContext"`
	RequestPayload  *objectevent.Event `json:"requestPayload"`
	ResponsePayload struct {
		ErrorType    string `json:"errorType"`
		ErrorMessage string `json:"errorMessage"`
	} `json:"responsePayload"`
	Timestamp time.Time `json:"timestamp"`
}

// Each implements Inbox. It fails on a message that is not an event; the error names the message.
func (q *Queue) Each(ctx context.Context, visit func(Undelivered) error) error {
	return q.Messages.Each(ctx, func(l deadletters.Letter) error {
		u := Undelivered{Place: l.ID, At: l.DeadAt, Attempts: l.Attempts, Error: l.Headers["ERROR_CODE"],
			Cause: l.Headers["ERROR_MESSAGE"]}
		var r record
		if err := json.Unmarshal(l.Payload, &r); err == nil && r.RequestPayload != nil {
			u.Event, u.Error, u.Cause = *r.RequestPayload, r.ResponsePayload.ErrorType, r.ResponsePayload.ErrorMessage
			if u.Error == "" {
				u.Error = r.RequestContext.Condition
			}
			u.Attempts, u.At = r.RequestContext.ApproximateInvokeCount, r.Timestamp
		} else if err := json.Unmarshal(l.Payload, &u.Event); err != nil || u.Event.Detail.Object.Key == "" {
			return fmt.Errorf("the message %s is not an \"Object Created\" event; handle it as a message of the queue (--queue)",
				l.ID)
		}
		return visit(u)
	})
}

// Remove implements Inbox.
func (q *Queue) Remove(ctx context.Context, u Undelivered) error {
	return q.Messages.Remove(ctx, u.Place)
}
