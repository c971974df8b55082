package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
	"stepback/internal/ctxerr"
)

// Recovered reports the result of Recover.
type Recovered struct {
	// Executions are the executions that have resumed. Child executions of their Map Runs are only counted, in
	// Children.
	Executions []Resumed
	Children   int
	// Left are the executions that could not be resumed. The journal keeps them unchanged.
	Left []Unrecovered
	// Aborted counts child executions that were ended because no Map Run waits for them any more.
	Aborted int
}

// Resumed is an execution that continues. Interrupted is the time of the last earlier step of the execution or of one
// of its resumed child executions.
type Resumed struct {
	ARN, Name   string
	Interrupted time.Time
}

// Unrecovered is an execution that could not be resumed, with the reason.
type Unrecovered struct {
	ARN string
	Err error
}

// DivergedError reports that replaying the signals of an execution yields a different history than when they were
// first applied: the journal is damaged, or the execution was started by a version of stepback that ran it
// differently.
type DivergedError struct {
	Step      int // from 0
	Then, Now []history.Event
}

// Error implements error.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("replaying step %d gives a different history than the stored one: %s, not %s", e.Step, types(e.Now),
		types(e.Then))
}

func types(events []history.Event) string {
	if len(events) == 0 {
		return "nothing"
	}
	var b strings.Builder
	for i := range events {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(events[i].Type.String())
	}
	return b.String()
}

