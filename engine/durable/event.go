package durable

import (
	"cmp"
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
	// again is true if the command is replayed: the events are only numbered, because the journal has them.
	again bool
	// held lists the STEPs whose retries do not begin; see Command.
	held []string
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
		e.Name = nameOf(b)
		if o.Type == TypeStep { // the attempts of a step follow from each other; other events follow from none
			e.Previous = l.previous(o.ID)
			l.steps[o.ID] = e.ID
		}
	}
	if !l.again {
		describe(&e, b)
	}
	l.events = append(l.events, e)
}

// nameOf returns the name of the operation of an event, or its ID if it has none.
func nameOf(b *body) string { return cmp.Or(b.Name, b.Id) }

// describe sets the failure and the data of an event.
func describe(e *history.Event, b *body) {
	if failure := b.failure(); failure != nil {
		e.More = &history.Details{Failure: history.NewFailure(text(failure.ErrorType), text(failure.ErrorMessage))}
	}
	data, err := json.Marshal(b)
	if err != nil {
		panic(err) // strings and numbers can always be marshalled
	}
	e.Data = string(data)
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

// results and errs return where the body of an event of a type has its result or its error. Types that have neither, or
// more than that, are missing.
var (
	results = map[history.Type]func(*body) **hasResult{
		history.ExecutionSucceeded:       func(b *body) **hasResult { return &b.ExecutionSucceededDetails },
		history.DurableContextSucceeded:  func(b *body) **hasResult { return &b.ContextSucceededDetails },
		history.DurableInvokeSucceeded:   func(b *body) **hasResult { return &b.ChainedInvokeSucceededDetails },
		history.DurableCallbackSucceeded: func(b *body) **hasResult { return &b.CallbackSucceededDetails },
	}
	errs = map[history.Type]func(*body) **hasError{
		history.ExecutionFailed:         func(b *body) **hasError { return &b.ExecutionFailedDetails },
		history.ExecutionTimedOut:       func(b *body) **hasError { return &b.ExecutionTimedOutDetails },
		history.ExecutionAborted:        func(b *body) **hasError { return &b.ExecutionStoppedDetails },
		history.DurableContextFailed:    func(b *body) **hasError { return &b.ContextFailedDetails },
		history.DurableWaitCancelled:    func(b *body) **hasError { return &b.WaitCancelledDetails },
		history.DurableInvokeFailed:     func(b *body) **hasError { return &b.ChainedInvokeFailedDetails },
		history.DurableInvokeTimedOut:   func(b *body) **hasError { return &b.ChainedInvokeTimedOutDetails },
		history.DurableInvokeStopped:    func(b *body) **hasError { return &b.ChainedInvokeStoppedDetails },
		history.DurableCallbackFailed:   func(b *body) **hasError { return &b.CallbackFailedDetails },
		history.DurableCallbackTimedOut: func(b *body) **hasError { return &b.CallbackTimedOutDetails },
	}
)

// endings lists the events that end an operation or the execution, by its type and its status.
var endings = map[string]map[string]history.Type{
	TypeExecution: {Succeeded: history.ExecutionSucceeded, Failed: history.ExecutionFailed,
		TimedOut: history.ExecutionTimedOut, Stopped: history.ExecutionAborted},
	TypeContext: {Succeeded: history.DurableContextSucceeded, Failed: history.DurableContextFailed},
	TypeWait:    {Cancelled: history.DurableWaitCancelled},
	TypeCallback: {Succeeded: history.DurableCallbackSucceeded, Failed: history.DurableCallbackFailed,
		TimedOut: history.DurableCallbackTimedOut},
	TypeChainedInvoke: {Succeeded: history.DurableInvokeSucceeded, Failed: history.DurableInvokeFailed,
		TimedOut: history.DurableInvokeTimedOut, Stopped: history.DurableInvokeStopped,
		Cancelled: history.DurableInvokeStopped},
}

// end appends the event that ends an operation with its status, result and error.
func (l *log) end(o *Operation) {
	t := endings[o.Type][o.Status]
	l.add(t, o, ended(t, o.Result, o.Error))
}

// ended returns the body of an event of a type that ends something with a result or an error.
func ended(t history.Type, result *string, err *Error) *body {
	b := new(body)
	if place, ok := results[t]; ok {
		*place(b) = &hasResult{payload(result)}
	} else {
		*errs[t](b) = &hasError{problem(err)}
	}
	return b
}

// payload returns the input or the result in the body; nil if it has none.
func (b *body) payload() *held {
	for _, place := range results {
		if d := *place(b); d != nil {
			return &d.Result
		}
	}
	switch {
	case b.ExecutionStartedDetails != nil:
		return &b.ExecutionStartedDetails.Input
	case b.StepSucceededDetails != nil:
		return &b.StepSucceededDetails.Result
	case b.ChainedInvokeStartedDetails != nil:
		return &b.ChainedInvokeStartedDetails.Input
	}
	return nil
}

// problem returns the error in the body; nil if it has none.
func (b *body) problem() *heldError {
	for _, place := range errs {
		if d := *place(b); d != nil {
			return &d.Error
		}
	}
	switch {
	case b.StepFailedDetails != nil:
		return &b.StepFailedDetails.Error
	case b.InvocationCompletedDetails != nil:
		return &b.InvocationCompletedDetails.Error
	}
	return nil
}

// failure returns the error of an event that ends an operation or the execution without success, or nil. Neither a
// cancelled WAIT nor an invocation, which is repeated, is one.
func (b *body) failure() *Error {
	if e := b.problem(); e != nil && b.WaitCancelledDetails == nil && b.InvocationCompletedDetails == nil {
		return e.Payload
	}
	return nil
}

// EventType returns the name of a type in Lambda's API, which calls the end by a stop otherwise than Step Functions.
func EventType(t history.Type) string {
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
		b, err := bodyOf(e)
		if err != nil {
			return nil, err
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
	head := fmt.Sprintf(`{"EventType":%q,"EventId":%d,"EventTimestamp":%s`, EventType(e.Type), e.ID, at)
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
	if p := b.payload(); p != nil {
		*p = held{}
	}
	if e := b.problem(); e != nil {
		*e = heldError{}
	}
}
