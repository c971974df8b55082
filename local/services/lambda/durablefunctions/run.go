package durablefunctions

import (
	"context"
	"fmt"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/internal/ctxerr"
	"stepback/jsonvalue"
)

// run is an execution that has not ended.
type run struct {
	s   *Service
	arn string
	// turn is full while a goroutine has the turn: only that goroutine may use the state. It keeps the turn while it
	// waits for a commit, so that commands become durable in their order.
	turn  chan struct{}
	state *state // nil if it is only in the journal

	mu               sync.Mutex // guards what follows
	change, deadline *clock.Timer
	next             [2]time.Time // when they fire
	waiters          map[int]func()
	waiterID         int
	over             bool
	started          time.Time
	retries          []Retry              // replaced as a whole, never changed
	owing            *journal.Execution   // the description of an execution that owes its result to a destination
	postponed        map[string]postponed // by STEP
}

// state is an execution in memory.
type state struct {
	x       *durable.Execution
	record  journal.Execution
	history []history.Event
	steps   int64
	track   func([]history.Event) // nil until there are new events to track
	pending []history.Signal      // applied, and not in the journal: it can be applied again after a crash
	owes    bool                  // the execution has ended, and its result has not been sent to its destination
}

func (s *Service) newRun(arn string) *run { return &run{s: s, arn: arn, turn: make(chan struct{}, 1)} }

// restore rebuilds the state from the journal.
func (r *run) restore(u *journal.Unfinished) error {
	st := &state{x: new(durable.Execution), record: *u.Execution, steps: int64(len(u.Steps))}
	for _, step := range u.Steps {
		for i := range step.Signals {
			c, err := durable.ParseCommand(step.Signals[i].Output.Text())
			if err == nil {
				err = st.x.Replay(c, step.Signals[i].At)
			}
			if err != nil {
				return err
			}
		}
		st.history = append(st.history, step.History...)
	}
	if st.x.ARN() != r.arn {
		return fmt.Errorf("%w: the execution's first command is missing", journal.ErrDamaged)
	}
	r.state = st
	if st.x.Over() { // only its destination keeps it unfinished
		st.owes = true
		st.describeEnd()
		r.setOwing(st)
		return nil
	}
	change, deadline := r.nextChange(st.x)
	r.mu.Lock()
	r.next, r.retries, r.started = [2]time.Time{change, deadline}, waitsOf(st.x), u.Start
	r.mu.Unlock()
	return nil
}

// interrupted reports whether an execution of an earlier process needs more than its timers.
func (r *run) interrupted(st *state) bool {
	return st.owes || st.x.Invoking() || st.x.WantsInvocation(r.s.o.Clock.Now()) || len(openInvokes(st.x)) > 0
}

// evict drops the state if it is all in the journal. The caller has the turn.
func (r *run) evict() {
	if st := r.state; st != nil && !st.x.Invoking() && len(st.pending) == 0 {
		r.state = nil
	}
}

// take waits for the turn and loads the state.
func (r *run) take(ctx context.Context) (*state, error) {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctxerr.Of(ctx)
	}
	if r.state != nil {
		return r.state, nil
	}
	if err := r.load(ctx); err != nil {
		<-r.turn
		return nil, err
	}
	return r.state, nil
}

func (r *run) load(ctx context.Context) error {
	for u, err := range r.s.o.Journal.Unfinished(ctx, r.arn) {
		if err != nil {
			return err
		}
		if u.ARN == r.arn {
			return r.restore(u)
		}
	}
	return fmt.Errorf("%w: %s", journal.ErrNotFound, r.arn)
}

// leave ends the turn.
func (r *run) leave() {
	r.evict()
	<-r.turn
}

// do applies a command and waits until it is durable.
func (r *run) do(ctx context.Context, c *durable.Command) error {
	st, err := r.take(ctx)
	if err != nil {
		return err
	}
	defer r.leave()
	return r.apply(st, c)
}

// apply applies a command in the caller's turn, waits until it is durable, and does what follows from it.
func (r *run) apply(st *state, c *durable.Command) error {
	now, done, err := r.store(st, c)
	if err != nil || done {
		return err
	}
	if st.x.Over() {
		r.disarm()
		if st.owes {
			r.settle(st)
		} else {
			r.end()
		}
		return nil
	}
	r.schedule(st)
	if c.Checkpoint != nil {
		r.chain(st, newInvokes(st.x, c.Checkpoint))
	}
	if c.Invoke == nil && st.x.WantsInvocation(now) {
		return r.invoke(st)
	}
	return nil
}