// Recover resumes the executions of the engine's account and region that had not ended when an earlier engine on the
// same journal stopped. Each one is replayed from its signals, and everything it was waiting for is requested again:
// tasks are invoked once more, timers run for the rest of their time, and Map Runs continue with the items that have
// no child execution yet. Call it once, before any execution is started. An execution that cannot be resumed is not
// an error; it is listed in Recovered.Left. An error comes from the journal, the context or Config.Recovered; in that
// case no execution has been resumed. RecoverInBackground does the same while the engine already works.
func (e *Engine) Recover(ctx context.Context) (*Recovered, error) {
	c := e.newRecovery(e.cfg.Workers)
	err := c.read(ctx, c.begin(ctx), func(batch []*journal.Unfinished) []*journal.Unfinished { return batch },
		func(batch []replayed) error {
			for i := range batch {
				c.add(&batch[i])
			}
			return nil
		})
	if err == nil {
		err = c.restoreTrees(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("recovering executions: %w", err)
	}
	if e.cfg.Recovered != nil {
		if err := e.cfg.Recovered(ctx, &c.found); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	c.registerTrees()
	e.mu.Unlock()
	c.resumeTrees()
	return &c.found, nil
}

// recovery holds the state of one recovery.
type recovery struct {
	engine   *Engine
	workers  int                              // goroutines that replay
	machines *compiled                        // the machines of the executions
	waiting  map[string][]*journal.Unfinished // child executions whose parents have not been replayed yet, by Map Run
	mapRuns  []mapRunOf                       // Map Runs to resume whose children have not been replayed yet
	trees    [][]*run                         // executions, each with all of its child executions
	found    Recovered
}

func (e *Engine) newRecovery(workers int) *recovery {
	return &recovery{engine: e, workers: max(1, workers), machines: &compiled{engine: e},
		waiting: map[string][]*journal.Unfinished{}}
}

// mapRunOf is a Map Run of a replayed execution.
type mapRunOf struct {
	parent *run
	tree   int
	call   *interpreter.MapRunCall
}

// replayed is an execution with its run, or with the reason why it cannot be resumed. A child execution has neither.
type replayed struct {
	*journal.Unfinished
	run *run
	err error
}

// recoveryBatch is the number of executions that are replayed together.
const recoveryBatch = 256

// unread yields the unfinished executions as they were when begin was called.
type unread struct {
	next  func() (*journal.Unfinished, error, bool)
	stop  func()
	first *journal.Unfinished
	err   error
	more  bool
}

// begin starts to read the unfinished executions.
func (c *recovery) begin(ctx context.Context) *unread {
	u := &unread{}
	u.next, u.stop = iter.Pull2(c.engine.cfg.Journal.Unfinished(ctx, c.engine.names.executions()))
	u.first, u.err, u.more = u.next()
	return u
}

// batches sends the executions in batches.
func (u *unread) batches(ctx context.Context, to chan<- []*journal.Unfinished) error {
	defer u.stop()
	var batch []*journal.Unfinished
	for x, err, ok := u.first, u.err, u.more; ; x, err, ok = u.next() {
		if ok && err != nil {
			return err
		}
		if ok {
			batch = append(batch, x)
		}
		if len(batch) == recoveryBatch || !ok && len(batch) > 0 {
			select {
			case to <- batch:
			case <-ctx.Done():
				return ctxerr.Of(ctx)
			}
			batch = nil
		}
		if !ok {
			return nil
		}
	}
}

// read replays the unfinished executions, one batch after the other, while the next one is read. take returns the
// executions of a batch to replay; put gets the results in the same order.
func (c *recovery) read(ctx context.Context, from *unread, take func([]*journal.Unfinished) []*journal.Unfinished,
	put func([]replayed) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	batches := make(chan []*journal.Unfinished, 1)
	var unreadable, err error
	go func() {
		defer close(batches)
		unreadable = from.batches(ctx, batches)
	}()
	for batch := range batches {
		if err == nil {
			err = put(c.replayAll(ctx, take(batch)))
		}
		if err != nil {
			stop()
		}
	}
	if err != nil {
		return err
	}
	return unreadable
}

// replayAll replays executions, several at a time.
func (c *recovery) replayAll(ctx context.Context, batch []*journal.Unfinished) []replayed {
	all := make([]replayed, len(batch))
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(batch); i = int(next.Add(1)) - 1 {
			all[i].Unfinished = batch[i]
			if batch[i].MapRunARN == "" {
				all[i].run, all[i].err = c.restore(ctx, batch[i])
			}
		}
	}
	var others sync.WaitGroup
	for range min(c.workers, len(batch)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return all
}

// restore replays an execution that is not the child of a Map Run.
func (c *recovery) restore(ctx context.Context, u *journal.Unfinished) (*run, error) {
	m, err := c.machines.of(ctx, u.Execution)
	if err != nil {
		return nil, err
	}
	mocks, err := c.engine.interceptorFor(m.Name, u.TestCase)
	if err != nil {
		return nil, err
	}
	return c.engine.replay(u, m, mocks)
}

// add adds an execution to the trees, or to the child executions that wait for their parents.
func (c *recovery) add(x *replayed) {
	switch {
	case x.MapRunARN != "":
		c.waiting[x.MapRunARN] = append(c.waiting[x.MapRunARN], x.Unfinished)
	case x.err != nil:
		c.leave(x.Unfinished, x.err)
	default:
		c.findMapRuns(x.run, len(c.trees))
		c.trees = append(c.trees, []*run{x.run})
		c.found.Executions = append(c.found.Executions, Resumed{ARN: x.ARN, Name: x.Name})
	}
}

// compiled holds the machines of unfinished executions, which are compiled once for all executions that share a
// definition. It is safe for concurrent use.
type compiled struct {
	engine *Engine

	mu       sync.Mutex
	machines map[[2]string]*StateMachine // by definition ID and ARN
}

// of returns the machine of an execution.
func (c *compiled) of(ctx context.Context, x *journal.Execution) (*StateMachine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{x.Definition, x.MachineARN}
	if m := c.machines[key]; m != nil {
		return m, nil
	}
	m, err := c.engine.machineOf(ctx, x)
	if err == nil {
		if c.machines == nil {
			c.machines = map[[2]string]*StateMachine{}
		}
		c.machines[key] = m
	}
	return m, err
}

// machineOf compiles the definition of an execution.
func (e *Engine) machineOf(ctx context.Context, x *journal.Execution) (*StateMachine, error) {
	d, err := e.cfg.Journal.Definition(ctx, x.Definition)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, fmt.Errorf("its definition %q is missing", x.Definition)
	}
	if err != nil {
		return nil, err
	}
	m, err := e.Compile(Definition{
		Name: d.MachineName, Text: d.Text, RoleARN: d.RoleARN, Express: d.Express,
	})
	if err != nil {
		return nil, fmt.Errorf("its definition is refused: %w", err)
	}
	return m.withARN(x.MachineARN), nil
}

// withARN returns the machine under another ARN.
func (m *StateMachine) withARN(arn string) *StateMachine {
	if m.ARN == arn {
		return m
	}
	copied := *m
	copied.ARN = arn
	return &copied
}

func (c *recovery) leave(u *journal.Unfinished, err error) {
	c.engine.log.Error("an execution cannot be resumed; it was left unchanged", "execution", u.ARN, "error", err)
	c.found.Left = append(c.found.Left, Unrecovered{u.ARN, err})
	c.engine.trackUnfinished(u.Execution, u.Steps, nil)
}

// replay restores an execution to its last state.
func (e *Engine) replay(u *journal.Unfinished, m *StateMachine, mocks Interceptor) (*run, error) {
	r := e.runOf(m, u.Execution, mocks)
	if err := r.replay(u.Steps); err != nil {
		return nil, err
	}
	return r, nil
}

// findMapRuns notes the Map Runs that an execution of a tree waits for.
func (c *recovery) findMapRuns(r *run, tree int) {
	for i := range r.result.Effects {
		if call := r.result.Effects[i].MapRun; call != nil {
			c.mapRuns = append(c.mapRuns, mapRunOf{r, tree, call})
		}
	}
}

// restoreTrees replays the child executions of all trees, and ends those that no Map Run waits for. Nothing of the
// trees runs yet.
func (c *recovery) restoreTrees(ctx context.Context) error {
	for len(c.mapRuns) > 0 {
		c.replayChildren()
	}
	c.catchUp()
	if err := c.abortOrphans(ctx); err != nil {
		return err
	}
	for _, tree := range c.trees {
		for _, x := range tree {
			x.beginTracking(x.history, true)
		}
	}
	return nil
}

// replayChildren replays the child executions of the Map Runs found so far.
func (c *recovery) replayChildren() {
	mapRuns := c.mapRuns
	c.mapRuns = nil
	for _, m := range mapRuns {
		machine := m.parent.childMachine(m.call)
		adopted := []*run{}
		for _, u := range c.waiting[m.call.ARN] {
			r, err := c.engine.replay(u, machine, m.parent.mocks)
			if err != nil {
				c.leave(u, err)
				continue
			}
			c.findMapRuns(r, m.tree)
			adopted = append(adopted, r)
			c.trees[m.tree] = append(c.trees[m.tree], r)
			c.found.Children++
		}
		delete(c.waiting, m.call.ARN)
		c.adopt(m.call.ARN, adopted)
	}
}

// adopt keeps the child executions of a Map Run until the Map Run resumes.
func (c *recovery) adopt(mapRun string, children []*run) {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.engine.adopted[mapRun] = children
}

// catchUp makes the time of an execution and its children continue from their latest event, even if the clock has not
// reached it yet because it was set back or the execution ran in virtual time.
func (c *recovery) catchUp() {
	now := c.engine.clock.Now()
	for i, tree := range c.trees {
		c.found.Executions[i].Interrupted = catchUp(tree, now)
	}
}

// catchUp sets how far the time of a tree is ahead of the clock, and returns the time of its latest step.
func catchUp(tree []*run, now time.Time) (latest time.Time) {
	for _, r := range tree {
		if r.last.After(latest) {
			latest = r.last
		}
	}
	for _, r := range tree {
		r.ahead = max(0, latest.Sub(now))
	}
	return latest
}

// registerTrees makes the executions of all trees known. It is called with the engine's lock.
func (c *recovery) registerTrees() {
	for _, tree := range c.trees {
		for _, r := range tree {
			c.engine.runs[r.record.ARN] = r
		}
	}
}

// resumeTrees lets all trees run. Child executions wait for their Map Runs.
func (c *recovery) resumeTrees() {
	for _, tree := range c.trees {
		tree[0].resume()
	}
}
