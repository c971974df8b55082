package engine

import (
	"context"
	"sync/atomic"

	"stepback/engine/clock"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
)

// maxIdle is the number of idle goroutines kept for further tasks.
const maxIdle = 1024

// taskRunners are goroutines that carry out one task after another. A new goroutine for each task would have to
// grow its stack each time.
type taskRunners struct {
	next chan invocation // to idle goroutines
	idle atomic.Int32
}

// invocation is a task in flight.
type invocation struct {
	run               *run
	ctx               context.Context
	work              *clock.Work // holds virtual time; nil in real time
	cancel            context.CancelFunc
	id                int64
	call              *interpreter.TaskCall
	started, accepted bool // before a crash
}

// dispatch hands a task to a goroutine and does not wait for it.
func (e *Engine) dispatch(i invocation) {
	select {
	case e.runners.next <- i:
	default:
		e.tasks.Add(1)
		go e.runTasks(i)
	}
}

func (e *Engine) runTasks(i invocation) {
	defer e.tasks.Done()
	for {
		i.carryOut()
		if e.runners.idle.Add(1) > maxIdle {
			e.runners.idle.Add(-1)
			return
		}
		select {
		case i = <-e.runners.next:
			e.runners.idle.Add(-1)
		case <-e.ctx.Done():
			return
		}
	}
}

func (i *invocation) carryOut() {
	defer i.work.End()
	defer i.cancel()
	if limits := &i.run.engine.limits; limits.active.Load() && limits.wait(i.ctx, i.run.record.ARN, i.calls) != nil {
		return // the result is no longer needed, or the next engine begins the task
	}
	if i.call.Task.Target == plan.Activity {
		i.run.invokeActivity(i.ctx, i.id, i.call, i.started)
		return
	}
	e, ok := i.run.outcome(i.ctx, i.id, i.call, i.accepted)
	failed := e.Kind == interpreter.TaskFailed || e.Kind == interpreter.TaskSubmitFailed
	switch engine := i.run.engine; {
	case !ok:
	case failed && engine.closing.Load():
		<-engine.ctx.Done() // until then no time passes, so nothing can time out
	default:
		i.run.deliver(e)
	}
}
