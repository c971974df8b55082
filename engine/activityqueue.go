package engine

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"stepback/engine/clock"
	"stepback/internal/ctxerr"
)

// activities matches activity tasks with the workers that poll for them, first come first served.
type activities struct {
	clock *clock.Clock

	mu     sync.Mutex
	queues map[string]*activityQueue // queues with waiting tasks or workers, by the activity's ARN
	closed bool                      // no workers wait, and none can take a task
}

// activityQueue contains either waiting tasks or waiting workers.
type activityQueue struct{ offers, pollers list.List }

// poller is a worker that waits for a task. The goroutine that wakes the worker holds the clock on its behalf.
type poller struct {
	place *list.Element // in the queue; nil once it has been woken; guarded by activities.mu
	woken chan *offer   // receives nil if the time is over
}

// offer gives a task to the worker that has waited longest, or queues it until one polls.
func (a *activities) offer(o *offer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(o, (*list.List).PushBack)
}

// offerAgain puts a task back whose worker disconnected before receiving it. The task will be the next to be taken.
func (a *activities) offerAgain(o *offer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !o.withdrawn {
		a.put(o, (*list.List).PushFront)
	}
}

func (a *activities) put(o *offer, in func(*list.List, any) *list.Element) {
	arn := o.call.Task.Resource
	q := a.queue(arn)
	if first := q.pollers.Front(); first != nil {
		a.wake(arn, first.Value.(*poller), o)
		return
	}
	o.place = in(&q.offers, o)
}

// withdraw removes a task that no longer needs a worker.
func (a *activities) withdraw(o *offer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o.withdrawn = true
	if o.place != nil {
		a.remove(o.call.Task.Resource, o)
	}
}

// poll waits for a task of an activity, until the time until, or until ctx or the engine ends. It returns nil if no
// task arrived. The caller holds the clock; poll releases it while it waits.
func (a *activities) poll(ctx, engine context.Context, arn string, until time.Time) (*offer, error) {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return nil, nil
	}
	q := a.queue(arn)
	if first := q.offers.Front(); first != nil {
		o := first.Value.(*offer)
		a.remove(arn, o)
		a.mu.Unlock()
		return o, nil
	}
	if q.pollers.Len() == MaxPollers {
		a.mu.Unlock()
		return nil, fmt.Errorf("%w %s: at most %d may", ErrTooManyPollers, arn, MaxPollers)
	}
	p := &poller{woken: make(chan *offer, 1)}
	p.place = q.pollers.PushBack(p)
	a.mu.Unlock()
	timer := a.clock.Schedule(until, clock.AlarmFunc(func() { a.leave(arn, p) }))
	defer timer.Stop()
	resume := a.clock.Yield(ctx)
	defer a.clock.Release() // the hold of the waking goroutine
	defer resume()
	var err error
	select {
	case o := <-p.woken:
		return o, nil
	case <-ctx.Done():
		err = ctxerr.Of(ctx)
	case <-engine.Done():
		err = ErrClosed
	}
	a.leave(arn, p)
	if o := <-p.woken; o != nil {
		a.offerAgain(o)
	}
	return nil, err
}

// close wakes all workers, without a task.
func (a *activities) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for arn, q := range a.queues {
		for q.pollers.Len() > 0 {
			a.wake(arn, q.pollers.Front().Value.(*poller), nil)
		}
	}
}

// leave wakes a worker without a task, unless it has already been woken.
func (a *activities) leave(arn string, p *poller) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.place != nil {
		a.wake(arn, p, nil)
	}
}

// wake removes a worker from its queue and gives it a task, or nil. The caller holds mu.
func (a *activities) wake(arn string, p *poller, o *offer) {
	q := a.queue(arn)
	q.pollers.Remove(p.place)
	p.place = nil
	a.tidy(arn, q)
	a.clock.Hold()
	p.woken <- o // buffered: does not block
}

// remove removes a task from its queue. The caller holds mu.
func (a *activities) remove(arn string, o *offer) {
	q := a.queue(arn)
	q.offers.Remove(o.place)
	o.place = nil
	a.tidy(arn, q)
}

// queue returns the queue of an activity. The caller holds mu.
func (a *activities) queue(arn string) *activityQueue {
	q := a.queues[arn]
	if q == nil {
		q = &activityQueue{}
		a.queues[arn] = q
	}
	return q
}

// tidy deletes a queue without tasks and workers. The caller holds mu.
func (a *activities) tidy(arn string, q *activityQueue) {
	if q.offers.Len() == 0 && q.pollers.Len() == 0 {
		delete(a.queues, arn)
	}
}
