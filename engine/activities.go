package engine

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/engine/clock"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
)

// The errors of polling for activity tasks.
var (
	// ErrNoActivity is returned if this account and region have no activity with the ARN.
	ErrNoActivity = errors.New("activity does not exist")
	// ErrTooManyPollers is returned if MaxPollers calls already poll for tasks of the activity.
	ErrTooManyPollers = errors.New("too many workers poll for tasks of the activity")
)

const (
	// PollTime is the maximum time for which GetActivityTask waits for a task.
	PollTime = 60 * time.Second
	// MaxPollers is the maximum number of GetActivityTask calls that may wait for tasks of one activity at a time.
	MaxPollers = 1000
)

// ActivityTask is an activity task taken by a worker.
type ActivityTask struct {
	// Token is the task token for the worker's reports. Input is the JSON text to work on.
	Token, Input string
}

// GetActivityTask takes the task of an activity that has waited longest, on behalf of a worker. worker is the
// worker's name in the history, and may be empty. The call waits up to PollTime for a task, first come first
// served, and returns nil if there is none.
//
// The task belongs to the worker once that is durable. If the response does not reach the worker, the task is lost
// until it times out. A caller inside a task must mark the context with clock.Holding, otherwise virtual time
// stands still during the call.
//
// It fails with ErrNoActivity, ErrTooManyPollers, ErrClosed, the context's error, or an error of the journal.
func (e *Engine) GetActivityTask(ctx context.Context, activityARN, worker string) (*ActivityTask, error) {
	if err := e.activityExists(activityARN); err != nil {
		return nil, err
	}
	if !clock.IsHolding(ctx) {
		e.clock.Hold()
		defer e.clock.Release()
	}
	until := e.clock.Now().Add(PollTime)
	for {
		o, err := e.activities.poll(ctx, e.ctx, activityARN, until)
		if o == nil || err != nil {
			return nil, err
		}
		started := interpreter.Signal{Kind: interpreter.TaskStarted, ID: o.id, Worker: worker}
		err = o.run.ask(ctx, started, o.checkWaiting)
		if err == nil {
			return &ActivityTask{Token: o.call.Token, Input: o.call.Parameters}, nil
		}
		if !errors.Is(err, ErrTaskTimedOut) { // the execution no longer waits for that task
			return nil, err
		}
	}
}

// StopPolls makes all waiting and later calls of GetActivityTask return without a task, so that a server that is
// about to close need not wait for them.
func (e *Engine) StopPolls() { e.activities.close() }

// activityExists returns ErrNoActivity unless arn is the ARN of an activity in this account and region.
func (e *Engine) activityExists(arn string) error {
	if e.cfg.Activity != nil && strings.HasPrefix(arn, e.names.activities()) {
		exists, err := e.cfg.Activity(arn)
		if exists || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: '%s'", ErrNoActivity, arn)
}

// invokeActivity schedules the task of an activity if the activity exists. It runs on a separate goroutine, because
// the check may take time. started is true if a worker had taken the task before a crash.
func (r *run) invokeActivity(ctx context.Context, id int64, call *interpreter.TaskCall, started bool) {
	if in := r.intercept(call); in != nil {
		r.deliver(r.mocked(ctx, id, call, in))
		return
	}
	if started {
		return
	}
	if err := r.engine.activityExists(call.Task.Resource); err != nil {
		cause := err.Error()
		if errors.Is(err, ErrNoActivity) {
			cause = "The activity " + call.Task.Resource + " does not exist."
		}
		r.deliver(interpreter.Signal{Kind: interpreter.TaskFailed, ID: id,
			Failure: failureOf(&Failure{Name: plan.ErrRuntime, Cause: cause})})
		return
	}
	o := &offer{run: r, id: id, call: call}
	r.deliverThen(interpreter.Signal{Kind: interpreter.TaskScheduled, ID: id}, o.checkWaiting, func(err error) {
		if err == nil {
			r.engine.activities.offer(o)
			r.calls[id] = func() { r.engine.activities.withdraw(o) }
		}
	})
}

// offer is an activity task that is waiting for a worker.
type offer struct {
	run  *run
	id   int64
	call *interpreter.TaskCall

	// Guarded by activities.mu.
	place     *list.Element // in the queue; nil if a worker has the task or it has been withdrawn
	withdrawn bool
}

// checkWaiting returns ErrTaskTimedOut unless the task is still waiting for a worker.
func (o *offer) checkWaiting(x *interpreter.Execution) error {
	if !x.Offers(o.id) {
		return ErrTaskTimedOut
	}
	return nil
}
