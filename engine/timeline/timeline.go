package timeline

import (
	"time"

	"stepback/engine/history"
)

// Outcome is where a visit or an attempt stands.
type Outcome string

// The outcomes. An attempt never waits and is never caught.
const (
	Running   Outcome = "running"
	Waiting   Outcome = "waiting" // of a visit: for its next attempt, or as a Wait state
	Succeeded Outcome = "succeeded"
	Caught    Outcome = "caught" // of a visit: it failed, and a catcher went on
	Failed    Outcome = "failed"
	TimedOut  Outcome = "timed out"
	Aborted   Outcome = "aborted" // it was stopped because of what happened elsewhere
)

// Bad reports whether it came to a failure, caught or not.
func (o Outcome) Bad() bool { return o == Failed || o == TimedOut || o == Caught }

// Timeline is what an execution did.
type Timeline struct {
	// Begin and End are the times of the first and the last event.
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
	// Status is that of the execution, Failure how it ended without success.
	Status  history.Status  `json:"status"`
	Failure history.Failure `json:"failure,omitzero"`
	// Redrives are the times at which it was redriven.
	Redrives []time.Time `json:"redrives,omitempty"`
	// Visits are in the order of their begin.
	Visits []*Visit `json:"visits"`

	byEvent []*Visit // by the number of the event
	first   int64    // ID of the first event
}

// Visit is one stay in a state: from its entry, through all its attempts, to its exit.
type Visit struct {
	// Number is its place in Timeline.Visits.
	Number int    `json:"number"`
	State  string `json:"state"`
	// Type is the type of the state: Task, Map, ….
	Type string `json:"type"`
	// Parent is the visit of the Parallel or Map state around it, nil at the top. Index is the branch or the iteration
	// that it belongs to, from 0; Depth counts the parents.
	Parent *Visit `json:"-"`
	Index  int64  `json:"index"`
	Depth  int    `json:"depth"`
	// Entered and Left are when it began and ended; Left is zero while it goes on.
	Entered time.Time `json:"entered"`
	Left    time.Time `json:"left,omitzero"`
	// Entry and Exit are the IDs of its first and its last event; Exit is 0 while it goes on.
	Entry   int64   `json:"entryEventId"`
	Exit    int64   `json:"exitEventId,omitempty"`
	Outcome Outcome `json:"outcome"`
	// Failure is the last one.
	Failure  history.Failure `json:"failure,omitzero"`
	Attempts []Attempt       `json:"attempts,omitempty"`
	// Items is how many iterations an inline Map has, Done and Broken how many ended well and badly.
	Items  int64 `json:"items,omitempty"`
	Done   int64 `json:"done,omitempty"`
	Broken int64 `json:"broken,omitempty"`
	// MapRunARN is the Map Run of a distributed Map.
	MapRunARN string `json:"mapRunArn,omitempty"`
	// Token says that the running attempt is ended by a task token.
	Token bool `json:"token,omitempty"`

	branches int64
	fan      bool // its last attempt is that of branches or iterations
	over     bool
}

// Attempt is one run of a state's work: a call of a task, or one run of all branches or iterations.
type Attempt struct {
	// Number counts the attempts of the visit from 1.
	Number int `json:"number"`
	// Scheduled, Started and Ended are when it was asked for, when a worker took it and when it ended; zero while it
	// did not. Only activities are scheduled long before they start.
	Scheduled time.Time `json:"scheduled"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Outcome   Outcome   `json:"outcome"`
	// Failure is how it failed.
	Failure history.Failure `json:"failure,omitzero"`
	// First and Last are the IDs of its first and its last event so far.
	First int64 `json:"firstEventId"`
	Last  int64 `json:"lastEventId"`
	// Redrive is how often the execution had been redriven.
	Redrive int `json:"redrive,omitempty"`
}

// Wait is the idle time between two attempts.
type Wait struct {
	// Retry counts the waits of the visit from 1.
	Retry int `json:"retry"`
	// From and Until are when the failed attempt ended and the next one began. Until is zero while the wait goes on.
	From  time.Time `json:"from"`
	Until time.Time `json:"until,omitzero"`
}

// Waits returns the waits between the attempts of a visit, the one that goes on included. The time between a failure
// and a redrive is none.
func (v *Visit) Waits() []Wait {
	var waits []Wait
	for i := range v.Attempts {
		a := &v.Attempts[i]
		switch {
		case i+1 < len(v.Attempts):
			if next := &v.Attempts[i+1]; next.Redrive == a.Redrive {
				waits = append(waits, Wait{Retry: len(waits) + 1, From: a.Ended, Until: next.Scheduled})
			}
		case v.Outcome == Waiting:
			waits = append(waits, Wait{Retry: len(waits) + 1, From: a.Ended})
		}
	}
	return waits
}

// Retries counts the attempts that followed a failed one of the same visit.
func (v *Visit) Retries() int { return len(v.Waits()) }

// Open reports whether the visit goes on.
func (v *Visit) Open() bool { return !v.over }

// last is the attempt that is under way, or the latest; nil when there is none.
func (v *Visit) last() *Attempt {
	if v == nil || len(v.Attempts) == 0 {
		return nil
	}
	return &v.Attempts[len(v.Attempts)-1]
}

// Of returns the visit that an event belongs to, or nil.
func (t *Timeline) Of(event int64) *Visit {
	if i := event - t.first; i >= 0 && i < int64(len(t.byEvent)) {
		return t.byEvent[i]
	}
	return nil
}

// Took is how long the execution took, or has taken until now.
func (t *Timeline) Took(now time.Time) time.Duration {
	if t.Status == history.Running {
		return now.Sub(t.Begin)
	}
	return t.End.Sub(t.Begin)
}
