package journal

import (
	"time"

	"stepback/engine/history"
	"stepback/engine/interpreter"
)

// Execution is what is kept of an execution beside its events and its history.
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
	Sync        bool               `json:"sync,omitempty"` // whoever started it waits for its end
	Status      interpreter.Status `json:"status"`
	Start       time.Time          `json:"startDate"`
	Stop        time.Time          `json:"stopDate,omitzero"`
	Input       string             `json:"input"`
	Output      string             `json:"output,omitempty"`
	Failure     history.Failure    `json:"failure,omitzero"`
	// FirstItem and Items say which items of its Map Run a child execution has: the index of the first and how many.
	FirstItem int64 `json:"firstItem,omitempty"`
	Items     int64 `json:"itemCount,omitempty"`
	// LastItem tells which the last of them is, when the items are a listing, so that a changed listing is noticed.
	LastItem    string `json:"lastItem,omitempty"`
	HistorySize int64  `json:"historySize,omitempty"` // events; 0 until the end
	TestCase    string `json:"testCase,omitempty"`    // by which its tasks are mocked
	// RedriveCount counts the redrives of the execution, Redriven is when the last was.
	RedriveCount int64     `json:"redriveCount,omitempty"`
	Redriven     time.Time `json:"redriveDate,omitzero"`
	// RedriveTokens are the client tokens of the latest redrives, oldest first.
	RedriveTokens []RedriveToken `json:"redriveTokens,omitempty"`
	// MapRunRedrive is how often its Map Run had been redriven when the child execution was started or redriven.
	MapRunRedrive int64 `json:"mapRunRedrive,omitempty"`
	// Definition is the ID of what the execution runs; empty for a child execution, which runs a part of its parent's.
	Definition string `json:"definition,omitempty"`
}

// RedriveToken is what a client named a redrive by, and when that was: the same request once more is to change nothing.
type RedriveToken struct {
	Token string    `json:"clientToken"`
	At    time.Time `json:"redriveDate"`
}

// Ended reports whether the execution has come to its end.
func (x *Execution) Ended() bool { return x.Status != interpreter.Running }

// Record is one step of one execution: the events that were applied and the history they produced. Execution is the
// state after the step.
type Record struct {
	Execution *Execution
	// Definition is what the execution runs, on the first step of an execution that has one.
	Definition *Definition
	// Step is the number of this step, from 0.
	Step    int64
	Events  []interpreter.Event
	History []history.Event
	// Begin marks the first step, End the last; All is the whole history at the end of an execution.
	Begin, End bool
	All        []history.Event
	// Past is set on the step that redrives an execution: everything before it, which becomes step 0 of the execution,
	// as that is open again.
	Past *Past
}

// Past is what an execution did until it ended without success.
type Past struct {
	Step
	Stopped time.Time
}

// Step is what one step applied and produced, as it was committed.
type Step struct {
	Events  []interpreter.Event
	History []history.Event
}

// Unfinished is an execution without an end, with all of its steps.
type Unfinished struct {
	*Execution
	Steps []Step
}
