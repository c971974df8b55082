package engine

import (
	"context"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/maprun"
	"stepback/engine/internal/plan"
	"stepback/engine/itemreader"
	"stepback/engine/journal"
	"stepback/engine/resultwriter"
)

// Objects is the object store that ItemReaders read from and ResultWriters write to. If it implements
// itemreader.Versions, a Map Run that resumes after a crash notices when its items have changed.
type Objects interface {
	itemreader.Objects
	resultwriter.Objects
}

// startMapRun starts or resumes a Map Run on behalf of a step.
func (r *run) startMapRun(id int64, call *interpreter.MapRunCall) {
	e := r.engine
	ctx, cancel := r.cancellable(id)
	e.mu.Lock()
	adopted, resumed := e.adopted[call.ARN]
	delete(e.adopted, call.ARN)
	if e.recovering != nil {
		e.recovering.began[call.ARN] = true
	}
	e.mu.Unlock()
	child := r.childMachine(call)
	m := maprun.New(ctx, maprun.Config{
		ID: id, Call: call, Parent: &r.record.Info, Machine: maprun.Machine{ARN: child.ARN, Express: child.Express},
		Host:  &mapRunHost{parent: r, child: child, redrive: call.Redrive},
		Clock: e.clock, Journal: e.cfg.Journal, Objects: e.cfg.Objects, Formats: e.cfg.Formats, TempDir: e.cfg.TempDir,
		Log: e.log, Closing: e.ctx, Adopted: childrenOf(adopted), Resumed: resumed,
		Forget: func() {
			e.mu.Lock()
			delete(e.mapRuns, call.ARN)
			e.mu.Unlock()
		},
	})
	e.mu.Lock()
	e.mapRuns[call.ARN] = m
	e.mu.Unlock()
	e.clock.Hold()
	e.tasks.Add(1)
	go func() {
		defer e.tasks.Done()
		defer e.clock.Release()
		defer cancel()
		outcome, err := m.CarryOut(ctx)
		switch {
		case err == nil:
			r.deliver(outcome)
		case e.ctx.Err() == nil:
			r.giveUp(err)
		}
	}()
}

// childMachine returns the state machine of a Map Run's child executions: the processor under a labelled name.
func (r *run) childMachine(call *interpreter.MapRunCall) *StateMachine {
	m := r.machine
	return &StateMachine{
		ARN: m.ARN + "/" + call.Label, Name: m.Name + "/" + call.Label, RoleARN: m.RoleARN,
		Express: call.State.Map.Express, plan: &plan.Plan{Root: call.State.Map.Processor},
		started: &history.Details{RoleARN: m.RoleARN},
	}
}

// mapRunHost implements maprun.Host for the Map Runs of one execution.
type mapRunHost struct {
	parent  *run
	child   *StateMachine
	redrive int64 // number of the Map Run's redrive; 0 means none
}

// Register implements maprun.Host.
func (h *mapRunHost) Register(info history.Info, began func(), ended func(*journal.Execution)) (maprun.Child, error) {
	r := h.parent.engine.newRun(h.child, info)
	r.mocks, r.began = h.parent.mocks, began
	return h.begin(r, r.start(), ended)
}

// Reopen implements maprun.Host.
func (h *mapRunHost) Reopen(ctx context.Context, x *journal.Execution, ended func(*journal.Execution)) (maprun.Child,
	error) {
	e := h.parent.engine
	if x.Express {
		r := e.runOf(h.child, x, h.parent.mocks)
		r.restart()
		return h.begin(r, r.start(), ended)
	}
	if err := e.Redrivable(x); err != nil {
		return nil, err
	}
	r, err := e.reopen(ctx, x, h.child, h.parent.mocks)
	if err != nil {
		return nil, err
	}
	return h.begin(r, interpreter.Signal{Kind: interpreter.Redrive}, ended)
}

// begin starts a child execution.
func (h *mapRunHost) begin(r *run, first interpreter.Signal, ended func(*journal.Execution)) (maprun.Child, error) {
	r.ended, r.ahead = ended, max(r.ahead, h.parent.ahead)
	r.record.MapRunRedrive = h.redrive
	if err := h.parent.engine.register(r, first); err != nil {
		return nil, err
	}
	return r.asChild(), nil
}

// Now implements maprun.Host.
func (h *mapRunHost) Now() time.Time { return h.parent.engine.clock.Now().Add(h.parent.ahead) }

// restart resets the description of an ended execution to that of one about to start.
func (r *run) restart() {
	now := r.engine.clock.Now()
	r.record = journal.Execution{
		Info: r.record.Info, Status: history.Running, Start: now,
		RedriveCount: r.record.RedriveCount + 1, Redriven: now,
	}
}

// child implements maprun.Child for a run.
type child run

func (r *run) asChild() *child { return (*child)(r) }

func childrenOf(runs []*run) []maprun.Child {
	children := make([]maprun.Child, len(runs))
	for i, r := range runs {
		children[i] = r.asChild()
	}
	return children
}

// Info implements maprun.Child.
func (c *child) Info() *history.Info { return &c.record.Info }

// Follow implements maprun.Child.
func (c *child) Follow(ended func(*journal.Execution)) { c.ended = ended }

// GoOn implements maprun.Child.
func (c *child) GoOn() { (*run)(c).resume() }

// Stop implements maprun.Child.
func (c *child) Stop() { (*run)(c).deliverEnd(interpreter.Signal{Kind: interpreter.Stop}) }

// Err implements maprun.Child.
func (c *child) Err() error { return c.err }
