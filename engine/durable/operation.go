package durable

import (
	"encoding/json"
	"fmt"
	"time"
)

// The types of operations.
const (
	TypeExecution     = "EXECUTION"
	TypeContext       = "CONTEXT"
	TypeStep          = "STEP"
	TypeWait          = "WAIT"
	TypeCallback      = "CALLBACK"
	TypeChainedInvoke = "CHAINED_INVOKE"
)

// The actions of an update.
const (
	ActionStart   = "START"
	ActionSucceed = "SUCCEED"
	ActionFail    = "FAIL"
	ActionRetry   = "RETRY"
	ActionCancel  = "CANCEL"
)

// The statuses of operations and executions. Only operations are PENDING, READY or CANCELLED; only executions are
// RUNNING.
const (
	Running   = "RUNNING"
	Started   = "STARTED"
	Pending   = "PENDING"
	Ready     = "READY"
	Succeeded = "SUCCEEDED"
	Failed    = "FAILED"
	Cancelled = "CANCELLED"
	TimedOut  = "TIMED_OUT"
	Stopped   = "STOPPED"
)

// Error is an error as Lambda's API has it (ErrorObject). Members that are nil were not given.
type Error struct {
	ErrorMessage *string  `json:",omitempty"`
	ErrorType    *string  `json:",omitempty"`
	ErrorData    *string  `json:",omitempty"`
	StackTrace   []string `json:",omitempty"`
}

// NewError returns an error with a type and a message.
func NewError(errorType, message string) *Error {
	return &Error{ErrorType: &errorType, ErrorMessage: &message}
}

// size is the number of bytes that count toward the limits.
func (e *Error) size() int {
	if e == nil {
		return 0
	}
	n := len(text(e.ErrorMessage)) + len(text(e.ErrorType)) + len(text(e.ErrorData))
	for _, line := range e.StackTrace {
		n += len(line)
	}
	return n
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Update is one update of a checkpoint, as CheckpointDurableExecution receives it (OperationUpdate).
type Update struct {
	Id                   string //nolint:revive // the API's spelling
	ParentId             string `json:",omitempty"` //nolint:revive // the API's spelling
	Name                 string `json:",omitempty"`
	Type                 string
	SubType              string `json:",omitempty"`
	Action               string
	Payload              *string               `json:",omitempty"`
	Error                *Error                `json:",omitempty"`
	ContextOptions       *ContextOptions       `json:",omitempty"`
	StepOptions          *StepOptions          `json:",omitempty"`
	WaitOptions          *WaitOptions          `json:",omitempty"`
	CallbackOptions      *CallbackOptions      `json:",omitempty"`
	ChainedInvokeOptions *ChainedInvokeOptions `json:",omitempty"`
}

// ContextOptions are the options of a CONTEXT. With ReplayChildren, its result is rebuilt from its children.
type ContextOptions struct{ ReplayChildren bool }

// StepOptions are the options of a STEP: the delay before its next attempt, in seconds.
type StepOptions struct{ NextAttemptDelaySeconds int64 }

// WaitOptions are the options of a WAIT: its length in seconds.
type WaitOptions struct{ WaitSeconds int64 }

// CallbackOptions are the options of a CALLBACK: its timeouts in seconds; 0 means none.
type CallbackOptions struct {
	TimeoutSeconds          int64
	HeartbeatTimeoutSeconds int64
}

// ChainedInvokeOptions are the options of a CHAINED_INVOKE: the function to invoke, and its tenant.
type ChainedInvokeOptions struct {
	FunctionName string
	TenantId     string `json:",omitempty"` //nolint:revive // the API's spelling
}

// Operation is an operation of a durable execution. Operations belong to their Execution and must not be changed.
type Operation struct {
	ID, ParentID, Name, Type, SubType string
	Status                            string
	Start, End                        time.Time
	// Result and Error are the outcome; nil if there is none. A STEP that is retried has those of its last attempt.
	Result *string
	Error  *Error
	// Attempt is the number of attempts of a STEP that have ended and are retried. Next is when its next attempt may
	// start, while it is PENDING, and Latest is when the latest of those attempts ended.
	Attempt      int64
	Next, Latest time.Time
	// Held is true for a STEP whose retry is due and does not begin. Its Next is not shown, because SDKs that see a
	// time in the past try again at once, as long as their invocation lasts.
	Held bool
	// ReplayChildren is true for a CONTEXT whose result is rebuilt from its children.
	ReplayChildren bool
	// Wait is the length of a WAIT in seconds. Due is when it ends, or when a CALLBACK times out; zero means never.
	Wait int64
	Due  time.Time
	// CallbackID identifies a CALLBACK to those who complete it. Timeout and Heartbeat are its timeouts in seconds; 0
	// means none. Silent is when its heartbeat times out; zero means never.
	CallbackID         string
	Timeout, Heartbeat int64
	Silent             time.Time
	// Chained describes what a CHAINED_INVOKE invokes; nil for other operations.
	Chained *Chained

	touched int64 // the number of the last change
}

// Chained describes the invocation of another function.
type Chained struct {
	ChainedInvokeOptions
	Target
	Input *string
}

// Target is the function version that a CHAINED_INVOKE invokes, as its owner has resolved it.
type Target struct {
	// Version is the version that runs. ARN is the ARN of the durable execution that it becomes; empty if the function
	// is not durable.
	Version string `json:",omitempty"`
	ARN     string `json:",omitempty"`
	// Error, if not nil, says why the function cannot be invoked.
	Error *Error `json:",omitempty"`
}

// Ended reports whether the operation has its outcome.
func (o *Operation) Ended() bool {
	switch o.Status {
	case Started, Pending, Ready:
		return false
	}
	return true
}

// deadline returns when the operation changes by itself; zero means never.
func (o *Operation) deadline() time.Time {
	switch {
	case o.Type == TypeStep && o.Status == Pending:
		return o.Next
	case o.Status != Started:
		return time.Time{}
	case o.Type == TypeCallback && !o.Silent.IsZero() && (o.Due.IsZero() || o.Silent.Before(o.Due)):
		return o.Silent
	}
	return o.Due // zero for what has no timer
}

// Stamp is a point in time as an answer writes it.
type Stamp interface{ Seconds | Millis }

// Seconds is a time in seconds since 1970 with three decimals, as Lambda's API writes times.
type Seconds time.Time

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) {
	ms := time.Time(s).UnixMilli()
	return fmt.Appendf(nil, "%d.%03d", ms/1000, ms%1000), nil
}

