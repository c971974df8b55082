package durable

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"stepback/engine/history"
)

func bodyOf(e *history.Event) (*body, error) {
	b := new(body)
	if err := json.Unmarshal([]byte(e.Data), b); err != nil {
		return nil, fmt.Errorf("event %d of a durable execution: %w", e.ID, err)
	}
	return b, nil
}

// Details describes an event of a durable execution for readers of histories. Members that an event does not have are
// zero.
type Details struct {
	// ID, ParentID, Name and SubType are those of the operation. They are empty for the end of an invocation.
	ID, ParentID, Name, SubType string
	// Payload is the input with which the execution or a chained invoke started, or the result of an operation.
	Payload *string
	Error   *Error
	// Attempt is the number, from 1, of the attempt of a STEP that has ended. Delay is the time until its next attempt
	// may start; 0 if there is none.
	Attempt int64
	Delay   time.Duration
	// Until is when a WAIT ends. Timeout is the timeout of the execution or of a CALLBACK, and Heartbeat that of its
	// heartbeats; 0 means none.
	Until              time.Time
	Timeout, Heartbeat time.Duration
	// CallbackID identifies a CALLBACK to those who complete it.
	CallbackID string
	// Function is the function that a CHAINED_INVOKE invokes. If it is a durable function, Execution is the durable
	// execution that the call has started; otherwise Execution is empty.
	Function, Execution string
	// Request is the ID of an invocation that has ended, and Invoked when it started.
	Request string
	Invoked time.Time
}

// Failure returns the error as the failures of tasks are described; zero if the event has none.
func (d *Details) Failure() history.Failure {
	if d.Error == nil {
		return history.Failure{}
	}
	return history.NewFailure(text(d.Error.ErrorType), text(d.Error.ErrorMessage))
}

// FailureOf returns the failure of an operation, an execution or an invocation that an event reports. It is zero for
// events that report none.
func FailureOf(e *history.Event) history.Failure {
	if e.More != nil && !e.More.Failure.IsZero() {
		return e.More.Failure
	}
	if e.Type != history.DurableInvocationCompleted {
		return history.Failure{}
	}
	d, err := DetailsOf(e)
	if err != nil {
		return history.Failure{}
	}
	return d.Failure()
}

// DetailsOf returns the details of an event. The error reports that its Data is not what this package writes.
func DetailsOf(e *history.Event) (*Details, error) {
	b, err := bodyOf(e)
	if err != nil {
		return nil, err
	}
	d := &Details{ID: b.Id, ParentID: b.ParentId, Name: b.Name, SubType: b.SubType}
	if p := b.payload(); p != nil {
		d.Payload = p.Payload
	}
	if p := b.problem(); p != nil {
		d.Error = p.Payload
	}
	retry := (*retryDetails)(nil)
	switch {
	case b.StepSucceededDetails != nil:
		retry = b.StepSucceededDetails.RetryDetails
	case b.StepFailedDetails != nil:
		retry = b.StepFailedDetails.RetryDetails
	case b.WaitStartedDetails != nil:
		d.Until = time.Time(b.WaitStartedDetails.ScheduledEndTimestamp)
	case b.CallbackStartedDetails != nil:
		c := b.CallbackStartedDetails
		d.CallbackID, d.Timeout, d.Heartbeat = c.CallbackId, seconds(c.Timeout), seconds(c.HeartbeatTimeout)
	case b.ChainedInvokeStartedDetails != nil:
		d.Function, d.Execution = b.ChainedInvokeStartedDetails.FunctionName,
			b.ChainedInvokeStartedDetails.DurableExecutionArn
	case b.ExecutionStartedDetails != nil:
		d.Timeout = seconds(b.ExecutionStartedDetails.ExecutionTimeout)
	case b.InvocationCompletedDetails != nil:
		d.Request, d.Invoked = b.InvocationCompletedDetails.RequestId,
			time.Time(b.InvocationCompletedDetails.StartTimestamp)
	}
	if retry != nil {
		d.Attempt, d.Delay = retry.CurrentAttempt, seconds(retry.NextAttemptDelaySeconds)
	}
	return d, nil
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// typesByName maps the names of Lambda's API to types of events.
var typesByName = func() map[string]history.Type {
	m := map[string]history.Type{}
	for t := history.DurableContextStarted; t <= history.DurableInvocationCompleted; t++ {
		m[EventType(t)] = t
	}
	for _, t := range [...]history.Type{history.ExecutionStarted, history.ExecutionSucceeded, history.ExecutionFailed,
		history.ExecutionTimedOut, history.ExecutionAborted} {
		m[EventType(t)] = t
	}
	return m
}()

// ParseEvents parses the events of an execution, from the first one on, as GetDurableExecutionHistory returns them. It
// reverses EventJSON: the events are as a journal has them, with times in milliseconds. Events of unknown types have
// the type history.Unknown.
func ParseEvents(texts []json.RawMessage) ([]history.Event, error) {
	events := make([]history.Event, 0, len(texts))
	steps := map[string]int64{}
	for i, text := range texts {
		var head struct {
			EventType      string
			EventId        int64 //nolint:revive // the API's spelling
			EventTimestamp Seconds
		}
		b := new(body)
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, fmt.Errorf("event %d of a durable execution: %w", i+1, err)
		}
		if err := json.Unmarshal(text, b); err != nil {
			return nil, fmt.Errorf("event %d of a durable execution: %w", head.EventId, err)
		}
		e := history.Event{ID: head.EventId, Time: time.Time(head.EventTimestamp).UnixNano(),
			Type: typesByName[head.EventType]}
		if e.Type != history.ExecutionStarted && !e.Type.Terminal() && b.Id != "" {
			e.Name = nameOf(b)
			if strings.HasPrefix(head.EventType, "Step") {
				e.Previous = steps[b.Id]
				steps[b.Id] = e.ID
			}
		}
		describe(&e, b)
		events = append(events, e)
	}
	return events, nil
}

// InARN is the part of an execution's ARN between its function version and its name.
const InARN = "/durable-execution/"

// FunctionARN returns the ARN of the function version that an execution runs, given the execution's ARN.
func FunctionARN(arn string) string {
	of, _, _ := strings.Cut(arn, InARN)
	return of
}

// IsARN reports whether an ARN is that of an execution of a durable function.
func IsARN(arn string) bool { return strings.HasPrefix(arn, "arn:") && strings.Contains(arn, InARN) }
