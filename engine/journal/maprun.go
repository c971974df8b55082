package journal

import (
	"cmp"
	"slices"
	"time"

	"stepback/engine/history"
)

// MapRun is what is kept of a Map Run. The counts of one that is under way are those of its beginning: its child
// executions say how far it has come.
type MapRun struct {
	ARN string `json:"mapRunArn"`
	// Execution is the ARN of the execution whose Map state it is, Machine the labelled ARN of its child executions'
	// machine.
	Execution string `json:"executionArn"`
	Machine   string `json:"stateMachineArn"`
	// Children is what the ARNs of its child executions begin with, and no others do.
	Children string         `json:"children"`
	Status   history.Status `json:"status"`
	Started  time.Time      `json:"startDate"`
	Stopped  time.Time      `json:"stopDate,omitzero"` // zero while it is under way
	// Source identifies the content of the items, so that a change of it is noticed; empty when it cannot change.
	Source string `json:"source,omitempty"`
	// Failure is why the Map Run fails, from when that is settled on: its child executions are stopped only after this
	// is kept, so that a Map Run which is gone on with after a crash fails for it and does not do without those that
	// were stopped.
	Failure history.Failure `json:"-"`
	// RedriveCount counts the redrives of the Map Run, Redriven is when the last was.
	RedriveCount int64     `json:"redriveCount"`
	Redriven     time.Time `json:"redriveDate,omitzero"`
	MapRunLimits
	// Items and Executions count items and child executions.
	Items      Tally `json:"itemCounts"`
	Executions Tally `json:"executionCounts"`
	// Slowest are the child executions that took longest, of those that have ended, the slowest first. It is kept once
	// the Map Run is over.
	Slowest []Slow `json:"slowest,omitempty"`
}

// Slow is a child execution and how long it took, from its last redrive if it had any.
type Slow struct {
	ARN    string         `json:"executionArn"`
	Status history.Status `json:"status"`
	Took   time.Duration  `json:"tookNanoseconds"`
	// FirstItem is the index of its first item, from 0.
	FirstItem int64 `json:"firstItem"`
}

// mostSlow is how many of the slowest child executions are kept.
const mostSlow = 10

// Note takes up a child execution that has ended if it is one of the slowest. The slice is replaced, never changed.
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

// MapRunLimits are the limits of a Map Run that may be changed while it is under way.
type MapRunLimits struct {
	MaxConcurrency             int64   `json:"maxConcurrency"` // 0 means as many as the service allows
	ToleratedFailureCount      int64   `json:"toleratedFailureCount"`
	ToleratedFailurePercentage float64 `json:"toleratedFailurePercentage"`
	// CountGiven and PercentageGiven say which of the two tolerances were given at all.
	CountGiven      bool `json:"-"`
	PercentageGiven bool `json:"-"`
}
