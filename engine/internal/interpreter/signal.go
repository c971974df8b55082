package interpreter

import (
	"time"

	"stepback/engine/history"
	"stepback/jsonvalue"
	"stepback/retrypatterns"
)

// SignalKind is the kind of a signal.
type SignalKind uint8

// The signals that an execution reacts to.
const (
	Start            SignalKind = iota + 1 // the execution starts
	Continue                               // continue after an effect of kind Yield
	TimerFired                             // the timer with this ID fired
	TaskStarted                            // a worker took the scheduled activity task with this ID; Worker is its name
	TaskSubmitted                          // the call of a .sync or token task was accepted; Output is the API's response
	TaskHeartbeat                          // the task with this ID is alive
	TaskSucceeded                          // Output is the result
	TaskFailed                             // Failure describes the failure
	TaskStartFailed                        // the task could not be started
	TaskSubmitFailed                       // the call of a .sync or token task failed
	MapRunSucceeded                        // Output is the Map Run's result
	MapRunFailed                           // Failure describes the failure
	Stop                                   // StopExecution; Failure holds the caller's error and cause
	TaskScheduled                          // the activity of the task with this ID exists: workers may take the task
	Redrive                                // an execution that ended without success resumes where it failed

	lastSignalKind = Redrive
)

// EndsTask reports whether a signal of this kind ends a task.
func (k SignalKind) EndsTask() bool {
	return k == TaskSucceeded || k == TaskFailed || k == TaskStartFailed || k == TaskSubmitFailed
}

// Signal is one thing that happened to an execution, with everything the interpreter needs to know about it.
type Signal struct {
	Kind SignalKind
	At   time.Time
	// Seed is the source of all randomness of this step: jitter, UUIDs, States.MathRandom.
	Seed uint64
	// Secret is the key for the execution's task tokens. Start carries it, so that it lives as long as the execution.
	Secret string
	// ID is the ID of the timer, task or Map Run concerned.
	ID int64
	// Output belongs to the execution from here on.
	Output  *jsonvalue.Document
	Worker  string
	Failure history.Failure
	// ByToken is true if a worker reported with the task's token, rather than the shell the result of the request.
	ByToken bool
}

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
	// Background is true if nothing waits for the timer: virtual time need not jump to it.
	Background bool
	// Retry is the retry that the timer delays; nil for any other timer.
	Retry  *Retry
	Task   *TaskCall
	MapRun *MapRunCall
}

// Retry is a state that has failed and is waiting to be run again.
type Retry struct {
	// ID is the timer's ID, by which the retry can be started at once.
	ID int64
	// State is the name of the state; Error and Cause are its latest failure.
	State, Error, Cause string
	// Attempt is the number of the next run of the state, counted from 1; it is never 1 here. LastAttempt is the
	// attempt after which this retrier has none left.
	Attempt, LastAttempt int64
	// Failed is when the state failed, Next when it will run again.
	Failed, Next time.Time

	policy retrypatterns.Policy
	used   int64 // attempts of the policy used so far, including the next one
}

// maxForeseen is the number of attempts considered when computing the time of the last one.
const maxForeseen = 1000

// Last returns when the last attempt starts if every attempt fails at once with the same error and jitter chooses the
// longest delays; it will be later if attempts take time. With more than a thousand attempts, it is the time of the
// thousandth.
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

// Idle reports whether the step did nothing: its signals came too late, and a replay can omit them.
func (r *Result) Idle() bool { return len(r.History) == 0 && len(r.Effects) == 0 && !r.Noted }

// Reset empties the result and keeps its memory for reuse.
func (r *Result) Reset() {
	clear(r.History)
	clear(r.Effects)
	r.History = r.History[:0]
	r.Effects = r.Effects[:0]
	r.Noted = false
}
