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

// Recovered says what Recover found.
type Recovered struct {
	// Executions are back at work. Those of their Map Runs are only counted, as Children.
	Executions []Resumed
	Children   int
	// Left are the executions that could not be gone on with. The journal keeps them as they were.
	Left []Unrecovered
	// Aborted counts child executions that were ended because nobody waits for them any more.
	Aborted int
}

// Resumed is an execution that goes on, and the time of the last step before, of its own or of a child execution that
// goes on too.
type Resumed struct {
	ARN, Name   string
	Interrupted time.Time
}

// Unrecovered is an execution that could not be gone on with, and why.
type Unrecovered struct {
	ARN string
	Err error
}

// DivergedError says that the events of an execution give another history now than when they were applied: the journal
// is damaged, or the execution was begun by a version of stepback that ran it differently.
type DivergedError struct {
	Step      int // from 0
	Then, Now []history.Event
}

// Error implements error.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("replaying step %d gives another history than is kept: %s, not %s", e.Step, types(e.Now),
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

// Recover goes on with the executions of the engine's account and region that had not ended when an earlier engine on
// the same journal stopped. Each is replayed from its events, and what it was waiting for is asked for again: tasks are
// invoked once more, timers run for the rest of their time, Map Runs go on with the items that have no child execution
// yet. Call it once, before anything is started. An execution that cannot be gone on with is no error but one of
// Recovered.Left; the error is one of the journal, of the context or of Config.Recovered, and then nothing has been set
// going.
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
	if e.cfg.Recovered != nil {
		if err := e.cfg.Recovered(ctx, &r.found); err != nil {
			return nil, err
		}
	}
	r.setGoing()
	return &r.found, nil
}

// recovery is the work of Recover.
type recovery struct {
	engine   *Engine
	machines map[string]*StateMachine         // by definition ID
	waiting  map[string][]*journal.Unfinished // child executions whose parents are not replayed yet, by Map Run
	mapRuns  []mapRunOf                       // Map Runs to go on with whose children are not replayed yet
	trees    [][]*run                         // executions, each with all of its child executions
	found    Recovered
}

// mapRunOf is a Map Run of a replayed execution.
type mapRunOf struct {
	parent *run
	tree   int
	call   *interpreter.MapRunCall
}

// read replays the executions that are not children and collects those that are.
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
		mocks, err := c.engine.mocks(m.Name, u.TestCase)
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

// machine compiles what an execution runs, once for all that run the same.
func (c *recovery) machine(ctx context.Context, u *journal.Unfinished) (*StateMachine, error) {
	if m := c.machines[u.Definition]; m != nil {
		return m.as(u.MachineARN), nil
	}
	m, err := c.engine.machineOf(ctx, u.Execution)
	if err == nil {
		c.machines[u.Definition] = m
	}
	return m, err
}

// machineOf compiles what an execution runs.
func (e *Engine) machineOf(ctx context.Context, x *journal.Execution) (*StateMachine, error) {
	d, err := e.cfg.Journal.Definition(ctx, x.Definition)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, fmt.Errorf("its definition %q is not kept", x.Definition)
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
	return m.as(x.MachineARN), nil
}

// as is the machine under another ARN.
func (m *StateMachine) as(arn string) *StateMachine {
	if m.ARN == arn {
		return m
	}
	copied := *m
	copied.ARN = arn
	return &copied
}

func (c *recovery) leave(u *journal.Unfinished, err error) {
	c.engine.log.Error("an execution cannot be gone on with; it is left as it was", "execution", u.ARN, "error", err)
	c.found.Left = append(c.found.Left, Unrecovered{u.ARN, err})
}

// replay brings an execution to where it was; nil means that it is left alone.
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

// replayChildren replays the child executions of the Map Runs that have been found.
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

// catchUp lets the time of an execution and its children go on from their latest event, even if the clock says that
// this is still to come: it was set back, or the execution ran in virtual time.
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

// setGoing makes everything known and lets it run. Child executions wait for their Map Runs.
func (c *recovery) setGoing() {
	e := c.engine
	e.mu.Lock()
	for _, tree := range c.trees {
		for _, r := range tree {
			e.runs[r.record.ARN] = r
		}
	}
	e.mu.Unlock()
	for _, tree := range c.trees {
		tree[0].goOn()
	}
}
