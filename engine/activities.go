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
	// ErrNoActivity says that this account and region have no activity of that ARN.
	ErrNoActivity = errors.New("activity does not exist")
	// ErrTooManyPollers says that MaxPollers already poll for tasks of the activity.
	ErrTooManyPollers = errors.New("too many workers poll for tasks of the activity")
)

const (
	// PollTime is how long GetActivityTask waits for a task.
	PollTime = 60 * time.Second
	// MaxPollers is how many GetActivityTask calls may wait for tasks of one activity at a time.
	MaxPollers = 1000
)

// ActivityTask is a task that a worker has taken.
type ActivityTask struct {
	// Token is what the worker reports by, Input the JSON text to work on.
	Token, Input string
}

// GetActivityTask takes the task of an activity that has waited longest, on behalf of a worker; its name, which may be
// empty, is shown in the history. It waits for a task up to PollTime, those who came first before those who came later,
// and returns nil when there is none. A task is the worker's once that is durable: if the answer does not reach the
// worker, the task is lost to its timeouts. Who calls from a task must mark the context with clock.Holding, or virtual
// time stands still meanwhile. Its errors are ErrNoActivity, ErrTooManyPollers, ErrClosed, that of the context, and
// those of the journal.
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
		err = o.run.ask(ctx, interpreter.Signal{Kind: interpreter.TaskStarted, ID: o.id, Worker: worker}, o.wanted)
		if err == nil {
			return &ActivityTask{Token: o.call.Token, Input: o.call.Parameters}, nil
		}
		if !errors.Is(err, ErrTaskTimedOut) { // nobody waits for that one any more
			return nil, err
		}
	}
}

// StopPolls has all calls of GetActivityTask that wait answer that there is no task, and all that come later: a server
// that is about to be closed need not wait for them.
func (e *Engine) StopPolls() { e.activities.close() }

// activityExists returns ErrNoActivity for an ARN that is not that of an activity of this account and region.
func (e *Engine) activityExists(arn string) error {
	if e.cfg.Activity != nil && strings.HasPrefix(arn, e.names.activities()) {
		exists, err := e.cfg.Activity(arn)
		if exists || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: '%s'", ErrNoActivity, arn)
}

// invokeActivity schedules the task of an activity if there is one. It runs in a goroutine of its own, because finding
// out may take time; started says that a worker had taken the task before a crash.
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
	r.deliverThen(interpreter.Signal{Kind: interpreter.TaskScheduled, ID: id}, o.wanted, func(err error) {
		if err == nil {
			r.engine.activities.offer(o)
			r.calls[id] = func() { r.engine.activities.withdraw(o) }
		}
	})
}

// offer is an activity task that waits for a worker.
type offer struct {
	run  *run
	id   int64
	call *interpreter.TaskCall

	// Guarded by activities.mu.
	place     *list.Element // in the queue; nil when a worker has it, or nobody wants it any more
	withdrawn bool
}

// wanted decides whether the task still waits for a worker.
func (o *offer) wanted(x *interpreter.Execution) error {
	if !x.Offers(o.id) {
		return ErrTaskTimedOut
	}
	return nil
}
