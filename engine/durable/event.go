package durable

import (
	"encoding/json"
	"fmt"
	"time"

	"stepback/engine/history"
)

// log collects the events of a command.
type log struct {
	x      *Execution
	now    time.Time
	events []history.Event
	// first is set if the events are only staged: they are numbered from it on, and counted when they are applied.
	first int64
	steps map[string]int64
}

// body is an event as GetDurableExecutionHistory returns it, without its type, number and time. It is stored as the
// event's Data.
type body struct {
	SubType  string `json:",omitempty"`
	Id       string `json:",omitempty"` //nolint:revive // the API's spelling
	Name     string `json:",omitempty"`
	ParentId string `json:",omitempty"` //nolint:revive // the API's spelling

	ExecutionStartedDetails       *executionStarted    `json:",omitempty"`
	ExecutionSucceededDetails     *hasResult           `json:",omitempty"`
	ExecutionFailedDetails        *hasError            `json:",omitempty"`
	ExecutionTimedOutDetails      *hasError            `json:",omitempty"`
	ExecutionStoppedDetails       *hasError            `json:",omitempty"`
	ContextStartedDetails         *struct{}            `json:",omitempty"`
	ContextSucceededDetails       *hasResult           `json:",omitempty"`
	ContextFailedDetails          *hasError            `json:",omitempty"`
	WaitStartedDetails            *waitStarted         `json:",omitempty"`
	WaitSucceededDetails          *waitSucceeded       `json:",omitempty"`
	WaitCancelledDetails          *hasError            `json:",omitempty"`
	StepStartedDetails            *struct{}            `json:",omitempty"`
	StepSucceededDetails          *stepSucceeded       `json:",omitempty"`
	StepFailedDetails             *stepFailed          `json:",omitempty"`
	ChainedInvokeStartedDetails   *invokeStarted       `json:",omitempty"`
	ChainedInvokeSucceededDetails *hasResult           `json:",omitempty"`
	ChainedInvokeFailedDetails    *hasError            `json:",omitempty"`
	ChainedInvokeTimedOutDetails  *hasError            `json:",omitempty"`
	ChainedInvokeStoppedDetails   *hasError            `json:",omitempty"`
	CallbackStartedDetails        *callbackStarted     `json:",omitempty"`
	CallbackSucceededDetails      *hasResult           `json:",omitempty"`
	CallbackFailedDetails         *hasError            `json:",omitempty"`
	CallbackTimedOutDetails       *hasError            `json:",omitempty"`
	InvocationCompletedDetails    *invocationCompleted `json:",omitempty"`
}

type (
	// held is a payload of an event. Truncated is always false: events keep whole payloads.
	held struct {
		Payload   *string `json:",omitempty"`
		Truncated *bool   `json:",omitempty"`
	}
	// heldError is the error of an event.
	heldError struct {
		Payload   *Error `json:",omitempty"`
		Truncated *bool  `json:",omitempty"`
	}
	hasResult        struct{ Result held }
	hasError         struct{ Error heldError }
	executionStarted struct {
		Input            held
		ExecutionTimeout int64
	}
	waitStarted struct {
		Duration              int64
		ScheduledEndTimestamp Seconds
	}
	waitSucceeded struct{ Duration int64 }
	retryDetails  struct {
		CurrentAttempt          int64
		NextAttemptDelaySeconds int64 `json:",omitempty"`
	}
	stepSucceeded struct {
		Result       held
		RetryDetails *retryDetails
	}
	stepFailed struct {
		Error        heldError
		RetryDetails *retryDetails
	}
	callbackStarted struct {
		CallbackId       string //nolint:revive // the API's spelling
		HeartbeatTimeout int64  `json:",omitempty"`
		Timeout          int64  `json:",omitempty"`
	}
	invokeStarted struct {
		FunctionName        string
		TenantId            string `json:",omitempty"` //nolint:revive // the API's spelling
		Input               held
		ExecutedVersion     string `json:",omitempty"`
		DurableExecutionArn string `json:",omitempty"`
	}
	invocationCompleted struct {
		StartTimestamp, EndTimestamp Seconds
		RequestId                    string //nolint:revive // the API's spelling
		Error                        heldError
	}
)

var notTruncated = false

func payload(s *string) held {
	if s == nil {
		return held{}
	}
	return held{s, &notTruncated}
}

func problem(e *Error) heldError {
	if e == nil {
		return heldError{}
	}
	return heldError{e, &notTruncated}
}

// add appends an event about an operation; o is nil if it is about the execution or an invocation.
func (l *log) add(t history.Type, o *Operation, b *body) {
	e := history.Event{Time: l.now.UnixNano(), Type: t}
	if l.first > 0 {
		e.ID = l.first + int64(len(l.events)) + 1
	} else {
		l.x.events++
		e.ID = l.x.events
	}
	if o != nil {
		b.SubType, b.Id, b.Name, b.ParentId = o.SubType, o.ID, o.Name, o.ParentID
		e.Name = o.Name
		if e.Name == "" {
			e.Name = o.ID
		}
		if o.Type == TypeStep { // the attempts of a step follow from each other; other events follow from none
			e.Previous = l.previous(o.ID)
			l.steps[o.ID] = e.ID
		}
	}
	if failure := b.failure(); failure != nil {
		e.More = &history.Details{Failure: history.NewFailure(text(failure.ErrorType), text(failure.ErrorMessage))}
	}
	data, err := json.Marshal(b)
	if err != nil {
		panic(err) // strings and numbers can always be marshalled
	}
	e.Data = string(data)
	l.events = append(l.events, e)
}

