package journal

import (
	"time"

	"stepback/engine/history"
)

// Execution is the stored record of an execution, without its signals and history: its description and its state.
type Execution struct {
	history.Info
	Status  history.Status  `json:"status"`
	Start   time.Time       `json:"startDate"`
	Stop    time.Time       `json:"stopDate,omitzero"`
	Output  string          `json:"output,omitempty"`
	Failure history.Failure `json:"failure,omitzero"`
	// HistorySize is the number of events in the history; 0 until the end.
	HistorySize int64 `json:"historySize,omitempty"`
	// FirstStep is the number of events that the first step produced, set when that step is committed. A store may keep
	// the LongTexts of these events apart, for the description and the history to refer to. It is 0 if a store that was
	// read has none of them apart.
	FirstStep int64 `json:"-"`
	// RedriveCount is the number of redrives of the execution. Redriven is the time of the latest one.
	RedriveCount int64     `json:"redriveCount,omitempty"`
	Redriven     time.Time `json:"redriveDate,omitzero"`
	// RedriveTokens are the client tokens of the latest redrives, oldest first.
	RedriveTokens []RedriveToken `json:"redriveTokens,omitempty"`
	// MapRunRedrive is the number of redrives of its Map Run when the child execution was started or redriven.
	MapRunRedrive int64 `json:"mapRunRedrive,omitempty"`
}

// RedriveToken is a client token of a redrive and the redrive's time, so that repeating the same request changes
// nothing.
type RedriveToken struct {
	Token string    `json:"clientToken"`
	At    time.Time `json:"redriveDate"`
}

// Ended reports whether the execution has ended.
func (x *Execution) Ended() bool { return x.Status != history.Running }

// Record is one step of an execution: the signals that were applied and the history that they produced. Execution is
// the state after the step.
type Record struct {
	Execution *Execution
	// Definition is the definition that the execution runs; set on the first step of an execution that has one.
	Definition *Definition
	// Step is the number of this step, from 0.
	Step    int64
	Signals []history.Signal
	History []history.Event
	// Begin marks the first step and End the last one. All holds the whole history when an execution ends.
	Begin, End bool
	All        []history.Event
	// Past is set on the step that redrives an execution. It holds everything the execution did before; once the
	// execution is open again, that becomes its step 0.
	Past *Past
}

// Past holds everything an execution did until it ended without success.
type Past struct {
	Step
	Stopped time.Time
	Status  history.Status // the status it ended with
}

// Step holds the signals that one step applied and the history it produced, as committed.
type Step struct {
	Signals []history.Signal
	History []history.Event
}

// Unfinished is an execution that has not ended, with all of its steps.
type Unfinished struct {
	*Execution
	Steps []Step
}