// store applies a command, and waits until what must be durable of it is. It returns the time of the command. done is
// true if the execution had ended before.
func (r *run) store(st *state, c *durable.Command) (now time.Time, done bool, err error) {
	now = r.s.stamp(r)
	defer r.s.unstamp(r)
	c.Held, _ = r.held(st.x, now)
	text, err := c.Text()
	if err != nil {
		return now, false, err
	}
	ended, before := c.Start == nil && st.x.Over(), st.x.Changes()
	events, err := st.x.Apply(c, now)
	if err != nil || ended {
		return now, ended, err
	}
	if c.Tick != nil && len(events) == 0 && st.x.Changes() == before { // its retry is held, and known to be
		return now, false, nil
	}
	st.pending = append(st.pending, history.Signal{Kind: history.SignalDurable, At: now,
		Output: jsonvalue.TextDocument(text)})
	if len(events) > 0 || c.Callback != nil || c.Retry != nil || c.Tick != nil && len(c.Held) > 0 {
		err = r.commit(st, events, now)
	}
	return now, false, err
}

// commit makes the pending commands and their events durable. If the journal refuses them, the state is what the
// journal has.
func (r *run) commit(st *state, events []history.Event, now time.Time) error {
	st.history = append(st.history, events...)
	rec := &journal.Record{Execution: &st.record, Step: st.steps, Signals: st.pending, History: events,
		Begin: st.steps == 0}
	if rec.Begin {
		st.record.Start, st.record.FirstStep = now, int64(len(events))
		r.mu.Lock()
		r.started = now
		r.mu.Unlock()
	}
	if st.x.Over() {
		st.describeEnd()
		to := r.s.o.Destinations
		st.owes = to != nil && !st.record.Sync && to.Expects(versionOf(&st.record), st.x.Status())
		if st.owes { // the execution stays unfinished in the journal until settle
			r.setOwing(st)
		} else {
			rec.End, rec.All = true, st.history
		}
	}
	if err := r.write(st, rec); err != nil {
		if rec.Begin {
			r.s.remove(r)
		}
		return err
	}
	if r.s.o.Track != nil && len(events) > 0 {
		if st.track == nil {
			st.track = r.s.o.Track(&st.record, st.history[:len(st.history)-len(events)])
		}
		st.track(events)
	}
	if r.s.o.Changed != nil {
		r.s.o.Changed(&st.record, events)
	}
	if st.x.Over() && r.s.o.Ended != nil {
		operations, bytes := st.x.Usage()
		r.s.o.Ended(&st.record, st.history, operations, bytes)
	}
	return nil
}

// write commits a record and waits until it is durable. If the journal refuses it, the state is dropped.
func (r *run) write(st *state, rec *journal.Record) error {
	done := make(chan error, 1)
	r.s.o.Journal.Commit(rec, func(err error) { done <- err })
	if err := <-done; err != nil {
		r.state = nil
		return err
	}
	st.steps++
	st.pending = nil
	return nil
}

// describeEnd completes the description of an execution that has ended.
func (st *state) describeEnd() {
	result, failure := st.x.Outcome()
	st.record.Status, st.record.Stop = journalStatus(st.x.Status()), st.x.Ended()
	if result != nil {
		st.record.Output = *result
	}
	if failure != nil {
		st.record.Failure = history.FailureOf(failure.ErrorType, failure.ErrorMessage).Cut()
	}
	st.record.HistorySize = int64(len(st.history))
}

func (r *run) setOwing(st *state) {
	x := st.record
	r.mu.Lock()
	r.owing = &x
	r.mu.Unlock()
}

// owed returns the description of an execution that has ended and owes its result to a destination, or nil.
func (r *run) owed() *journal.Execution {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owing == nil {
		return nil
	}
	x := *r.owing
	return &x
}

// settle sends the result of an execution to its destination and then finishes the execution in the journal, in the
// caller's turn. The end itself is on disk already. If the process dies in between, the next one sends the result, for
// a second time if the first one arrived. If the destination does not accept the result, settle tries again later.
func (r *run) settle(st *state) {
	if r.trySettle(r.s.ctx, st) {
		return
	}
	r.s.goWork(func(ctx context.Context) {
		for delay := shortestDelay; r.s.o.Clock.Sleep(ctx, delay) == nil; delay = min(2*delay, longestDelay) {
			st, err := r.take(ctx)
			if err != nil {
				r.report("its destination", err)
				return
			}
			settled := r.trySettle(ctx, st)
			r.leave()
			if settled {
				return
			}
		}
	})
}