// previous returns the latest event of a step, or 0.
func (l *log) previous(id string) int64 {
	if l.steps == nil {
		l.steps = map[string]int64{}
	}
	if e, ok := l.steps[id]; ok {
		return e
	}
	return l.x.steps[id]
}

// failure returns the error of an event that ends something without success, or nil.
func (b *body) failure() *Error {
	for _, d := range [...]*hasError{b.ExecutionFailedDetails, b.ExecutionTimedOutDetails, b.ExecutionStoppedDetails,
		b.ContextFailedDetails, b.ChainedInvokeFailedDetails, b.ChainedInvokeTimedOutDetails,
		b.ChainedInvokeStoppedDetails, b.CallbackFailedDetails, b.CallbackTimedOutDetails} {
		if d != nil {
			return d.Error.Payload
		}
	}
	if b.StepFailedDetails != nil {
		return b.StepFailedDetails.Error.Payload
	}
	return nil
}

// eventType returns the name of a type in Lambda's API, which calls the end by a stop otherwise than Step Functions.
func eventType(t history.Type) string {
	if t == history.ExecutionAborted {
		return "ExecutionStopped"
	}
	return t.String()
}

// EventJSON returns an event as GetDurableExecutionHistory returns it. Without data, it leaves out the payloads of
// inputs, results and errors.
func EventJSON(e *history.Event, data bool) (json.RawMessage, error) {
	text := e.Data
	if !data {
		b := new(body)
		if err := json.Unmarshal([]byte(text), b); err != nil {
			return nil, fmt.Errorf("event %d of a durable execution: %w", e.ID, err)
		}
		b.strip()
		stripped, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		text = string(stripped)
	}
	at, err := Seconds(e.At()).MarshalJSON()
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf(`{"EventType":%q,"EventId":%d,"EventTimestamp":%s`, eventType(e.Type), e.ID, at)
	if len(text) > len("{}") {
		return json.RawMessage(head + "," + text[1:]), nil
	}
	return json.RawMessage(head + "}"), nil
}

// UnmarshalJSON implements json.Unmarshaler, for events that are stored.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var seconds json.Number
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	f, err := seconds.Float64()
	*s = Seconds(time.UnixMilli(int64(f*1000 + 0.5)).UTC()) //nolint:mnd // rounded to milliseconds
	return err
}

// strip removes the payloads.
func (b *body) strip() {
	for _, d := range [...]*hasError{b.ExecutionFailedDetails, b.ExecutionTimedOutDetails, b.ExecutionStoppedDetails,
		b.ContextFailedDetails, b.WaitCancelledDetails, b.ChainedInvokeFailedDetails, b.ChainedInvokeTimedOutDetails,
		b.ChainedInvokeStoppedDetails, b.CallbackFailedDetails, b.CallbackTimedOutDetails} {
		if d != nil {
			d.Error = heldError{}
		}
	}
	for _, d := range [...]*hasResult{b.ExecutionSucceededDetails, b.ContextSucceededDetails,
		b.ChainedInvokeSucceededDetails, b.CallbackSucceededDetails} {
		if d != nil {
			d.Result = held{}
		}
	}
	if d := b.ExecutionStartedDetails; d != nil {
		d.Input = held{}
	}
	if d := b.StepSucceededDetails; d != nil {
		d.Result = held{}
	}
	if d := b.StepFailedDetails; d != nil {
		d.Error = heldError{}
	}
	if d := b.ChainedInvokeStartedDetails; d != nil {
		d.Input = held{}
	}
	if d := b.InvocationCompletedDetails; d != nil {
		d.Error = heldError{}
	}
}

// InARN is the part of an execution's ARN between its function version and its name.
const InARN = "/durable-execution/"

// FinalResult returns the result in the event that ended an execution; empty if it has none.
func FinalResult(e *history.Event) (string, error) {
	b := new(body)
	if err := json.Unmarshal([]byte(e.Data), b); err != nil {
		return "", fmt.Errorf("event %d of a durable execution: %w", e.ID, err)
	}
	if b.ExecutionSucceededDetails == nil {
		return "", nil
	}
	return text(b.ExecutionSucceededDetails.Result.Payload), nil
}

// FinalError returns the error of the event that ended an execution, or nil.
func FinalError(e *history.Event) (*Error, error) {
	b := new(body)
	if err := json.Unmarshal([]byte(e.Data), b); err != nil {
		return nil, fmt.Errorf("event %d of a durable execution: %w", e.ID, err)
	}
	return b.failure(), nil
}
