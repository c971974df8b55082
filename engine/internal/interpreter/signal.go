package interpreter

import (
	"time"

	"stepback/engine/history"
	"stepback/retry"
)

// The signals that the interpreter reacts to. The types are in package history, because journals keep signals.
type (
	// Signal is one thing that happened to an execution from outside.
	Signal = history.Signal
	// SignalKind says what happened to the execution.
	SignalKind = history.SignalKind
)

// The signals that an execution reacts to.
const (
	Start            = history.SignalStart
	Continue         = history.SignalContinue
	TimerFired       = history.SignalTimerFired
	TaskStarted      = history.SignalTaskStarted
	TaskSubmitted    = history.SignalTaskSubmitted
	TaskHeartbeat    = history.SignalTaskHeartbeat
	TaskSucceeded    = history.SignalTaskSucceeded
	TaskFailed       = history.SignalTaskFailed
	TaskStartFailed  = history.SignalTaskStartFailed
	TaskSubmitFailed = history.SignalTaskSubmitFailed
	MapRunSucceeded  = history.SignalMapRunSucceeded
	MapRunFailed     = history.SignalMapRunFailed
	Stop             = history.SignalStop
	TaskScheduled    = history.SignalTaskScheduled
	Redrive          = history.SignalRedrive
)

// EffectKind is the kind of an effect.
type EffectKind uint8

// The effects of a step.
const (
	InvokeTask   EffectKind = iota + 1 // run Task and report under its ID
	CancelTask                         // the result of this task is no longer needed
	SetTimer                           // fire at At; see Background
	CancelTimer                        // cancel the timer
	StartMapRun                        // run MapRun and report under its ID
	CancelMapRun                       // stop the Map Run and its children
	Yield                              // deliver a Continue signal: this step has run long enough
	Finish                             // the execution has ended; see Status, Output and Failure
)

// Effect is one thing the shell must do once the history of the step is durable.
type Effect struct {
	Kind EffectKind
	ID   int64
	At   time.Time
	// Background is true if nothing waits for the timer, so that virtual time need not jump to it.
	Background bool
	// Ends is true if the execution ends when the timer fires.
	Ends bool
	// Retry is the retry that the timer delays; nil for any other timer.
	Retry  *Retry
	Task   *TaskCall
	MapRun *MapRunCall
}

// Retry describes a state that has failed and is waiting to be run again.
type Retry struct {
	// ID is the timer's ID, by which the retry can be started at once.
	ID int64
	// State is the name of the state; Error and Cause are its latest failure.
	State, Error, Cause string
	// Attempt is the number of the next run of the state, counted from 1, so it is at least 2. LastAttempt is the
	// number of the attempt after which this retrier has none left.
	Attempt, LastAttempt int64
	// Failed is when the state failed. Next is when it will run again.
	Failed, Next time.Time

	policy retry.Policy
	used   int64 // attempts of the policy used so far, including the next one
}

// maxForeseen is the number of attempts considered when computing the time of the last one.
const maxForeseen = 1000

// Last returns when the last attempt starts, if every attempt fails at once with the same error and jitter chooses
// the longest delays. If attempts take time, the last one starts later. With more than a thousand attempts, Last
// returns the time of the thousandth.
func (r *Retry) Last() time.Time {
	last := r.Next
	for n := r.used + 1; n <= min(int64(r.policy.MaxAttempts), r.used+maxForeseen); n++ {
		last = last.Add(min(r.policy.Delay(int(n), nil), longestWait))
	}
	return last
}

// Result is the output of one step: events to append to the history, and effects to perform, in order. The slices are
// reused when the same Result is passed to the next step.
type Result struct {
	History []history.Event
	Effects []Effect
	// Noted is true if the execution recorded something that is not visible in History or Effects yet.
	Noted bool
}

// Idle reports whether the step did nothing. In that case its signals came too late, and a replay can omit them.
func (r *Result) Idle() bool { return len(r.History) == 0 && len(r.Effects) == 0 && !r.Noted }

// Reset empties the result and keeps its memory for reuse.
func (r *Result) Reset() {
	clear(r.History)
	clear(r.Effects)
	r.History = r.History[:0]
	r.Effects = r.Effects[:0]
	r.Noted = false
}
