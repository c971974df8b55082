package journal

import (
	"cmp"
	"slices"
	"time"

	"stepback/engine/history"
)

// MapRun is the stored description of a Map Run. While the Map Run is running, the stored counts are from its
// start; its progress is computed from its child executions.
type MapRun struct {
	ARN string `json:"mapRunArn"`
	// Execution is the ARN of the execution that contains the Map state. Machine is the labelled ARN of the child
	// executions' state machine.
	Execution string `json:"executionArn"`
	Machine   string `json:"stateMachineArn"`
	// Children is the common prefix of its child executions' ARNs. No other ARN begins with it.
	Children string         `json:"children"`
	Status   history.Status `json:"status"`
	Started  time.Time      `json:"startDate"`
	Stopped  time.Time      `json:"stopDate,omitzero"` // zero while it is running
	// Source identifies the content of the items, so that a change is noticed; empty if the content cannot change.
	Source string `json:"source,omitempty"`
	// Failure is the reason the Map Run fails, set as soon as the failure is decided. The child executions are
	// stopped only after this is stored, so a Map Run that resumes after a crash still fails for this reason instead
	// of succeeding without the children that were stopped.
	Failure history.Failure `json:"-"`
	// RedriveCount counts the redrives of the Map Run; Redriven is the time of the last one.
	RedriveCount int64     `json:"redriveCount"`
	Redriven     time.Time `json:"redriveDate,omitzero"`
	MapRunLimits
	// Items counts the items and Executions the child executions.
	Items      Tally `json:"itemCounts"`
	Executions Tally `json:"executionCounts"`
	// Slowest holds the ended child executions that took longest, slowest first. It is stored once the Map Run has
	// ended.
	Slowest []Slow `json:"slowest,omitempty"`
}

// Slow is a child execution with its duration, measured from its last redrive if it had any.
type Slow struct {
	ARN    string         `json:"executionArn"`
	Status history.Status `json:"status"`
	Took   time.Duration  `json:"tookNanoseconds"`
	// FirstItem is the index of the child execution's first item, from 0.
	FirstItem int64 `json:"firstItem"`
}

// mostSlow is the number of slowest child executions that are kept.
const mostSlow = 10

// Note records an ended child execution if it is among the slowest. It replaces the slice and never changes it in
// place.
func (m *MapRun) Note(x *Execution) {
	began := x.Start
	if x.Redriven.After(began) {
		began = x.Redriven
	}
	took := x.Stop.Sub(began)
	if n := len(m.Slowest); n == mostSlow && took <= m.Slowest[n-1].Took {
		return
	}
	at, _ := slices.BinarySearchFunc(m.Slowest, took,
		func(s Slow, d time.Duration) int { return cmp.Compare(d, s.Took) })
	slow := slices.Insert(slices.Clone(m.Slowest), at, Slow{x.ARN, x.Status, took, x.FirstItem})
	m.Slowest = slow[:min(len(slow), mostSlow)]
}

// MapRunLimits are the limits of a Map Run that may be changed while it runs.
type MapRunLimits struct {
	MaxConcurrency             int64   `json:"maxConcurrency"` // 0 means as many as the service allows
	ToleratedFailureCount      int64   `json:"toleratedFailureCount"`
	ToleratedFailurePercentage float64 `json:"toleratedFailurePercentage"`
	// CountGiven and PercentageGiven report whether the respective tolerance was given.
	CountGiven      bool `json:"-"`
	PercentageGiven bool `json:"-"`
}
