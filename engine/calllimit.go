package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"stepback/engine/clock"
	"stepback/internal/ctxerr"
	"stepback/jsonvalue"
)

// CallLimit is the most calls of a callee that tasks begin per second.
type CallLimit struct {
	// Callee is the Resource of the tasks, or the name or ARN of the Lambda function that they call.
	Callee string `json:"callee"`
	// PerSecond is the rate, above 0; fractions are less than one call a second.
	PerSecond float64 `json:"perSecond"`
}

// LimitedCalls is a limit with the number of tasks that wait for their turn.
type LimitedCalls struct {
	CallLimit

	Waiting int `json:"waiting"`
}

// CallLimitError reports a CallLimit that is out of range.
type CallLimitError struct{ Limit CallLimit }

// Error implements error.
func (e *CallLimitError) Error() string {
	return fmt.Sprintf("the limit %g calls a second of %q is out of range: name a callee, and give a rate above 0", e.Limit.PerSecond,
		e.Limit.Callee)
}

// callLimits has the limits of an engine. While there is none, a task costs one atomic load.
type callLimits struct {
	active atomic.Bool

	mu  sync.Mutex
	all []*callLimit
}

// callLimit is a limit with its waiting tasks: a queue for each execution, by its ARN, and the order of the executions'
// turns.
type callLimit struct {
	CallLimit

	clock  *clock.Clock
	limits *callLimits
	next   time.Time // when the next call may begin
	timer  *clock.Timer
	turns  []string
	queues map[string][]*waitingCall
}

// waitingCall is a task that waits for its turn. ready is closed when it may begin; the clock is then held for it.
type waitingCall struct{ ready chan struct{} }

// LimitCalls sets the rate at which tasks call a callee, also of those that wait already. Tasks beyond it wait in the
// order in which they were scheduled, and executions take turns, so that one with many tasks does not keep the others
// waiting. The timeouts of a task continue while it waits. A rate of 0 removes the limit. The engine forgets limits
// when it closes. The error is a *CallLimitError.
func (e *Engine) LimitCalls(l CallLimit) error {
	if l.Callee == "" || !(l.PerSecond >= 0) || math.IsInf(l.PerSecond, 0) {
		return &CallLimitError{l}
	}
	c := &e.limits
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.all, func(x *callLimit) bool { return x.Callee == l.Callee })
	switch {
	case i < 0 && l.PerSecond == 0:
	case i < 0:
		c.all = append(c.all, &callLimit{CallLimit: l, clock: e.clock, limits: c, queues: map[string][]*waitingCall{}})
	case l.PerSecond == 0:
		x := c.all[i]
		c.all = slices.Delete(c.all, i, i+1)
		x.stop()
		for x.begin() {
		}
	default:
		x := c.all[i]
		x.PerSecond = l.PerSecond
		if now := e.clock.Now(); x.next.After(now.Add(x.gap())) {
			x.next = now.Add(x.gap())
		}
		x.stop()
		x.schedule()
	}
	c.active.Store(len(c.all) > 0)
	return nil
}

// CallLimits returns the limits, in the order in which they were first set.
func (e *Engine) CallLimits() []LimitedCalls {
	e.limits.mu.Lock()
	defer e.limits.mu.Unlock()
	all := make([]LimitedCalls, len(e.limits.all))
	for i, x := range e.limits.all {
		all[i].CallLimit = x.CallLimit
		for _, q := range x.queues {
			all[i].Waiting += len(q)
		}
	}
	return all
}

// gap returns the time between two calls, at most a year.
func (x *callLimit) gap() time.Duration {
	const year = 365 * 24 * time.Hour
	return time.Duration(min(float64(time.Second)/x.PerSecond, float64(year)))
}

func (x *callLimit) stop() {
	if x.timer != nil {
		x.timer.Stop()
		x.timer = nil
	}
}

// schedule sets the timer for the next call, if tasks wait. It is called with the limits' mu held.
func (x *callLimit) schedule() {
	if x.timer == nil && len(x.turns) > 0 {
		x.timer = x.clock.Schedule(x.next, x)
	}
}

