package timeline

import (
	"cmp"
	"fmt"
	"time"

	"stepback/engine/durable"
	"stepback/engine/history"
)

// Outcome is the current status of a visit or an attempt.
type Outcome string

// The outcomes. An attempt is never Waiting or Caught.
const (
	Running   Outcome = "running"
	Waiting   Outcome = "waiting" // a visit waits for its next attempt, or is in a Wait state
	Succeeded Outcome = "succeeded"
	Caught    Outcome = "caught" // a visit failed, and a catcher handled the error
	Failed    Outcome = "failed"
	TimedOut  Outcome = "timed out"
	Aborted   Outcome = "aborted" // stopped because of something that happened elsewhere
)

// Bad reports whether o is a failure, caught or not.
func (o Outcome) Bad() bool { return o == Failed || o == TimedOut || o == Caught }

// Timeline describes what an execution did.
type Timeline struct {
	// Begin and End are the times of the first and the last event.
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
	// Status is the status of the execution, and Failure why it ended without success.
	Status  history.Status  `json:"status"`
	Failure history.Failure `json:"failure,omitzero"`
	// Redrives lists the times at which the execution was redriven.
	Redrives []time.Time `json:"redrives,omitempty"`
	// Visits is ordered by start.
	Visits []*Visit `json:"visits"`

	// Durable is true for an execution of a durable function.
	Durable bool `json:"durable,omitempty"`
	// TimesOut is when the execution of a durable function times out; zero for other executions.
	TimesOut time.Time `json:"timesOut,omitzero"`
	// Invocations summarizes the invocations of the durable function that have ended.
	Invocations Invocations `json:"invocations,omitzero"`

	byEvent []*Visit // by event ID minus first
	first   int64    // ID of the first event
}

// Invocations summarizes the invocations of a durable function in an execution. One that failed did so outside the
// function's steps, for example in broken code, by a timeout of the function or because its process ended; Lambda
// invokes the function again until the execution times out.
type Invocations struct {
	// Ended is the number of invocations that have ended, Failed how many of them failed, and InARow how many of the
	// latest ones failed without another one between them.
	Ended  int `json:"ended"`
	Failed int `json:"failed"`
	InARow int `json:"failedInARow"`
	// Failure is the error of the latest invocation that failed, FailedAt when it ended, and Event its event.
	Failure  history.Failure `json:"latestFailure,omitzero"`
	FailedAt time.Time       `json:"latestFailedAt,omitzero"`
	Event    int64           `json:"latestFailedEventId,omitempty"`
}

// read counts an invocation that has ended.
func (i *Invocations) read(e *history.Event, d *durable.Details) {
	i.Ended++
	if d.Error == nil {
		i.InARow = 0
		return
	}
	i.Failed++
	i.InARow++
	i.Failure, i.FailedAt, i.Event = d.Failure(), e.At(), e.ID
}

