package simulation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"stepback/asl"
	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/plan"
	"stepback/engine/simulation/machine"
	"stepback/engine/simulation/oracle"
)

// longest is the number of events after which an execution is stopped: random machines may loop for ever.
const longest = 3000

// year is the maximum duration of an execution before it is stopped; the service allows no more.
const year = 365 * 24 * time.Hour

// core is one simulation of the interpreter alone, with the smallest possible code around it and a clock that jumps
// from event to event.
type core struct {
	*draws
	model  *machine.Machine
	plan   *plan.Plan
	info   *history.Info
	x      *interpreter.Execution
	events []interpreter.Signal // applied so far
	done   []interpreter.Result
	status []history.Status // after each event
	ledger ledger

	now     time.Time
	late    time.Duration // how late timers may fire
	stopped bool
	history []history.Event
	pending []happening
	stale   []interpreter.Signal // events of cancelled tasks, timers and Map Runs; they may still arrive
}

// simulateCore runs one simulation and returns the first fault found, or nil.
func simulateCore(d *draws) error {
	c := &core{draws: d, now: machine.Epoch}
	err := c.simulate()
	if err != nil {
		return &Failure{Err: err, Definition: c.model.Definition(), Input: c.info.Input, Events: c.events,
			History: c.history}
	}
	return nil
}

// simulate draws a machine, runs it once and judges the outcome.
func (c *core) simulate() error {
	d := c.draws
	c.model = machine.Random(d, machine.Limits{
		States: 4, Depth: 3, Kinds: []machine.Kind{machine.Integration, machine.Function, machine.Token, machine.Job,
			machine.Activity},
	})
	parsed, diagnostics := asl.Parse(c.model.Definition())
	if asl.HasErrors(diagnostics) {
		return errors.New(asl.InvalidDefinition(diagnostics))
	}
	var err error
	if c.plan, err = plan.Compile(parsed); err != nil {
		return err
	}
	c.info = &history.Info{
		ARN:        "arn:aws:states:us-east-1:000000000000:execution:m:e",
		MachineARN: "arn:aws:states:us-east-1:000000000000:stateMachine:m",
		Origin:     history.Origin{Name: "e", Input: d.payload()},
	}
	c.x = interpreter.New(interpreter.Machine{Plan: c.plan, Name: "m"}, c.info)
	if d.one(3) {
		c.late = 200 * time.Millisecond
	}
	if err := c.run(interpreter.Start); err != nil {
		return err
	}
	if err := c.judge(); err != nil {
		return err
	}
	return c.redrive()
}

// run drives the execution from a signal to its next end.
func (c *core) run(first interpreter.SignalKind) error {
	stopAt, crashAt := -1, -1
	if c.one(6) {
		stopAt = c.Intn(30)
	}
	if c.one(2) {
		crashAt = c.Intn(30)
	}
	if err := c.step(interpreter.Signal{Kind: first}); err != nil {
		return err
	}
	for n := 0; c.x.Status() == history.Running; n++ {
		if n == crashAt {
			if err := c.crash(); err != nil {
				return fmt.Errorf("after a crash: %w", err)
			}
		}
		if c.idle() {
			return errors.New("the execution waits for nothing")
		}
		e, ok := c.next()
		if !ok || n == stopAt || len(c.history) > longest || c.now.Sub(machine.Epoch) > year {
			c.stopped = true
			e = interpreter.Signal{Kind: interpreter.Stop, Failure: history.NewFailure("Stopped", "because")}
		}
		if err := c.step(e); err != nil {
			return err
		}
		if err := c.nothing(); err != nil {
			return err
		}
	}
	return nil
}

// idle reports whether nothing more can happen to the execution except the end of its maximum duration.
func (c *core) idle() bool {
	return c.ledger.tasks() == 0 && !slices.ContainsFunc(c.pending, func(h happening) bool { return h.event.ID >= 0 })
}

