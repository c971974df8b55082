package engine

import (
	"context"
	"errors"
	"io"
	"sync"

	"stepback/asl/jsonvalue"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/engine/journal"
)

// maxChildren is how many child executions of one Map Run are under way at once when its MaxConcurrency does not say
// less.
const maxChildren = 10_000

// mapRun carries out one distributed Map: it reads items, starts child executions, judges their failures and writes
// their results. It has one goroutine, which the engine waits for.
type mapRun struct {
	engine *Engine
	parent *run
	id     int64
	call   *interpreter.MapRunCall
	child  *StateMachine
	names  childNames
	source *items
	sink   results

	// Of a Map Run that is gone on with: what was kept of it, if it had begun its work, or why that cannot be read, and
	// its child executions that have not ended.
	kept    *journal.MapRun
	unread  error
	adopted []*run
	// redrivable are the ARNs of child executions to redrive, which ended without success before the Map Run was
	// redriven.
	redrivable []string
	// lost counts the items whose child executions were aborted before and cannot be redriven: nothing will come of
	// them any more.
	lost int64

	children map[string]*run
	ends     inbox
	failure  *history.Failure // why the Map Run is failing; nil while it is not
	drained  bool             // all items have been read

	mu    sync.Mutex
	about MapRun
	gone  chan struct{} // closed once the Map Run has let go of everything
}

// startMapRun begins a Map Run on behalf of a step, or goes on with it.
func (r *run) startMapRun(id int64, call *interpreter.MapRunCall) {
	e := r.engine
	ctx, cancel := r.cancellable(id)
	m := r.newMapRun(id, call)
	e.mu.Lock()
	adopted, resumed := e.adopted[call.ARN]
	delete(e.adopted, call.ARN)
	e.mu.Unlock()
	m.adopted = adopted
	if resumed || call.Redrive > 0 {
		m.restore(ctx)
	}
	e.mu.Lock()
	e.mapRuns[call.ARN] = m
	e.mu.Unlock()
	e.clock.Hold()
	e.tasks.Add(1)
	go func() {
		defer e.tasks.Done()
		defer e.clock.Release()
		defer cancel()
		outcome, err := m.carryOut(ctx)
		if err != nil {
			m.abandon(err)
			return
		}
		m.retire(outcome)
		r.deliver(outcome)
	}()
}

func (r *run) newMapRun(id int64, call *interpreter.MapRunCall) *mapRun {
	m := &mapRun{engine: r.engine, parent: r, id: id, call: call, child: r.childMachine(call), sink: nowhere{},
		children: map[string]*run{}}
	m.names = newChildNames(call.ARN, m.child)
	m.ends.signal, m.gone = make(chan struct{}, 1), make(chan struct{})
	m.about = MapRun{
		ARN: call.ARN, Execution: r.record.ARN, Machine: m.child.ARN, Children: m.names.prefix,
		Status: history.Running, Started: m.now(), RedriveCount: call.Redrive,
		MapRunLimits: MapRunLimits{
			MaxConcurrency: call.MaxConcurrency, ToleratedFailureCount: call.ToleratedFailureCount,
			ToleratedFailurePercentage: call.ToleratedFailurePercentage,
			CountGiven:                 call.State.Map.ToleratedFailureCount.Present,
			PercentageGiven:            call.State.Map.ToleratedFailurePercentage.Present,
		},
	}
	if call.Redrive > 0 {
		m.about.Redriven = m.about.Started
	}
	return m
}

// childMachine is the state machine of a Map Run's child executions: the processor under a labelled name.
func (r *run) childMachine(call *interpreter.MapRunCall) *StateMachine {
	m := r.machine
	return &StateMachine{
		ARN: m.ARN + "/" + call.Label, Name: m.Name + "/" + call.Label, RoleARN: m.RoleARN,
		Express: call.State.Map.Express, plan: &plan.Plan{Root: call.State.Map.Processor},
	}
}

// carryOut runs the Map Run to its end and says how it went. An error means that it cannot go on in this process.
func (m *mapRun) carryOut(ctx context.Context) (interpreter.Signal, error) {
	output, err := m.process(ctx)
	var gone *abandonedError
	switch {
	case m.engine.ctx.Err() != nil:
		return interpreter.Signal{}, ErrClosed
	case errors.As(err, &gone):
		return interpreter.Signal{}, gone.err
	case err == nil:
		return interpreter.Signal{Kind: interpreter.MapRunSucceeded, ID: m.id, Output: jsonvalue.TextDocument(output)},
			nil
	case m.failure == nil:
		err = orAborted(ctx, err)
	}
	return interpreter.Signal{Kind: interpreter.MapRunFailed, ID: m.id, Failure: mapRunFailure(err)}, nil
}

// mapRunFailure names an error as the workflow sees it.
func mapRunFailure(err error) history.Failure {
	var f *Failure
	if errors.As(err, &f) {
		return history.NewFailure(f.Name, f.Cause)
	}
	return history.NewFailure(plan.ErrRuntime, err.Error())
}

// orAborted is err, or, once the Map Run has been cancelled, what that makes of it: whatever failed then may have
// failed for that.
func orAborted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return &Failure{Name: aborted.Name, Cause: aborted.Cause}
}

// abandonedError says that a child execution was given up because the journal refused it.
type abandonedError struct{ err error }