// Text describes the invocations that failed in one line, at a time; empty if none failed.
//
//	5 of 7 invocations failed, the latest 4 in a row; the last failure was Runtime.ImportModuleError at 02:13:41
func (i *Invocations) Text(at time.Time) string {
	if i.Failed == 0 {
		return ""
	}
	row := ""
	if i.InARow > 1 && i.InARow < i.Ended {
		row = fmt.Sprintf(", the latest %d in a row", i.InARow)
	}
	return fmt.Sprintf("%d of %d %s failed%s; the last failure was %s at %s", i.Failed, i.Ended,
		plural(i.Ended, "invocation"), row, cmp.Or(i.Failure.Name, "an error without a type"), clock(i.FailedAt, at))
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Visit is one visit of a state: from its entry, through all its attempts, to its exit.
type Visit struct {
	// Number is the index in Timeline.Visits.
	Number int    `json:"number"`
	State  string `json:"state"`
	// Type is the type of the state, such as Task or Map.
	Type string `json:"type"`
	// Parent is the visit of the surrounding Parallel or Map state, nil at the top. Index is the branch or iteration
	// that the visit belongs to, from 0. Depth is the number of parents.
	Parent *Visit `json:"-"`
	Index  int64  `json:"index"`
	Depth  int    `json:"depth"`
	// Entered and Left are when the visit started and ended; Left is zero while it is open.
	Entered time.Time `json:"entered"`
	Left    time.Time `json:"left,omitzero"`
	// Entry and Exit are the IDs of its first and its last event; Exit is 0 while it is open.
	Entry   int64   `json:"entryEventId"`
	Exit    int64   `json:"exitEventId,omitempty"`
	Outcome Outcome `json:"outcome"`
	// Failure is the last failure.
	Failure  history.Failure `json:"failure,omitzero"`
	Attempts []Attempt       `json:"attempts,omitempty"`
	// Items is the number of iterations of an inline Map. Done counts the iterations that succeeded, Broken those
	// that failed.
	Items  int64 `json:"items,omitempty"`
	Done   int64 `json:"done,omitempty"`
	Broken int64 `json:"broken,omitempty"`
	// MapRunARN is the ARN of a distributed Map's Map Run.
	MapRunARN string `json:"mapRunArn,omitempty"`
	// Token is true if a task token ends the running attempt.
	Token bool `json:"token,omitempty"`
	// Operation is the ID of the operation of a durable function's execution that the visit stands for; State is then
	// its name, and Type its type in Lambda's API, such as STEP. SubType is the operation's. Empty for states.
	Operation string `json:"operationId,omitempty"`
	SubType   string `json:"subType,omitempty"`
	// Next is when an open operation changes by itself: a STEP is attempted again, a WAIT ends, or a CALLBACK times
	// out, without regard to its heartbeats. It is zero for states, whose histories do not say it.
	Next time.Time `json:"next,omitzero"`
	// CallbackID identifies a CALLBACK to those who complete it.
	CallbackID string `json:"callbackId,omitempty"`

	branches int64
	fan      bool // the last attempt covers all branches or iterations
	over     bool
}

// Attempt is one attempt at a state's work: a call of a task, or a run of all branches or iterations.
type Attempt struct {
	// Number is the number of the attempt in the visit, from 1.
	Number int `json:"number"`
	// Scheduled, Started and Ended are when the attempt was scheduled, when a worker took it and when it ended; zero
	// if that has not happened. Only activities are scheduled long before they start.
	Scheduled time.Time `json:"scheduled"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Outcome   Outcome   `json:"outcome"`
	// Failure is why the attempt failed.
	Failure history.Failure `json:"failure,omitzero"`
	// First and Last are the IDs of its first and latest event.
	First int64 `json:"firstEventId"`
	Last  int64 `json:"lastEventId"`
	// Redrive is the number of times that the execution had been redriven when the attempt started.
	Redrive int `json:"redrive,omitempty"`
}

// Wait is the idle time between two attempts.
type Wait struct {
	// Retry is the number of the wait in the visit, from 1.
	Retry int `json:"retry"`
	// From and Until are when the failed attempt ended and the next one started. Until is zero during the wait.
	From  time.Time `json:"from"`
	Until time.Time `json:"until,omitzero"`
}

// Waits returns the waits between the attempts of a visit, including a current one. The time between a failure and a
// redrive does not count.
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

// Retries returns the number of attempts that followed a failed one in the visit. An attempt that is still to come does
// not count. Neither does one of an operation of a durable function that polls: it follows a success.
func (v *Visit) Retries() int {
	n := 0
	for i := 1; i < len(v.Attempts); i++ {
		before := &v.Attempts[i-1]
		if before.Redrive == v.Attempts[i].Redrive && (v.Operation == "" || before.Outcome != Succeeded) {
			n++
		}
	}
	return n
}

// Passive reports whether the visit only waits: in a Wait state, or in a WAIT or CALLBACK of a durable function.
func (v *Visit) Passive() bool {
	return v.Type == "Wait" || v.Type == durable.TypeWait || v.Type == durable.TypeCallback
}

// SinceRedrive returns the attempts of the visit since the last redrive of the execution, after which all retries are
// available again, and the number of attempts before it.
func (v *Visit) SinceRedrive() (attempts []Attempt, before int) {
	for before < len(v.Attempts) && v.Attempts[before].Redrive != v.last().Redrive {
		before++
	}
	return v.Attempts[before:], before
}

// Open reports whether the visit has not ended.
func (v *Visit) Open() bool { return !v.over }

// last returns the running or latest attempt, or nil if there is none.
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

// Took returns how long the execution took, or has taken until now.
func (t *Timeline) Took(now time.Time) time.Duration {
	if t.Status == history.Running {
		return now.Sub(t.Begin)
	}
	return t.End.Sub(t.Begin)
}
