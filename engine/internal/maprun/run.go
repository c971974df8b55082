package maprun

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/engine/itemreader"
	"stepback/engine/journal"
	"stepback/engine/resultwriter"
	"stepback/jsonvalue"
)

// maxChildren is the most concurrent child executions of a Map Run, unless its MaxConcurrency is lower.
const maxChildren = 10_000

// maxStarting is the number of child executions that may wait for their first step at a time. If a Map Run started all
// that its concurrency allows before the workers have taken the first ones, it would only take memory: 10,000 children
// of one state took a quarter more processor time than 1,000 at a time, most of it for the garbage collector.
const maxStarting = 1000

// Machine is the state machine of a Map Run's child executions: the item processor under a labelled name.
type Machine struct {
	ARN     string
	Express bool
}

// Host is the part of the engine that a Map Run uses, on behalf of its execution.
type Host interface {
	// Register starts a child execution. The worker that runs it calls began once its start is durable or was refused,
	// and ended at its end; both must be quick.
	Register(info history.Info, began func(), ended func(*journal.Execution)) (Child, error)
	// Reopen redrives a child execution that ended without success; an EXPRESS one starts afresh.
	Reopen(ctx context.Context, x *journal.Execution, ended func(*journal.Execution)) (Child, error)
	// Now returns the current time of the execution.
	Now() time.Time
}

// Child is a running child execution.
type Child interface {
	// Info returns the execution's description.
	Info() *history.Info
	// Follow registers ended, which is called at the end of a child that was running before the Map Run was
	// resumed. GoOn lets the child continue.
	Follow(ended func(*journal.Execution))
	GoOn()
	// Stop stops the execution.
	Stop()
	// Err returns why the journal refused to continue a child that has not ended.
	Err() error
}

// Objects is the object store that ItemReaders read and ResultWriters write.
type Objects interface {
	itemreader.Objects
	resultwriter.Objects
}

// Config holds the parameters of a Map Run, and what it depends on.
type Config struct {
	// ID is the ID of the interpreter's effect, Call its request.
	ID   int64
	Call *interpreter.MapRunCall
	// Parent is the execution to which the Map Run belongs.
	Parent  *history.Info
	Machine Machine
	Host    Host
	Clock   *clock.Clock
	Journal journal.Journal
	Objects Objects // nil if there is no object store
	Formats itemreader.Formats
	// TempDir is the directory in which a ResultWriter spools.
	TempDir string
	Log     *slog.Logger
	// Closing ends when the engine closes, with the reason as its cause.
	Closing context.Context //nolint:containedctx // it is the engine's life, beside the Map Run's own context
	// Adopted are the child executions that had not ended when the previous process died. Resumed is true if the Map
	// Run has run before, even if none are left.
	Adopted []Child
	Resumed bool
	// Forget is called once the Map Run has released everything.
	Forget func()
}

// Run runs one distributed Map: it reads items, starts child executions, compares their failures with the tolerance
// and writes their results. One goroutine calls CarryOut; the other methods are safe for concurrent use.
type Run struct {
	Config
	names  childNames
	source *items
	sink   results

	// Set for a resumed Map Run: kept is its stored description if it had started its work, unread the error of
	// reading that description, and adopted its child executions that have not ended.
	kept    *journal.MapRun
	unread  error
	adopted []Child
	// redrivable are the ARNs of the child executions to redrive, which ended without success before the Map Run was
	// redriven.
	redrivable []string
	// lost is the number of items whose child executions were aborted and cannot be redriven: they will not be
	// processed any more.
	lost int64

	children map[string]Child
	starting atomic.Int64 // child executions whose start is not stored yet
	ends     inbox
	onBegin  func()                   // childBegan
	onEnd    func(*journal.Execution) // childEnded
	failure  *history.Failure         // why the Map Run is failing; nil if it is not
	drained  bool                     // all items have been read

	mu    sync.Mutex
	about journal.MapRun
	gone  chan struct{} // closed once the Map Run has released everything
}

