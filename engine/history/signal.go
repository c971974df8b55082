package history

import (
	"time"

	"stepback/jsonvalue"
)

// SignalKind says what happened to an execution from outside.
type SignalKind uint8

// The kinds of signals. Their numbers are stored, so a new kind must be added at the end.
const (
	SignalStart            SignalKind = iota + 1 // the execution begins
	SignalContinue                               // the execution continues after a step that had run long enough
	SignalTimerFired                             // the timer of this ID rang
	SignalTaskStarted                            // the worker that Worker names took the activity task of this ID
	SignalTaskSubmitted                          // the call of a .sync or token task was accepted; Output is the answer
	SignalTaskHeartbeat                          // the task of this ID is alive
	SignalTaskSucceeded                          // Output is the task's result
	SignalTaskFailed                             // Failure says how the task failed
	SignalTaskStartFailed                        // the task could not be started
	SignalTaskSubmitFailed                       // the call of a .sync or token task failed
	SignalMapRunSucceeded                        // Output is the Map Run's result
	SignalMapRunFailed                           // Failure says how the Map Run failed
	SignalStop                                   // StopExecution; Failure is what its caller gave
	SignalTaskScheduled                          // the activity of the task exists: workers may take the task
	SignalRedrive                                // an execution that ended without success continues where it failed
	SignalDurable                                // Output is a command of package durable, for a durable execution

	// LastSignalKind is the kind with the highest number.
	LastSignalKind = SignalDurable
)

// EndsTask reports whether a signal of this kind ends a task.
func (k SignalKind) EndsTask() bool {
	return k == SignalTaskSucceeded || k == SignalTaskFailed || k == SignalTaskStartFailed ||
		k == SignalTaskSubmitFailed
}

// Signal is one thing that happened to an execution from outside, such as a task's result or a timer, with
// everything on which the execution's next step depends. A journal keeps signals, so that an execution can be
// replayed from them. The journal does not need to interpret them: AppendStep and DecodeStep of package journal
// convert them to and from their stored form.
type Signal struct {
	Kind SignalKind
	At   time.Time
	// Seed determines all random values in this step: jitter, UUIDs, States.MathRandom.
	Seed uint64
	// Secret is the key for the execution's task tokens. SignalStart carries it, so that it is stored as long as
	// the execution is.
	Secret string
	// ID identifies the timer, task or Map Run within the execution.
	ID int64
	// Output is owned by the execution from now on.
	Output  *jsonvalue.Document
	Worker  string
	Failure Failure
	// ByToken is true if a worker reported by the task's token, and false if the engine reported the task's outcome.
	ByToken bool
	// Interrupted is the number of the evaluation, from 1, that was interrupted when the signal was applied, because
	// the execution ended meanwhile; 0 if none was. A later signal of the same step ends the execution.
	Interrupted int
}