// trySettle reports whether there is nothing left to try in this process.
func (r *run) trySettle(ctx context.Context, st *state) bool {
	result, failure := st.x.Outcome()
	err := r.s.o.Destinations.Send(ctx, &Ended{Version: versionOf(&st.record), ARN: r.arn, Input: st.record.Input,
		Status: st.x.Status(), Result: result, Error: failure})
	if err != nil {
		r.report("its destination", err)
		return ctx.Err() != nil
	}
	rec := &journal.Record{Execution: &st.record, Step: st.steps, End: true, All: st.history}
	if err := r.write(st, rec); err != nil {
		r.report("its journal", err)
		return true // the next process sends the result again
	}
	r.end()
	return true
}

// end removes an execution that has ended, and wakes the requests that wait for its end.
func (r *run) end() {
	r.disarm()
	r.s.remove(r)
	r.mu.Lock()
	waiters := r.waiters
	r.waiters, r.over = nil, true
	r.mu.Unlock()
	for _, f := range waiters {
		f()
	}
}

// schedule sets the timers to the next times at which the execution changes by itself.
func (r *run) schedule(st *state) {
	change, deadline := r.nextChange(st.x)
	r.mu.Lock()
	same := r.change != nil == !change.IsZero() && r.deadline != nil && r.next == [2]time.Time{change, deadline}
	r.next, r.retries = [2]time.Time{change, deadline}, waitsOf(st.x)
	r.mu.Unlock()
	if !same {
		r.arm()
	}
}

// arm sets the timers, unless the execution has ended.
func (r *run) arm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopTimers()
	if r.over || r.s.ctx.Err() != nil { // Close has stopped the timers
		return
	}
	ring := clock.AlarmFunc(func() { r.s.goWork(r.tick) })
	if at := r.next[0]; !at.IsZero() {
		r.change = r.s.o.Clock.Schedule(at, ring)
	}
	if at := r.next[1]; !at.IsZero() {
		r.deadline = r.s.o.Clock.ScheduleAfterPatience(at, outsidePatience, ring)
	}
}

func (r *run) disarm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopTimers()
}

// stopTimers is called with mu held.
func (r *run) stopTimers() {
	for _, t := range []*clock.Timer{r.change, r.deadline} {
		if t != nil {
			t.Stop()
		}
	}
	r.change, r.deadline = nil, nil
}

// tick ends the waits whose time has come.
func (r *run) tick(ctx context.Context) {
	r.disarm() // the other timer; what follows sets both again
	r.report("its timer", r.do(ctx, &durable.Command{Tick: &durable.Tick{}}))
}

// report logs an error of the background.
func (r *run) report(what string, err error) {
	if err != nil && !r.s.closing.Load() && r.s.run(r.arn) == r {
		r.s.o.Log.Error("a durable execution does not continue", "execution", r.arn, "because of", what, "error", err)
	}
}

// whenOver registers f for the end of the execution, as engine.Await does; the clock is held during the call.
func (r *run) whenOver(f func()) (forget func() bool, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return nil, false
	}
	if r.waiters == nil {
		r.waiters = map[int]func(){}
	}
	id := r.waiterID
	r.waiterID++
	r.waiters[id] = f
	return func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, there := r.waiters[id]
		delete(r.waiters, id)
		return there
	}, true
}

// await waits until the execution has ended. If ctx belongs to work that holds the clock, it gives up its hold
// meanwhile.
func (r *run) await(ctx context.Context) error {
	c := r.s.o.Clock
	if !clock.IsHolding(ctx) {
		c.Hold()
		defer c.Release()
	}
	over := c.NewBell()
	forget, ok := r.whenOver(over.Ring)
	if !ok {
		return nil
	}
	waits, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(r.s.ctx, stop)() //nolint:contextcheck // the service ends the wait, too
	if over.Await(waits) == nil || !forget() {
		return nil
	}
	if ctx.Err() != nil {
		return ctxerr.Of(ctx)
	}
	return closing()
}

func closing() error {
	return &aws.Error{Code: "ServiceException", Message: "The Lambda service is closing; the durable execution continues when it is open again.",
		Status: 500}
}
