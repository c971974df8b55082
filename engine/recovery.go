package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/journal"
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
// case no execution has been resumed.
func (e *Engine) Recover(ctx context.Context) (*Recovered, error) {
	r := &recovery{engine: e, machines: map[string]*StateMachine{}, waiting: map[string][]*journal.Unfinished{}}
	if err := r.read(ctx); err != nil {
		return nil, fmt.Errorf("recovering executions: %w", err)
	}
	for len(r.mapRuns) > 0 {
		r.replayChildren()
	}
	r.catchUp()
	if err := r.abortOrphans(ctx); err != nil {
		return nil, fmt.Errorf("recovering executions: %w", err)
	}
	for _, tree := range r.trees {
		for _, x := range tree {
			x.beginTracking(x.history, true)
		}
	}
	if e.cfg.Recovered != nil {
		if err := e.cfg.Recovered(ctx, &r.found); err != nil {
			return nil, err
		}
	}
	r.resumeAll()
	return &r.found, nil
}

// recovery holds the state of one Recover call.
type recovery struct {
	engine   *Engine
	machines map[string]*StateMachine         // by definition ID
	waiting  map[string][]*journal.Unfinished // child executions whose parents have not been replayed yet, by Map Run
	mapRuns  []mapRunOf                       // Map Runs to resume whose children have not been replayed yet
	trees    [][]*run                         // executions, each with all of its child executions
	found    Recovered
}

// mapRunOf is a Map Run of a replayed execution.
type mapRunOf struct {
	parent *run
	tree   int
	call   *interpreter.MapRunCall
}

// read replays the parent executions and collects the child executions.
func (c *recovery) read(ctx context.Context) error {
	for u, err := range c.engine.cfg.Journal.Unfinished(ctx, c.engine.names.executions()) {
		if err != nil {
			return err
		}
		if u.MapRunARN != "" {
			c.waiting[u.MapRunARN] = append(c.waiting[u.MapRunARN], u)
			continue
		}
		m, err := c.machine(ctx, u)
		if err != nil {
			c.leave(u, err)
			continue
		}
		mocks, err := c.engine.interceptorFor(m.Name, u.TestCase)
		if err != nil {
			c.leave(u, err)
			continue
		}
		if r := c.replay(u, m, mocks, len(c.trees)); r != nil {
			c.trees = append(c.trees, []*run{r})
			c.found.Executions = append(c.found.Executions, Resumed{ARN: u.ARN, Name: u.Name})
		}
	}
	return nil
}

// machine compiles the definition of an execution, once for all executions that share it.
func (c *recovery) machine(ctx context.Context, u *journal.Unfinished) (*StateMachine, error) {
	if m := c.machines[u.Definition]; m != nil {
		return m.withARN(u.MachineARN), nil
	}
	m, err := c.engine.machineOf(ctx, u.Execution)
	if err == nil {
		c.machines[u.Definition] = m
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

// replay restores an execution to its last state. It returns nil if the execution is left alone.
func (c *recovery) replay(u *journal.Unfinished, m *StateMachine, mocks Interceptor, tree int) *run {
	r := c.engine.runOf(m, u.Execution, mocks)
	if err := r.replay(u.Steps); err != nil {
		c.leave(u, err)
		return nil
	}
	for i := range r.result.Effects {
		if call := r.result.Effects[i].MapRun; call != nil {
			c.mapRuns = append(c.mapRuns, mapRunOf{r, tree, call})
		}
	}
	return r
}

// replayChildren replays the child executions of the Map Runs found so far.
func (c *recovery) replayChildren() {
	mapRuns := c.mapRuns
	c.mapRuns = nil
	for _, m := range mapRuns {
		machine := m.parent.childMachine(m.call)
		adopted := []*run{}
		for _, u := range c.waiting[m.call.ARN] {
			if r := c.replay(u, machine, m.parent.mocks, m.tree); r != nil {
				adopted = append(adopted, r)
				c.trees[m.tree] = append(c.trees[m.tree], r)
				c.found.Children++
			}
		}
		delete(c.waiting, m.call.ARN)
		c.engine.adopted[m.call.ARN] = adopted
	}
}

// catchUp makes the time of an execution and its children continue from their latest event, even if the clock has not
// reached it yet because it was set back or the execution ran in virtual time.
func (c *recovery) catchUp() {
	now := c.engine.clock.Now()
	for i, tree := range c.trees {
		latest := tree[0].last
		for _, r := range tree {
			if r.last.After(latest) {
				latest = r.last
			}
		}
		c.found.Executions[i].Interrupted = latest
		for _, r := range tree {
			r.ahead = max(0, latest.Sub(now))
		}
	}
}

// resumeAll registers all replayed executions and lets them run. Child executions wait for their Map Runs.
func (c *recovery) resumeAll() {
	e := c.engine
	e.mu.Lock()
	for _, tree := range c.trees {
		for _, r := range tree {
			e.runs[r.record.ARN] = r
		}
	}
	e.mu.Unlock()
	for _, tree := range c.trees {
		tree[0].resume()
	}
}