func (e *abandonedError) Error() string { return e.err.Error() }

func (m *mapRun) process(ctx context.Context) (string, error) {
	defer func() { m.sink.abort() }()
	m.takeOver()
	if err := m.prepare(ctx); err != nil {
		err = orAborted(ctx, err)
		m.fail(err)
		if e := m.loop(ctx); e != nil { // until the children that were taken over have ended
			return "", e
		}
		if e := m.takeBack(context.WithoutCancel(ctx)); e != nil {
			return "", e
		}
		return "", err
	}
	defer m.source.Close()
	if err := m.loop(ctx); err != nil {
		return "", err
	}
	if m.failure == nil {
		m.judge(true)
	}
	if m.failure == nil {
		return m.sink.finish(ctx)
	}
	if err := m.keepUnsuccessful(context.WithoutCancel(ctx)); err != nil {
		return "", err
	}
	if err := m.writePending(ctx); err != nil {
		m.engine.log.Warn("could not list the items of a failed Map Run that were not started", "mapRun", m.call.ARN,
			"error", err)
	}
	if _, err := m.sink.finish(ctx); err != nil && ctx.Err() == nil {
		return "", err
	}
	return "", &Failure{Name: m.failure.Name, Cause: m.failure.Cause}
}

// prepare opens both ends of the Map Run and, if it has been under way before, finds out how far it had come.
func (m *mapRun) prepare(ctx context.Context) (err error) {
	if m.unread != nil {
		return m.unread
	}
	version, unknown := m.version(ctx) // before the object is opened: what is read may be newer, but not older
	if m.source, err = m.open(ctx); err != nil {
		return err
	}
	if unknown != nil {
		m.source.Close()
		return unknown
	}
	sink, err := m.openSink()
	if err != nil {
		m.source.Close()
		return err
	}
	m.sink = sink
	if err := m.resume(ctx, version); err != nil {
		m.source.Close()
		return err
	}
	return nil
}

// loop starts children while there are items and room, and takes their ends, until nothing is left to do.
func (m *mapRun) loop(ctx context.Context) error {
	for {
		for m.failure == nil && (!m.drained || len(m.redrivable) > 0) && len(m.children) < m.room() &&
			ctx.Err() == nil {
			if err := m.startNext(ctx); err != nil {
				m.fail(orAborted(ctx, err))
			}
		}
		if len(m.children) == 0 && (m.drained && len(m.redrivable) == 0 || m.failure != nil) {
			return nil
		}
		if err := m.await(ctx); err != nil {
			return err
		}
	}
}

// startNext redrives a child execution, or starts that of the next batch of items.
func (m *mapRun) startNext(ctx context.Context) error {
	if len(m.redrivable) > 0 {
		return m.redriveNext(ctx)
	}
	b, err := m.source.next(ctx)
	if errors.Is(err, io.EOF) {
		m.drained = true
		return nil
	}
	if err != nil {
		return err
	}
	name, arn := m.names.of(b.first)
	r := m.engine.newRun(m.child, history.Info{
		ARN: arn, MachineARN: m.child.ARN, Express: m.child.Express,
		Origin:    history.Origin{Name: name, Input: b.input, Revision: m.parent.record.Revision},
		MapRunARN: m.call.ARN, FirstItem: b.first, Items: b.items, LastItem: b.mark,
	})
	r.mocks = m.parent.mocks
	return m.begin(r, r.start())
}

// begin has a child execution run.
func (m *mapRun) begin(r *run, first interpreter.Signal) error {
	r.ended, r.ahead = m.childEnded, max(r.ahead, m.parent.ahead)
	r.record.MapRunRedrive = m.call.Redrive
	if err := m.engine.register(r, first); err != nil {
		return err
	}
	m.children[r.record.ARN] = r
	m.count(func(items, executions *Tally) { items.Running += r.record.Items; executions.Running++ })
	return nil
}

// childEnded is told of the end of a child, by the worker that has it.
func (m *mapRun) childEnded(x *journal.Execution) { m.ends.put(m.engine, x) }

// await takes the ends of children, waiting for one. When the Map Run is cancelled it stops its children and goes on
// waiting for them; when the engine closes it gives up.
func (m *mapRun) await(ctx context.Context) error {
	if m.ends.empty() {
		m.engine.clock.Release()
		err := m.ends.wait(ctx, m.engine.ctx, m.failure != nil)
		m.engine.clock.Hold()
		if err != nil && m.engine.ctx.Err() != nil {
			return ErrClosed
		}
		if err != nil {
			m.fail(orAborted(ctx, err))
		}
	}
	for _, x := range m.ends.take(m.engine) {
		r := m.children[x.ARN]
		delete(m.children, x.ARN)
		if !x.Ended() {
			return &abandonedError{r.err}
		}
		m.count(func(items, executions *Tally) { items.Running -= x.Items; executions.Running-- })
		if err := m.ended(x); err != nil {
			m.fail(err)
		}
	}
	m.judge(m.drained)
	return nil
}

// ended counts the end of a child and hands its result on.
func (m *mapRun) ended(x *journal.Execution) error {
	m.count(func(items, executions *Tally) {
		items.End(x.Status, x.Items)
		executions.End(x.Status, 1)
	})
	return m.sink.add(x)
}
