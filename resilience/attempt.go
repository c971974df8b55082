package resilience

import (
	"context"
	"slices"
	"sync"
	"time"
)

// attempt is the context of one attempt: the caller's context, ended early by the attempt's timeout or cancellation.
// It costs one allocation as long as the operation does not call Done; only then are the timer and the link to the
// caller's context created.
type attempt struct {
	context.Context // the caller's context

	clock    Clock
	deadline time.Time // of the attempt; zero if none

	mu        sync.Mutex
	err       error
	done      chan struct{}
	callbacks []*callback
	stopTimer func() bool
	unfollow  func() bool // removes the link to the caller's context
}

type callback struct{ f func() }

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func newAttempt(ctx context.Context, clock Clock, now time.Time, timeout time.Duration) *attempt {
	a := &attempt{Context: ctx, clock: clock}
	if timeout > 0 {
		a.deadline = now.Add(timeout)
	}
	return a
}

// Deadline returns the attempt's deadline or the caller's, whichever comes first.
func (a *attempt) Deadline() (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	outer, ok := a.Context.Deadline()
	if a.deadline.IsZero() || ok && outer.Before(a.deadline) {
		return outer, ok
	}
	return a.deadline, true
}

// Err implements context.Context.
func (a *attempt) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil { // without a watcher nothing has set err: check now
		if err := a.Context.Err(); err != nil {
			a.end(err)
		} else if !a.deadline.IsZero() && !a.clock.Now().Before(a.deadline) {
			a.end(context.DeadlineExceeded)
		}
	}
	return a.err
}

// Done implements context.Context.
func (a *attempt) Done() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done == nil {
		a.watch()
	}
	return a.done
}

// watch creates done, the timer, and the link to the caller's context that close it.
func (a *attempt) watch() {
	if a.err != nil {
		a.done = closed
		return
	}
	a.done = make(chan struct{})
	if a.Context.Done() != nil {
		a.unfollow = context.AfterFunc(a.Context, func() { a.finish(a.Context.Err()) })
	}
	if !a.deadline.IsZero() {
		a.stopTimer = a.clock.AfterFunc(a.deadline.Sub(a.clock.Now()), func() { a.finish(context.DeadlineExceeded) })
	}
}

// AfterFunc runs f when the context ends. context.AfterFunc and contexts derived from this one call it, which
// spares them a goroutine that waits for Done.
func (a *attempt) AfterFunc(f func()) (stop func() bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done == nil {
		a.watch()
	}
	if a.err != nil {
		go f()
		return func() bool { return false }
	}
	c := &callback{f}
	a.callbacks = append(a.callbacks, c)
	return func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		i := slices.Index(a.callbacks, c)
		if i < 0 {
			return false
		}
		a.callbacks = slices.Delete(a.callbacks, i, i+1)
		return true
	}
}

// finish ends the context with err, unless it has ended.
func (a *attempt) finish(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.end(err)
}

func (a *attempt) end(err error) {
	if a.err != nil {
		return
	}
	a.err = err
	if a.done != nil {
		close(a.done)
	}
	if a.stopTimer != nil {
		a.stopTimer()
	}
	if a.unfollow != nil {
		a.unfollow()
	}
	for _, c := range a.callbacks {
		go c.f() // in a new goroutine, as context.AfterFunc promises
	}
	a.callbacks = nil
}

// cancel ends the context when the attempt is over.
func (a *attempt) cancel() { a.finish(context.Canceled) }

// clearTimeout removes the timeout. It is called when the attempt has succeeded, because the result is read under
// the caller's context.
func (a *attempt) clearTimeout() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deadline = time.Time{}
	if a.stopTimer != nil {
		a.stopTimer()
		a.stopTimer = nil
	}
}

// timedOut reports whether the attempt was ended by its own timeout and not by the caller's context.
func (a *attempt) timedOut() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err == context.DeadlineExceeded && a.Context.Err() == nil //nolint:errorlint // set by this type alone
}
