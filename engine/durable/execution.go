package durable

import (
	"slices"
	"time"
)

// The limits of an execution on AWS.
const (
	// MaxOperations is the maximum number of operations; each retry of a STEP counts as one more.
	MaxOperations = 3000
	// MaxWritten is the maximum number of bytes of results, errors and inputs that an execution checkpoints.
	MaxWritten = 100 << 20
	// MaxPayload is the maximum size of a result, an error or the input of a chained invoke, in bytes.
	MaxPayload = 256 << 10
	// MaxFinal is the maximum size of the execution's own result, in bytes.
	MaxFinal = 6 << 20
	// MaxTimeout is the longest timeout of an execution and of its waits, in seconds: 366 days.
	MaxTimeout = 31_622_400
)

// Execution is the state of a durable execution. The zero value is ready for a Start command. It is not safe for
// concurrent use.
type Execution struct {
	start    Start
	status   string
	began    time.Time
	ended    time.Time
	result   *string
	err      *Error
	deadline time.Time // of the execution itself

	operations []*Operation // in the order of their creation; the first is the EXECUTION
	byID       map[string]*Operation
	events     int64 // number of events so far
	changes    int64 // number of changes of operations so far
	seen       int64 // the changes up to this number are known to the function
	external   int64 // the latest change that the function did not make itself
	counted    int   // operations that count toward MaxOperations
	written    int   // bytes that count toward MaxWritten

	invocation int64 // number of invocations so far
	requestID  string
	invoked    time.Time // start of the running invocation
	invoking   bool
	updated    []string         // operations that changed before the running invocation
	sequence   int64            // checkpoints of the running invocation
	failures   int              // invocations that failed since the last one that did not
	failure    *Error           // of the latest of them; nil if it was throttled by an earlier version
	failedAt   time.Time        // when the latest of them ended
	retryAt    time.Time        // when to invoke again after a failure; zero means no failure
	outcome    *Outcome         // of the execution, as an EXECUTION update has given it
	last       answered         // the latest checkpoint
	steps      map[string]int64 // the latest event of each STEP
}

// answered is the latest checkpoint of an invocation, so that the same request again gets the same answer.
type answered struct {
	token, clientToken string
	operations         []string
}

// Status returns Running, Succeeded, Failed, TimedOut or Stopped.
func (x *Execution) Status() string { return x.status }

// ARN returns the execution's ARN.
func (x *Execution) ARN() string { return x.start.ARN }

// Over reports whether the execution has ended.
func (x *Execution) Over() bool { return x.status != Running }

// Began and Ended return when the execution started and ended; zero if it has not.
func (x *Execution) Began() time.Time { return x.began }

// Ended returns when the execution ended; zero if it has not.
func (x *Execution) Ended() time.Time { return x.ended }

// Outcome returns the result or the error of an execution that has ended.
func (x *Execution) Outcome() (*string, *Error) { return x.result, x.err }

// Invoking reports whether an invocation runs.
func (x *Execution) Invoking() bool { return x.invoking }

// RequestID returns the ID of the running invocation, or of the last one.
func (x *Execution) RequestID() string { return x.requestID }

// Usage returns the operations and bytes that count toward MaxOperations and MaxWritten.
func (x *Execution) Usage() (operations, bytes int) { return x.counted, x.written }

// Operations returns the operations in the order of their creation.
func (x *Execution) Operations() []*Operation { return x.operations }

// Operation returns the operation with an ID, or nil.
func (x *Execution) Operation(id string) *Operation { return x.byID[id] }

// Updated returns the IDs of the operations that changed between the latest two invocations.
func (x *Execution) Updated() []string { return x.updated }

// WantsInvocation reports whether the function should be invoked at a time: the execution has just started, an
// operation has changed without the function's knowledge, or the wait after a failed invocation is over.
func (x *Execution) WantsInvocation(now time.Time) bool {
	switch {
	case x.Over() || x.invoking:
		return false
	case !x.retryAt.IsZero():
		return !now.Before(x.retryAt)
	}
	return x.invocation == 0 || x.external > x.seen
}

// Reinvocation describes the wait of an execution whose function failed, or could not be invoked, until the function is
// invoked again.
type Reinvocation struct {
	// Failures is the number of invocations that failed, one after another. Error is the error of the latest one; nil
	// if it is not known.
	Failures int
	Error    *Error
	// Failed is when the latest one ended, Next when the function is invoked again.
	Failed, Next time.Time
}

// Reinvocation returns the wait after failed invocations; ok is false if the execution is not in such a wait.
func (x *Execution) Reinvocation() (r Reinvocation, ok bool) {
	if x.Over() || x.invoking || x.retryAt.IsZero() {
		return r, false
	}
	return Reinvocation{x.failures, x.failure, x.failedAt, x.retryAt}, true
}

// Next returns when the execution next changes by itself. change is when a wait ends, when a callback times out, or
// when the function may be invoked again after it failed; zero means never. deadline is when the execution itself times
// out; it is zero only if the execution has ended. held lists the IDs of STEPs whose retries are due and do not begin.
func (x *Execution) Next(held []string) (change, deadline time.Time) {
	if x.Over() {
		return time.Time{}, time.Time{}
	}
	if !x.invoking {
		change = x.retryAt
	}
	for _, o := range x.operations {
		switch t := o.deadline(); {
		case t.IsZero() || slices.Contains(held, o.ID):
		case change.IsZero():
			change = t
		default:
			change = earlier(change, t)
		}
	}
	return change, x.deadline
}

// Changes returns the number of changes of operations so far.
func (x *Execution) Changes() int64 { return x.changes }

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