// New returns a Map Run that starts, or resumes, when CarryOut is called.
func New(ctx context.Context, cfg Config) *Run {
	m := &Run{Config: cfg, sink: nowhere{}, children: map[string]Child{}, adopted: cfg.Adopted}
	m.names = newChildNames(m.Call.ARN, m.Machine)
	m.onBegin, m.onEnd = m.childBegan, m.childEnded
	m.ends.signal, m.gone = make(chan struct{}, 1), make(chan struct{})
	m.about = journal.MapRun{
		ARN: m.Call.ARN, Execution: m.Parent.ARN, Machine: m.Machine.ARN, Children: m.names.prefix,
		Status: history.Running, Started: m.Host.Now(), RedriveCount: m.Call.Redrive,
		MapRunLimits: journal.MapRunLimits{
			MaxConcurrency: m.Call.MaxConcurrency, ToleratedFailureCount: m.Call.ToleratedFailureCount,
			ToleratedFailurePercentage: m.Call.ToleratedFailurePercentage,
			CountGiven:                 m.Call.State.Map.ToleratedFailureCount.Present,
			PercentageGiven:            m.Call.State.Map.ToleratedFailurePercentage.Present,
		},
	}
	if m.Call.Redrive > 0 {
		m.about.Redriven = m.about.Started
	}
	if m.Resumed || m.Call.Redrive > 0 {
		m.restore(ctx)
	}
	return m
}

// ARN identifies the Map Run.
func (m *Run) ARN() string { return m.Call.ARN }

// Gone returns a channel that is closed once the Map Run has released everything.
func (m *Run) Gone() <-chan struct{} { return m.gone }

// CarryOut runs the Map Run to its end and returns the signal with its result. It returns an error if the Map Run
// cannot continue in this process: the cause of Closing, or why the journal refused a child execution.
func (m *Run) CarryOut(ctx context.Context) (interpreter.Signal, error) {
	outcome, err := m.carryOut(ctx)
	if err != nil {
		m.ends.close(m.Clock)
		m.forget()
		return interpreter.Signal{}, err
	}
	m.retire(outcome)
	return outcome, nil
}

// carryOut runs the Map Run to its end and returns its result. It returns an error if it cannot continue in this
// process.
func (m *Run) carryOut(ctx context.Context) (interpreter.Signal, error) {
	output, err := m.process(ctx)
	var gone *abandonedError
	switch {
	case m.Closing.Err() != nil:
		//nolint:contextcheck // the engine's life, not a new context
		return interpreter.Signal{}, context.Cause(m.Closing)
	case errors.As(err, &gone):
		return interpreter.Signal{}, gone.err
	case err == nil:
		return interpreter.Signal{Kind: interpreter.MapRunSucceeded, ID: m.ID, Output: jsonvalue.TextDocument(output)},
			nil
	case m.failure == nil:
		err = orAborted(ctx, err)
	}
	return interpreter.Signal{Kind: interpreter.MapRunFailed, ID: m.ID, Failure: mapRunFailure(err)}, nil
}

// mapRunFailure converts an error to the failure that the workflow sees.
func mapRunFailure(err error) history.Failure {
	var f *history.Failure
	if errors.As(err, &f) {
		return history.NewFailure(f.Name, f.Cause)
	}
	return history.NewFailure(plan.ErrRuntime, err.Error())
}

// orAborted returns err or, once the Map Run has been cancelled, the failure for that, because the cancellation may
// have caused err.
func orAborted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return &history.Failure{Name: aborted.Name, Cause: aborted.Cause}
}

// abandonedError reports that a child execution was given up because the journal refused it.
type abandonedError struct{ err error }

func (e *abandonedError) Error() string { return e.err.Error() }

