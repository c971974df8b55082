package stepback

import (
	"context"
	"iter"
	"time"

	"stepback/engine"
)

// Execution describes an execution.
type Execution struct {
	// ARN identifies the execution. Name is the name that it was started with.
	ARN, Name string
	// Machine is the name of the state machine. For a child execution of a distributed Map, a slash and the Map's
	// label follow it.
	Machine string
	// Express is true for an execution of an EXPRESS state machine.
	Express bool
	Status  Status
	// Start is when the execution began, Stop when it ended. Stop is zero while it is running.
	Start, Stop time.Time
	// Input and Output are JSON text. Output is empty unless the execution succeeded.
	Input, Output string
	// Failure is the error name and the cause of an execution that did not succeed. Both may be missing.
	Failure Failure
	// MapRunARN is the ARN of a child execution's Map Run. It is empty for other executions.
	MapRunARN string
	// Redrives is the number of redrives. Redriven is the time of the latest one.
	Redrives int64
	Redriven time.Time
	// Retries are the states that wait for a retrier's delay now, the next one first. Only Describe and List set them.
	Retries []*Retry
}

func executionOf(x *engine.Execution) *Execution {
	return &Execution{
		ARN: x.ARN, Name: x.Name, Machine: x.MachineName(), Express: x.Express, Status: x.Status, Start: x.Start,
		Stop: x.Stop, Input: x.Input, Output: x.Output, Failure: x.Failure, MapRunARN: x.MapRunARN,
		Redrives: x.RedriveCount, Redriven: x.Redriven,
	}
}

// Query selects executions to list. The zero Query selects all but child executions.
type Query struct {
	// Machine, if not nil, selects the executions of one state machine.
	Machine *Machine
	// MapRunARN, if not empty, selects the child executions of one Map Run instead.
	MapRunARN string
	// Statuses selects executions with one of these statuses. None selects all.
	Statuses []Status
	// Retrying selects executions with a state that waits for a retry now.
	Retrying bool
	// Error, if not empty, selects executions that ended with this error name, or that wait for a retry because of it.
	Error string
	// Since, if not zero, selects executions that began at this time or later.
	Since time.Time
}

// List yields the executions that q selects, the newest first, without Input, Output and Failure.Cause. EXPRESS
// executions appear only once they have ended. List reads no more executions than the loop asks for. After an error
// it ends.
func (e *Engine) List(ctx context.Context, q Query) iter.Seq2[*Execution, error] {
	eq := engine.Query{
		Of: q.MapRunARN, Statuses: q.Statuses, Retrying: q.Retrying, Error: q.Error, Since: q.Since,
	}
	if q.Machine != nil && eq.Of == "" {
		eq.Of = q.Machine.compiled.ARN
	}
	return func(yield func(*Execution, error) bool) {
		for listed, err := range e.core.Listed(ctx, &eq) {
			if err != nil {
				yield(nil, err)
				return
			}
			x := executionOf(listed.Execution)
			x.Retries = listed.Retries
			if !yield(x, nil) {
				return
			}
		}
	}
}
