// Package journal keeps executions: what they are, how they ended and their histories. It is the seam between the engine and
// its disk: an event and the history it produced are committed here before any effect of it becomes visible. It never
// interprets what it keeps.
package journal

import (
	"context"
	"errors"
	"iter"
	"time"

	"stepback/engine/history"
	"stepback/engine/interpreter"
)

// ErrNotFound says that no execution of that ARN is kept.
var ErrNotFound = errors.New("journal: no such execution")

// Execution is what is kept of an execution beside its history.
type Execution struct {
	ARN         string             `json:"executionArn"`
	Name        string             `json:"name"`
	MachineARN  string             `json:"stateMachineArn"`
	MapRunARN   string             `json:"mapRunArn,omitempty"`
	VersionARN  string             `json:"stateMachineVersionArn,omitempty"`
	AliasARN    string             `json:"stateMachineAliasArn,omitempty"`
	Revision    string             `json:"revision,omitempty"` // of the machine, as whoever started the execution names it
	TraceHeader string             `json:"traceHeader,omitempty"`
	Express     bool               `json:"express,omitempty"`
	Status      interpreter.Status `json:"status"`
	Start       time.Time          `json:"startDate"`
	Stop        time.Time          `json:"stopDate,omitzero"`
	Input       string             `json:"input"`
	Output      string             `json:"output,omitempty"`
	Failure     history.Failure    `json:"failure,omitzero"`
	Items       int64              `json:"itemCount,omitempty"` // of a child execution
	HistorySize int64              `json:"historySize,omitempty"`
}

// Record is one step of one execution: the events that were applied and the history they produced. Execution is the state
// after the step.
type Record struct {
	Execution *Execution
	Events    []interpreter.Event
	History   []history.Event
	// Begin marks the first step, End the last; All is the whole history at the end of an execution.
	Begin, End bool
	All        []history.Event
}

// Journal is a store of executions. Implementations are safe for concurrent use.
type Journal interface {
	// Commit makes a record durable and then calls done, once, from any goroutine; an error means that nothing of the record
	// is kept and that nothing of it may become visible.
	Commit(r *Record, done func(error))
	// Execution returns what is kept of an execution, or ErrNotFound.
	Execution(ctx context.Context, arn string) (*Execution, error)
	// History returns an ended execution's history, or ErrNotFound.
	History(ctx context.Context, arn string) ([]history.Event, error)
	// Executions yields the executions whose ARN begins with a prefix, in the order of their ARNs.
	Executions(ctx context.Context, prefix string) iter.Seq2[*Execution, error]
	// Close flushes and releases the store.
	Close() error
}