// IsZero makes omitzero omit zero times.
func (s Seconds) IsZero() bool { return time.Time(s).IsZero() }

// Millis is a time in milliseconds since 1970, as the event of an invocation writes times.
type Millis time.Time

// MarshalJSON implements json.Marshaler.
func (m Millis) MarshalJSON() ([]byte, error) { return json.Marshal(time.Time(m).UnixMilli()) }

// IsZero makes omitzero omit zero times.
func (m Millis) IsZero() bool { return time.Time(m).IsZero() }

// Shown is an operation as answers contain it (Operation in Lambda's model).
type Shown[T Stamp] struct {
	Id                   string //nolint:revive // the API's spelling
	ParentId             string `json:",omitempty"` //nolint:revive // the API's spelling
	Name                 string `json:",omitempty"`
	Type                 string
	SubType              string `json:",omitempty"`
	StartTimestamp       T
	EndTimestamp         T `json:",omitzero"`
	Status               string
	ExecutionDetails     *ShownExecution `json:",omitempty"`
	ContextDetails       *ShownContext   `json:",omitempty"`
	StepDetails          *ShownStep[T]   `json:",omitempty"`
	WaitDetails          *ShownWait[T]   `json:",omitempty"`
	CallbackDetails      *ShownCallback  `json:",omitempty"`
	ChainedInvokeDetails *ShownOutcome   `json:",omitempty"`
}

// ShownExecution contains the input of the execution itself.
type ShownExecution struct{ InputPayload string }

// ShownOutcome is a result or an error.
type ShownOutcome struct {
	Result *string `json:",omitempty"`
	Error  *Error  `json:",omitempty"`
}

// ShownContext contains the details of a CONTEXT.
type ShownContext struct {
	ReplayChildren bool `json:",omitempty"`
	ShownOutcome
}

// ShownStep contains the details of a STEP.
type ShownStep[T Stamp] struct {
	Attempt              int64
	NextAttemptTimestamp T `json:",omitzero"`
	ShownOutcome
}

// ShownWait contains the details of a WAIT.
type ShownWait[T Stamp] struct{ ScheduledEndTimestamp T }

// ShownCallback contains the details of a CALLBACK.
type ShownCallback struct {
	CallbackId string //nolint:revive // the API's spelling
	ShownOutcome
}

// Show returns the operation as an answer contains it.
func Show[T Stamp](o *Operation) Shown[T] {
	s := Shown[T]{Id: o.ID, ParentId: o.ParentID, Name: o.Name, Type: o.Type, SubType: o.SubType,
		StartTimestamp: T(o.Start), EndTimestamp: T(o.End), Status: o.Status}
	outcome := ShownOutcome{o.Result, o.Error}
	switch o.Type {
	case TypeExecution:
		s.ExecutionDetails = &ShownExecution{text(o.Result)}
	case TypeContext:
		s.ContextDetails = &ShownContext{o.ReplayChildren, outcome}
	case TypeStep:
		s.StepDetails = &ShownStep[T]{Attempt: o.Attempt, ShownOutcome: outcome}
		if !o.Held {
			s.StepDetails.NextAttemptTimestamp = T(o.Next)
		}
	case TypeWait:
		s.WaitDetails = &ShownWait[T]{T(o.Due)}
	case TypeCallback:
		s.CallbackDetails = &ShownCallback{o.CallbackID, outcome}
	case TypeChainedInvoke:
		s.ChainedInvokeDetails = &outcome
	}
	return s
}