// next picks one of the signals due next and moves time to it.
func (c *core) next() (interpreter.Signal, bool) {
	if len(c.pending) == 0 {
		return interpreter.Signal{}, false
	}
	first := slices.MinFunc(c.pending, func(a, b happening) int { return a.at.Compare(b.at) }).at
	var at []int
	for i := range c.pending {
		if c.pending[i].at.Equal(first) && !c.blocked(i) {
			at = append(at, i)
		}
	}
	i := pick(c.draws, at...)
	e := c.pending[i].event
	c.pending = slices.Delete(c.pending, i, i+1)
	if first.After(c.now) {
		c.now = first
	}
	return e, true
}

// blocked returns true if pending event i must wait, because an earlier pending event comes from the same task.
func (c *core) blocked(i int) bool {
	e := &c.pending[i].event
	return e.Kind != interpreter.TimerFired && slices.ContainsFunc(c.pending[:i], func(h happening) bool {
		return h.event.ID == e.ID && h.event.Kind != interpreter.TimerFired && h.event.Kind != interpreter.Continue &&
			e.Kind != interpreter.Continue
	})
}

// step applies one signal and handles its effects.
func (c *core) step(e interpreter.Signal) error {
	e.At, e.Seed = c.now, uint64(len(c.events)+1)*0x9E3779B97F4A7C15
	var r interpreter.Result
	c.x.Step(&e, &r)
	c.applied(e, r)
	c.history = append(c.history, r.History...)
	if err := c.ledger.take(&e, &r, c.x.Status()); err != nil {
		return fmt.Errorf("step %d: %w", len(c.events), err)
	}
	for i := range r.Effects {
		c.carryOut(&r.Effects[i])
	}
	return nil
}

func (c *core) applied(e interpreter.Signal, r interpreter.Result) {
	c.events, c.done, c.status = append(c.events, e), append(c.done, r), append(c.status, c.x.Status())
}

func (c *core) carryOut(f *interpreter.Effect) {
	switch f.Kind {
	case interpreter.InvokeTask:
		c.pending = append(c.pending, c.answers(f.ID, f.Task, c.now)...)
	case interpreter.StartMapRun:
		c.pending = append(c.pending, c.mapRun(f.ID, c.now)...)
	case interpreter.SetTimer:
		at := f.At
		if c.late > 0 {
			at = at.Add(time.Duration(c.Intn(3)) * c.late / 2)
		}
		c.pending = append(c.pending, happening{at, interpreter.Signal{Kind: interpreter.TimerFired, ID: f.ID}})
	case interpreter.Yield:
		c.pending = append(c.pending, happening{c.now, interpreter.Signal{Kind: interpreter.Continue}})
	case interpreter.CancelTask, interpreter.CancelTimer, interpreter.CancelMapRun:
		c.pending = slices.DeleteFunc(c.pending, func(h happening) bool {
			if h.event.ID != f.ID || h.event.Kind == interpreter.Continue {
				return false
			}
			c.stale = append(c.stale, h.event)
			return true
		})
	case interpreter.Finish:
		c.pending = nil
	}
}

// nothing sometimes delivers a stale report, and checks that it changes nothing.
func (c *core) nothing() error {
	yielded := slices.ContainsFunc(c.pending, func(h happening) bool { return h.event.Kind == interpreter.Continue })
	if yielded || len(c.stale) == 0 || !c.one(4) { // any signal makes an execution that has yielded continue
		return nil
	}
	e := pick(c.draws, c.stale...)
	e.At, e.Seed = c.now, 1
	var r interpreter.Result
	c.x.Step(&e, &r)
	c.applied(e, r)
	if !r.Idle() {
		c.history = append(c.history, r.History...)
		return fmt.Errorf("a report for %d, for which nothing is waiting, has effects", e.ID)
	}
	return nil
}

// judge checks the history with the oracle, and that it can be reproduced from the signals.
func (c *core) judge() error {
	if err := oracle.Check(c.subject()); err != nil {
		return err
	}
	_, err := replay(c.plan, c.info, c.events, c.done)
	return err
}

// subject returns the execution in the oracle's form.
func (c *core) subject() *oracle.Subject {
	return &oracle.Subject{
		Root: c.model.Root, TimeoutSeconds: c.model.TimeoutSeconds, Input: c.info.Input, History: c.history,
		Status: string(c.x.Status()), Stopped: c.stopped, Lateness: c.late,
	}
}
