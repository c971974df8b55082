package engine

import (
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/engine/journal"
	"stepback/jsonvalue"
)

// The types that describe executions and start them.
type (
	// Execution is the description of an execution: its Info, status and outcome.
	Execution = journal.Execution
	// Info holds the properties of an execution that do not change from its start to its end.
	Info = history.Info
	// Origin is the part of an Info that is given when an execution is started.
	Origin = history.Origin
	// Event is one event of an execution's history.
	Event = history.Event
	// Failure is the error name and the cause that a workflow sees. Integrations return a pointer to one.
	Failure = history.Failure
	// Status is the status of an execution or a Map Run.
	Status = history.Status
)

// The statuses of an execution, and of a Map Run.
const (
	Running   = history.Running
	Succeeded = history.Succeeded
	Failed    = history.Failed
	TimedOut  = history.TimedOut
	Aborted   = history.Aborted
)

// NewFailure returns a failure for an integration to return, with both a name and a cause, either of which may be
// empty. A failure without a cause is &Failure{Name: name}.
func NewFailure(name, cause string) *Failure {
	f := history.NewFailure(name, cause)
	return &f
}

// The error names of the Amazon States Language that integrations fail with.
const (
	StatesRuntime           = plan.ErrRuntime
	StatesTaskFailed        = plan.ErrTaskFailed
	StatesTimeout           = plan.ErrTimeout
	StatesDataLimitExceeded = plan.ErrDataLimitExceeded
	StatesItemReaderFailed  = plan.ErrItemReaderFailed
)

// Result is a task's result: JSON text, with its parsed tree if available.
type Result = *jsonvalue.Document

// TextResult returns the result of a JSON text, which must be valid.
func TextResult(text string) Result { return jsonvalue.TextDocument(text) }

// ValueResult returns the result of a JSON tree.
func ValueResult(v jsonvalue.Value) Result { return jsonvalue.ValueDocument(v) }

// ParsedResult returns the result of a JSON text whose parsed tree is v.
func ParsedResult(text string, v jsonvalue.Value) Result { return jsonvalue.ParsedDocument(text, v) }

// MaxPayload is the limit in bytes of every input, output and result.
const MaxPayload = interpreter.MaxPayload

// Pattern is the way in which a service integration completes.
type Pattern string

// The integration patterns.
const (
	RequestResponse  = Pattern(plan.RequestResponse)
	Sync             = Pattern(plan.Sync)
	Sync2            = Pattern(plan.Sync2)
	WaitForTaskToken = Pattern(plan.WaitForTaskToken)
)
