package journal

import (
	"time"

	"stepback/engine/history"
)

// Execution is what is kept of an execution beside its signals and its history: what it is and what has become of it.
type Execution struct {
	history.Info
	Status  history.Status  `json:"status"`
	Start   time.Time       `json:"startDate"`
	Stop    time.Time       `json:"stopDate,omitzero"`
	Output  string          `json:"output,omitempty"`
	Failure history.Failure `json:"failure,omitzero"`
	// HistorySize counts the events of the history; 0 until the end.
	HistorySize int64 `json:"historySize,omitempty"`
	// RedriveCount counts the redrives of the execution, Redriven is when the last was.
	RedriveCount int64     `json:"redriveCount,omitempty"`
	Redriven     time.Time `json:"redriveDate,omitzero"`
	// RedriveTokens are the client tokens of the latest redrives, oldest first.
	RedriveTokens []RedriveToken `json:"redriveTokens,omitempty"`
	// MapRunRedrive is how often its Map Run had been redriven when the child execution was started or redriven.
	MapRunRedrive int64 `json:"mapRunRedrive,omitempty"`
}

// RedriveToken is what a client named a redrive by, and when that was: the same request once more is to change nothing.
type RedriveToken struct {
	Token string    `json:"clientToken"`
	At    time.Time `json:"redriveDate"`
}

// Ended reports whether the execution has come to its end.
func (x *Execution) Ended() bool { return x.Status != history.Running }

// Record is one step of one execution: the signals that were applied and the history they produced. Execution is the
// state after the step.
type Record struct {
	Execution *Execution
	// Definition is what the execution runs, on the first step of an execution that has one.
	Definition *Definition
	// Step is the number of this step, from 0.
	Step    int64
	Signals []history.Signal
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
	Status  history.Status // that it ended with
}

// Step is what one step applied and produced, as it was committed.
type Step struct {
	Signals []history.Signal
	History []history.Event
}

// Unfinished is an execution without an end, with all of its steps.
type Unfinished struct {
	*Execution
	Steps []Step
}
