package interpreter

import (
	"time"

	"stepback/engine/history"
	"stepback/jsonvalue"
	"stepback/retry"
)

// SignalKind says what happened to an execution.
type SignalKind uint8

// The signals that an execution reacts to.
const (
	Start            SignalKind = iota + 1 // the execution begins
	Continue                               // go on after an effect of kind Yield
	TimerFired                             // the timer of this ID rang
	TaskStarted                            // a worker took the scheduled activity task of this ID; Worker names it
	TaskSubmitted                          // a .sync or token task's call was accepted; Output is the API's answer
	TaskHeartbeat                          // the task of this ID is alive
	TaskSucceeded                          // Output is the result
	TaskFailed                             // Failure says how
	TaskStartFailed                        // the task could not be started
	TaskSubmitFailed                       // the call of a .sync or token task failed
	MapRunSucceeded                        // Output is the Map Run's result
	MapRunFailed                           // Failure says how
	Stop                                   // StopExecution; Failure carries what the caller gave
	TaskScheduled                          // the activity of the task of this ID exists: workers may take the task
	Redrive                                // an execution that ended without success goes on where it failed

	lastSignalKind = Redrive
)

// EndsTask reports whether a task is over after a signal of this kind.
func (k SignalKind) EndsTask() bool {
	return k == TaskSucceeded || k == TaskFailed || k == TaskStartFailed || k == TaskSubmitFailed
}

// Signal is one thing that happened to an execution, with everything the interpreter needs to know about it.
type Signal struct {
	Kind SignalKind
	At   time.Time
	// Seed is where all randomness of this step comes from: jitter, UUIDs, States.MathRandom.
	Seed uint64
	// Secret is what the task tokens of the execution are made with. Start carries it, so that it lives as long as the
	// execution.
	Secret string
	// ID is that of the timer, task or Map Run concerned.
	ID int64
	// Output belongs to the execution from now on.
	Output  *jsonvalue.Document
	Worker  string
	Failure history.Failure
	// ByToken says that a worker reports by the task's token, and not the shell what came of the request.
	ByToken bool
}

// EffectKind says what the shell is asked to do.
type EffectKind uint8

// The effects of a step.
const (
	InvokeTask   EffectKind = iota + 1 // carry out Task and report by its ID
	CancelTask                         // nobody waits for this task any more
	SetTimer                           // ring at At; see Background
	CancelTimer                        // forget the timer
	StartMapRun                        // carry out MapRun and report by its ID
	CancelMapRun                       // stop the Map Run and its children
	Yield                              // feed a Continue signal: this step has run long enough
	Finish                             // the execution has ended; see Status, Output and Failure
)

// Effect is one thing the shell must do once the history of the step is durable.
type Effect struct {
	Kind EffectKind
	ID   int64
	At   time.Time
	// Background says that nobody waits for the timer to ring: time need not hurry to get there.
	Background bool
	// Retry says which retry the timer delays; nil for every other timer.
	Retry  *Retry
	Task   *TaskCall
	MapRun *MapRunCall
}

// Retry is a state that failed and waits to be run again.
type Retry struct {
	// ID is that of the timer, by which the retry can be let begin at once.
	ID int64
	// State is the name of the state, Error and Cause are what it failed with the last time.
	State, Error, Cause string
	// Attempt counts the runs of the state, from 1: the one that is waited for is never the first. LastAttempt is the
	// one after which this retrier has none left.
	Attempt, LastAttempt int64
	// Failed is when the state failed, Next when it is run again.
	Failed, Next time.Time

	policy retry.Policy
	used   int64 // of the policy's attempts, the one that is waited for included
}

// maxForeseen is how many attempts are looked ahead for the time of the last one.
const maxForeseen = 1000

// Last is when the last attempt begins if every attempt fails at once with the same error and jitter draws the longest
// delays; it is later when attempts take their time. Of more than a thousand attempts it is the thousandth.
func (r *Retry) Last() time.Time {
	last := r.Next
	for n := r.used + 1; n <= min(int64(r.policy.MaxAttempts), r.used+maxForeseen); n++ {
		last = last.Add(min(r.policy.Delay(int(n), nil), longestWait))
	}
	return last
}

// Result is what one step produced: events to append to the history, effects to carry out, in order. The slices are
// reused when the same Result is passed to the next step.
type Result struct {
	History []history.Event
	Effects []Effect
	// Noted says that the execution took note of something that shows in neither yet.
	Noted bool
}

// Idle reports whether the step did nothing: its signals came too late, and a replay can do without them.
func (r *Result) Idle() bool { return len(r.History) == 0 && len(r.Effects) == 0 && !r.Noted }

// Reset empties the result and keeps its memory.
func (r *Result) Reset() {
	clear(r.History)
	clear(r.Effects)
	r.History = r.History[:0]
	r.Effects = r.Effects[:0]
	r.Noted = false
}