// Ring implements clock.Alarm: it lets the next task begin.
func (x *callLimit) Ring() {
	x.limits.mu.Lock()
	defer x.limits.mu.Unlock()
	now := x.clock.Now()
	if x.timer == nil || x.next.After(now) { // it was stopped, or set again
		return
	}
	x.timer = nil
	if x.begin() {
		x.next = now.Add(x.gap())
	}
	x.schedule()
}

// begin lets the first task of the execution whose turn it is begin; it returns false if none waits.
func (x *callLimit) begin() bool {
	if len(x.turns) == 0 {
		return false
	}
	arn := x.turns[0]
	x.turns = x.turns[1:]
	q := x.queues[arn]
	if x.queues[arn] = q[1:]; len(q) > 1 {
		x.turns = append(x.turns, arn)
	} else {
		delete(x.queues, arn)
	}
	x.clock.Hold()
	close(q[0].ready)
	return true
}

// drop removes a task that no longer waits; it returns false if it has begun.
func (x *callLimit) drop(arn string, w *waitingCall) bool {
	i := slices.Index(x.queues[arn], w)
	if i < 0 {
		return false
	}
	if x.queues[arn] = slices.Delete(x.queues[arn], i, i+1); len(x.queues[arn]) == 0 {
		delete(x.queues, arn)
		x.turns = slices.DeleteFunc(x.turns, func(other string) bool { return other == arn })
	}
	return true
}

// AwaitCall waits until an execution may call a Lambda function, given by its name or ARN, under the limits that
// LimitCalls has set, as a task of the execution would. It is for executions that are not the engine's own, such as
// those of durable functions. The caller holds the clock; AwaitCall gives up the hold while it waits. The error is
// ctx's.
func (e *Engine) AwaitCall(ctx context.Context, execution, function string) error {
	if !e.limits.active.Load() {
		return nil
	}
	return e.limits.wait(ctx, execution, func(callee string) bool { return isFunction(function, callee) })
}

// wait waits until an execution may call a callee. calls reports whether it calls one. The error is ctx's.
func (c *callLimits) wait(ctx context.Context, arn string, calls func(callee string) bool) error {
	c.mu.Lock()
	at := slices.IndexFunc(c.all, func(x *callLimit) bool { return calls(x.Callee) })
	if at < 0 {
		c.mu.Unlock()
		return nil
	}
	x := c.all[at]
	now := x.clock.Now()
	if len(x.turns) == 0 && !x.next.After(now) {
		x.next = now.Add(x.gap())
		c.mu.Unlock()
		return nil
	}
	w := &waitingCall{make(chan struct{})}
	if len(x.queues[arn]) == 0 {
		x.turns = append(x.turns, arn)
	}
	x.queues[arn] = append(x.queues[arn], w)
	x.schedule()
	c.mu.Unlock()
	resume := x.clock.Yield(ctx)
	var err error
	begun := true
	select {
	case <-w.ready:
	case <-ctx.Done():
		c.mu.Lock()
		begun = !x.drop(arn, w)
		c.mu.Unlock()
		err = ctxerr.Of(ctx)
	}
	resume()
	if begun {
		x.clock.Release() // begin held the clock
	}
	return err
}

// calls reports whether a task calls a callee.
func (i *invocation) calls(callee string) bool {
	t := i.call.Task
	if t.Resource == callee || t.Service == "" && isFunction(t.Resource, callee) {
		return true
	}
	if t.Service != "lambda" {
		return false
	}
	v := i.call.Value
	if v.IsNull() {
		v, _ = jsonvalue.Parse(i.call.Parameters)
	}
	f, _ := v.Get("FunctionName")
	return isFunction(f.Text(), callee)
}

// isFunction reports whether a name or an ARN of a Lambda function means the function that callee names. A
// callee with a version or an alias means only calls that name the same one.
func isFunction(named, callee string) bool {
	if named == "" || named == callee {
		return named != ""
	}
	const colons = 6 // of an ARN without a version
	return functionIn(named) == callee || strings.Contains(callee, ":function:") &&
		functionIn(named) == functionIn(callee) && strings.Count(callee, ":") == colons
}

// functionIn returns the name of the function in its ARN, without a version; a name is returned as it is.
func functionIn(arn string) string {
	if _, after, ok := strings.Cut(arn, ":function:"); ok {
		arn = after
	}
	name, _, _ := strings.Cut(arn, ":")
	return name
}
