package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/journal"
	"stepback/engine/plan"
)

// maxChildren is how many child executions of one Map Run are under way at once when its MaxConcurrency does not say less.
const maxChildren = 10_000

// mapRun carries out one distributed Map: it reads items, starts child executions, judges their failures and writes their
// results. It has one goroutine, which the engine waits for.
type mapRun struct {
	engine *Engine
	parent *run
	id     int64
	call   *interpreter.MapRunCall
	child  *StateMachine
	source *items
	sink   results

	children map[string]*child
	started  int64 // child executions so far
	ends     inbox
	failure  *history.Failure // why the Map Run is failing; nil while it is not
	drained  bool             // all items have been read

	mu     sync.Mutex
	counts Counts
	limits MapRunLimits
}

// child is a child execution that is under way, with its place among all of the Map Run's.
type child struct {
	*run
	index int64
}

// startMapRun begins a Map Run on behalf of a step.
func (r *run) startMapRun(id int64, call *interpreter.MapRunCall) {
	e := r.engine
	ctx, cancel := context.WithCancel(e.ctx)
	r.calls[id] = cancel
	m := &mapRun{engine: e, parent: r, id: id, call: call, child: r.childMachine(call), children: map[string]*child{}}
	m.counts.Started = e.clock.Now()
	m.limits = MapRunLimits{
		MaxConcurrency: call.MaxConcurrency, ToleratedFailureCount: call.ToleratedFailureCount,
		ToleratedFailurePercentage: call.ToleratedFailurePercentage,
		countGiven:                 call.State.Map.ToleratedFailureCount.Present, percentageGiven: call.State.Map.ToleratedFailurePercentage.Present,
	}
	m.ends.signal = make(chan struct{}, 1)
	e.mu.Lock()
	e.mapRuns[call.ARN] = m
	e.mu.Unlock()
	e.clock.Hold()
	e.tasks.Add(1)
	go func() {
		defer e.tasks.Done()
		defer e.clock.Release()
		defer cancel()
		outcome := m.carryOut(ctx)
		e.retire(m, outcome)
		r.deliver(outcome)
	}()
}

// childMachine is the state machine of a Map Run's child executions: the processor under a labelled name.
func (r *run) childMachine(call *interpreter.MapRunCall) *StateMachine {
	info := r.x.Info()
	return &StateMachine{
		ARN: info.MachineARN + "/" + call.Label, Name: info.MachineName + "/" + call.Label, RoleARN: info.RoleARN,
		Express: call.State.Map.Express, plan: &plan.Plan{Root: call.State.Map.Processor},
	}
}

// carryOut runs the Map Run to its end and says how it went.
func (m *mapRun) carryOut(ctx context.Context) interpreter.Event {
	output, err := m.process(ctx)
	if err == nil {
		return interpreter.Event{Kind: interpreter.MapRunSucceeded, ID: m.id, Output: interpreter.TextPayload(output)}
	}
	var t *TaskError
	if !errors.As(err, &t) {
		t = &TaskError{Name: plan.ErrRuntime, Cause: err.Error()}
	}
	return interpreter.Event{Kind: interpreter.MapRunFailed, ID: m.id, Failure: history.NewFailure(t.Name, t.Cause)}
}

func (m *mapRun) process(ctx context.Context) (string, error) {
	var err error
	if m.source, err = m.open(ctx); err != nil {
		return "", err
	}
	defer m.source.Close()
	if m.sink, err = m.openSink(); err != nil {
		return "", err
	}
	defer m.sink.abort()
	if err := m.loop(ctx); err != nil {
		return "", err
	}
	if m.failure == nil {
		m.judge(true)
	}
	if m.failure == nil {
		return m.sink.finish(ctx)
	}
	if err := m.writePending(ctx); err != nil {
		m.engine.log.Warn("could not list the items of a failed Map Run that were not started", "mapRun", m.call.ARN, "error", err)
	}
	if _, err := m.sink.finish(ctx); err != nil && ctx.Err() == nil {
		return "", err
	}
	return "", &TaskError{Name: m.failure.Error, Cause: m.failure.Cause}
}

// loop starts children while there are items and room, and takes their ends, until nothing is left to do.
func (m *mapRun) loop(ctx context.Context) error {
	for {
		for m.failure == nil && !m.drained && len(m.children) < m.room() && ctx.Err() == nil {
			if err := m.startNext(ctx); err != nil {
				m.fail(err)
			}
		}
		if len(m.children) == 0 && (m.drained || m.failure != nil) {
			return nil
		}
		if err := m.await(ctx); err != nil {
			return err
		}
	}
}

