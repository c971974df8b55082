package engine

import (
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/jsonvalue"
)

// Types of the packages journal and history, which do not import the engine. They are aliases because one value passes
// through all of them: a Journal stores the Execution that Observe gets, and retrymetrics, timeline and graph read the
// Events without linking an engine. Types of the engine's own would need a copy for each execution and each event.
type (
	// Execution is the description of an execution, as a Journal stores it: its Info, status and outcome.
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
	StatesRuntime           = "States.Runtime"
	StatesTaskFailed        = "States.TaskFailed"
	StatesTimeout           = "States.Timeout"
	StatesDataLimitExceeded = "States.DataLimitExceeded"
	StatesItemReaderFailed  = "States.ItemReaderFailed"
)

// Result is the result of a task: a JSON document, with its text, its tree, or both. TextResult, ValueResult and
// ParsedResult make one; Text and Value read it. It is a jsonvalue.Document, because the interpreter hands the document
// of one task on to the next state as it is.
type Result = *jsonvalue.Document

// TextResult returns the result of a JSON text, which must be valid.
func TextResult(text string) Result { return jsonvalue.TextDocument(text) }

// ValueResult returns the result of a JSON tree.
func ValueResult(v jsonvalue.Value) Result { return jsonvalue.ValueDocument(v) }

// ParsedResult returns the result of a JSON text whose parsed tree is v.
func ParsedResult(text string, v jsonvalue.Value) Result { return jsonvalue.ParsedDocument(text, v) }

// MaxPayload is the limit in bytes of every input, output and result.
const MaxPayload = 256 << 10

// Pattern is the integration pattern of a Task state: when the task counts as completed.
type Pattern string

// The integration patterns.
const (
	RequestResponse  Pattern = ""                 // over when the service has answered
	Sync             Pattern = "sync"             // over when the job that the task started is
	Sync2            Pattern = "sync:2"           // as Sync, with the job's output as JSON instead of a string
	WaitForTaskToken Pattern = "waitForTaskToken" // over when a worker reports by the task's token
)
