package engine

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Hold selects retries that do not begin for now. Each empty field matches everything.
type Hold struct {
	// Machine is the name of the state machine, which also matches the child executions of its Maps, or of the durable
	// Lambda function.
	Machine string `json:"machine,omitempty"`
	// Error is the error name of the latest attempt.
	Error string `json:"error,omitempty"`
	// State is the name of the state that waits for its retry, or of the step of a durable function.
	State string `json:"state,omitempty"`
	// Since is when the hold began, by the engine's clock.
	Since time.Time `json:"since"`
}

// Same reports whether two holds select the same retries.
func (h *Hold) Same(o *Hold) bool {
	return h.Machine == o.Machine && h.Error == o.Error && h.State == o.State
}

// Selects reports whether the hold selects a retry of a state after an error. machine is the name of the state machine
// or of the durable function.
func (h *Hold) Selects(machine, err, state string) bool {
	return (h.Machine == "" || h.Machine == machine) && (h.Error == "" || h.Error == err) &&
		(h.State == "" || h.State == state)
}

// Rest returns how long a retry waits after the hold is released: what was left of its wait when the hold began, or all
// of it if it began during the hold. failed is when the latest attempt ended, next when the retry was due.
func (h *Hold) Rest(failed, next time.Time) time.Duration {
	return max(0, next.Sub(latest(h.Since, failed)))
}

// Held is a hold with the number of its retries that are due and do not begin.
type Held struct {
	Hold

	Due int `json:"due"`
}

// ErrNoHold is returned by Release if no hold has the given selection.
var ErrNoHold = errors.New("there is no such hold")

// holds has the holds of an engine. While there is none, a due retry costs one atomic load.
type holds struct {
	active atomic.Bool

	mu     sync.Mutex
	list   []Hold
	parked map[heldRetry]Hold // due retries, with the hold that stopped each
}

// heldRetry identifies a waiting retry.
type heldRetry struct {
	run *run
	id  int64
}

// retryAlarm delivers the firing of a retry's timer to its run, unless the retry is held.
type retryAlarm heldRetry

func (a *retryAlarm) Ring() {
	if a.run.engine.holds.active.Load() && a.run.engine.holds.park(heldRetry(*a)) {
		return
	}
	(&alarm{a.run, a.id, false}).Ring()
}

// matching returns the first hold that selects a retry of a run; nil if none does. It is called with mu held.
func (h *holds) matching(r *run, retry *Retry) *Hold {
	_, machine, _ := strings.Cut(r.record.MachineARN, ":stateMachine:")
	machine, _, _ = strings.Cut(machine, "/")
	machine, _, _ = strings.Cut(machine, ":")
	for i := range h.list {
		if x := &h.list[i]; x.Selects(machine, retry.Error, retry.State) {
			return x
		}
	}
	return nil
}

// park keeps a due retry if a hold selects it, and reports whether it did.
func (h *holds) park(a heldRetry) bool {
	retry := a.run.retry(a.id)
	if retry == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	by := h.matching(a.run, retry)
	if by == nil {
		return false
	}
	h.parked[a] = *by
	return true
}

// forget drops a retry that has begun or whose execution has ended.
func (h *holds) forget(a heldRetry) {
	if h.active.Load() {
		h.mu.Lock()
		delete(h.parked, a)
		h.mu.Unlock()
	}
}

// retry returns the waiting retry with an ID; nil if there is none.
func (r *run) retry(id int64) *Retry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.retries[id]
}

// Hold stops retries: those that h selects, now or later, do not begin until Release, even when they are due. Their
// attempts are kept, nothing is stored about them, and RetryNow still begins one. If Since is zero, the hold begins
// now. Holding the same selection again changes nothing. The engine forgets holds when it closes; the caller that
// stores them calls Hold before Recover, so that no recovered retry begins.
func (e *Engine) Hold(h Hold) Hold {
	if h.Since.IsZero() {
		h.Since = e.clock.Now()
	}
	e.holds.mu.Lock()
	defer e.holds.mu.Unlock()
	if i := slices.IndexFunc(e.holds.list, func(x Hold) bool { return x.Same(&h) }); i >= 0 {
		return e.holds.list[i]
	}
	if e.holds.parked == nil {
		e.holds.parked = map[heldRetry]Hold{}
	}
	e.holds.list = append(e.holds.list, h)
	e.holds.active.Store(true)
	return h
}

// Holds returns the holds, in the order in which they began.
func (e *Engine) Holds() []Held {
	e.holds.mu.Lock()
	defer e.holds.mu.Unlock()
	all := make([]Held, len(e.holds.list))
	for i, h := range e.holds.list {
		all[i].Hold = h
		for _, by := range e.holds.parked {
			if by.Same(&h) {
				all[i].Due++
			}
		}
	}
	return all
}

// Release ends the hold with the selection of h, and returns how many of its retries were due. Each of them begins when
// the rest of its wait has passed: what was left of it when the hold began, or all of it if it began during the hold.
// So they do not begin together. Retries that another hold selects stay held. It returns ErrNoHold if there is no such
// hold.
func (e *Engine) Release(h Hold) (due int, err error) {
	now := e.clock.Now()
	e.clock.Hold() // until all are scheduled
	defer e.clock.Release()
	e.holds.mu.Lock()
	defer e.holds.mu.Unlock()
	i := slices.IndexFunc(e.holds.list, func(x Hold) bool { return x.Same(&h) })
	if i < 0 {
		return 0, ErrNoHold
	}
	e.holds.list = slices.Delete(e.holds.list, i, i+1)
	for a, by := range e.holds.parked {
		if !by.Same(&h) {
			continue
		}
		retry := a.run.retry(a.id)
		if retry == nil {
			delete(e.holds.parked, a)
			continue
		}
		if other := e.holds.matching(a.run, retry); other != nil {
			e.holds.parked[a] = *other
			continue
		}
		delete(e.holds.parked, a)
		at := now.Add(by.Rest(retry.Failed, retry.Next))
		a.run.postpone(a.id, at)
		e.clock.Schedule(at, (*retryAlarm)(&heldRetry{a.run, a.id}))
		due++
	}
	e.holds.active.Store(len(e.holds.list) > 0)
	return due, nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// postpone records that a retry begins later than it was due.
func (r *run) postpone(id int64, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if retry := r.retries[id]; retry != nil {
		later := *retry
		later.Next = at
		r.retries[id] = &later
	}
}