// startNext starts the child execution of the next batch of items.
func (m *mapRun) startNext(ctx context.Context) error {
	b, err := m.source.next(ctx)
	if errors.Is(err, io.EOF) {
		m.drained = true
		return nil
	}
	if err != nil {
		return err
	}
	name := newUUID(m.engine.seeds.next(), m.engine.seeds.next())
	info := interpreter.Info{
		Name: name, MachineARN: m.child.ARN, MachineName: m.child.Name, RoleARN: m.child.RoleARN,
		Region: m.engine.cfg.Region, Express: m.child.Express, Input: b.input,
	}
	if m.child.Express {
		info.ARN = expressARN(m.child.ARN, name, newUUID(m.engine.seeds.next(), m.engine.seeds.next()))
	} else {
		info.ARN = executionARN(m.child.ARN, name)
	}
	r := m.engine.newRun(m.child, info)
	r.record.MapRunARN, r.record.Items, r.record.Revision = m.call.ARN, b.items, m.parent.record.Revision
	r.mocks = m.parent.mocks
	r.ended = func(x *journal.Execution) { m.ends.put(m.engine, x) }
	if err := m.engine.register(r); err != nil {
		return err
	}
	m.children[info.ARN] = &child{r, m.started}
	m.started++
	m.count(func(c *Counts) { c.Items.Running += b.items; c.Executions.Running++ })
	return nil
}

// await takes the ends of children, waiting for one. When the Map Run is cancelled it stops its children and goes on waiting
// for them; when the engine closes it gives up.
func (m *mapRun) await(ctx context.Context) error {
	if m.ends.empty() {
		m.engine.clock.Release()
		err := m.ends.wait(ctx, m.engine.ctx, m.failure != nil)
		m.engine.clock.Hold()
		if err != nil && m.engine.ctx.Err() != nil {
			return ErrClosed
		}
		if err != nil {
			m.fail(&TaskError{Name: aborted.Error, Cause: aborted.Cause})
		}
	}
	for _, x := range m.ends.take() {
		m.engine.clock.Release()
		index := m.children[x.ARN].index
		delete(m.children, x.ARN)
		m.ended(x)
		if err := m.sink.add(index, x); err != nil {
			m.fail(err)
		}
	}
	m.judge(m.drained)
	return nil
}

// ended counts the end of a child.
func (m *mapRun) ended(x *journal.Execution) {
	m.count(func(c *Counts) {
		c.Items.Running -= x.Items
		c.Executions.Running--
		c.Items.end(x.Status, x.Items)
		c.Executions.end(x.Status, 1)
	})
}

// judge fails the Map Run when more items have failed than are tolerated. The percentage is of all items, so it can only be
// judged once their number is known.
func (m *mapRun) judge(known bool) {
	if m.failure != nil {
		return
	}
	c := m.Counts().Items
	failed := c.Failed + c.TimedOut
	if failed == 0 {
		return
	}
	l := m.currentLimits()
	total := c.Total()
	over := (l.countGiven || !l.percentageGiven) && failed > l.ToleratedFailureCount
	if l.percentageGiven && known {
		over = over || float64(failed)*100 > l.ToleratedFailurePercentage*float64(total)
	}
	if over {
		m.fail(&TaskError{Name: plan.ErrExceedToleratedFailure, Cause: "The specified tolerated failure threshold was exceeded"})
	}
}

// fail makes the Map Run fail: no child is started any more, and those under way are stopped.
func (m *mapRun) fail(err error) {
	if m.failure != nil {
		return
	}
	var t *TaskError
	if !errors.As(err, &t) {
		t = &TaskError{Name: plan.ErrRuntime, Cause: err.Error()}
	}
	f := history.NewFailure(t.Name, t.Cause)
	m.failure = &f
	for _, c := range m.children {
		c.deliver(interpreter.Event{Kind: interpreter.Stop})
	}
}

// writePending lists the items that were never started in the results.
func (m *mapRun) writePending(ctx context.Context) error {
	if m.drained {
		return nil
	}
	for {
		b, err := m.source.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the rest of the items: %w", err)
		}
		m.count(func(c *Counts) { c.Items.Pending += b.items; c.Executions.Pending++ })
		if err := m.sink.pending(m.child, newUUID(m.engine.seeds.next(), m.engine.seeds.next()), b); err != nil {
			return err
		}
	}
}

// inbox collects the ends of children. Each carries a hold of the clock until it is taken.
type inbox struct {
	mu     sync.Mutex
	ends   []*journal.Execution
	signal chan struct{}
}

func (b *inbox) put(e *Engine, x *journal.Execution) {
	e.clock.Hold()
	b.mu.Lock()
	b.ends = append(b.ends, x)
	b.mu.Unlock()
	b.poke()
}

// poke makes whoever waits look again.
func (b *inbox) poke() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

func (b *inbox) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ends) == 0
}

func (b *inbox) take() []*journal.Execution {
	b.mu.Lock()
	defer b.mu.Unlock()
	ends := b.ends
	b.ends = nil
	return ends
}

// wait waits for an end, for the engine to close, or, unless the run is stopping already, for the Map Run to be cancelled.
func (b *inbox) wait(ctx, engine context.Context, stopping bool) error {
	cancelled := ctx.Done()
	if stopping {
		cancelled = nil
	}
	select {
	case <-b.signal:
		return nil
	case <-engine.Done():
		return engine.Err()
	case <-cancelled:
		return ctx.Err()
	}
}