func (m *Run) process(ctx context.Context) (string, error) {
	defer func() { m.sink.abort() }()
	m.takeOver()
	if err := m.prepare(ctx); err != nil {
		err = orAborted(ctx, err)
		m.fail(err)
		if e := m.loop(ctx); e != nil { // until the adopted children have ended
			return "", e
		}
		if e := m.restoreKept(context.WithoutCancel(ctx)); e != nil {
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
		m.Log.Warn("could not list the items of a failed Map Run that were not started", "mapRun", m.Call.ARN,
			"error", err)
	}
	if _, err := m.sink.finish(ctx); err != nil && ctx.Err() == nil {
		return "", err
	}
	return "", &history.Failure{Name: m.failure.Name, Cause: m.failure.Cause}
}

// prepare opens the source and the results of the Map Run and, if it is resumed, determines its progress.
func (m *Run) prepare(ctx context.Context) (err error) {
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

// loop starts children while there are items and capacity, and handles their ends, until nothing is left to do.
func (m *Run) loop(ctx context.Context) error {
	for {
		for n := 0; n < maxStarting && m.startable() && ctx.Err() == nil; n++ {
			if err := m.startNext(ctx); err != nil {
				m.fail(orAborted(ctx, err))
			}
		}
		if len(m.children) == 0 && (m.drained && len(m.redrivable) == 0 || m.failure != nil) {
			return nil //nolint:nilerr // the failure is kept, and told by the Map Run
		}
		if err := m.await(ctx); err != nil {
			return err
		}
	}
}

// startable reports whether there are items, or child executions to redrive, and capacity for another child.
func (m *Run) startable() bool {
	return m.failure == nil && (!m.drained || len(m.redrivable) > 0) && len(m.children) < m.room() &&
		m.starting.Load() < maxStarting
}

// startNext redrives a child execution, or starts the one for the next batch of items.
func (m *Run) startNext(ctx context.Context) error {
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
	m.starting.Add(1)
	m.countRunning(1, b.items) // before the child can begin
	c, err := m.Host.Register(history.Info{
		ARN: arn, MachineARN: m.Machine.ARN, Express: m.Machine.Express,
		Origin:    history.Origin{Name: name, Input: b.input, Revision: m.Parent.Revision},
		MapRunARN: m.Call.ARN, FirstItem: b.first, Items: b.items, LastItem: b.mark,
	}, m.onBegin, m.onEnd)
	if err != nil {
		m.countRunning(-1, -b.items)
		m.starting.Add(-1)
		return err
	}
	m.children[arn] = c
	return nil
}

// countRunning adds to the numbers of running child executions and of their items.
func (m *Run) countRunning(children, items int64) {
	m.count(func(ofItems, ofChildren *journal.Tally) { ofItems.Running += items; ofChildren.Running += children })
}

// childBegan counts a child whose start has been stored. The worker that runs the child calls it.
func (m *Run) childBegan() {
	if m.starting.Add(-1) == maxStarting/2 {
		m.ends.wake(m.Clock)
	}
}

// childEnded puts an ended child into the inbox. The worker that runs the child calls it.
func (m *Run) childEnded(x *journal.Execution) { m.ends.put(m.Clock, x) }

// await waits until a child has ended or another can be started, and handles all that have ended. If the Map Run is
// cancelled, it stops its children and continues to wait for them; if the engine closes, it gives up.
func (m *Run) await(ctx context.Context) error {
	if m.ends.empty() && (ctx.Err() != nil || !m.startable()) {
		m.Clock.Release()
		err := m.ends.wait(ctx, m.Closing, m.failure != nil)
		m.Clock.Hold()
		if err != nil && m.Closing.Err() != nil {
			return context.Cause(m.Closing) //nolint:contextcheck // the engine's life, not a new context
		}
		if err != nil {
			m.fail(orAborted(ctx, err))
		}
	}
	for _, x := range m.ends.take(m.Clock) {
		c := m.children[x.ARN]
		delete(m.children, x.ARN)
		if !x.Ended() {
			return &abandonedError{c.Err()}
		}
		m.countRunning(-1, -x.Items)
		if err := m.ended(x); err != nil {
			m.fail(err)
		}
	}
	m.judge(m.drained)
	return nil
}

// ended counts the end of a child and passes its result on.
func (m *Run) ended(x *journal.Execution) error {
	m.count(func(items, executions *journal.Tally) {
		items.End(x.Status, x.Items)
		executions.End(x.Status, 1)
		m.about.Note(x)
	})
	return m.sink.add(x)
}
