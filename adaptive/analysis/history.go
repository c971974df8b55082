package analysis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/engine/history"
)

// Execution describes an execution, besides its events, for [Collector.AddHistory].
type Execution struct {
	// ARN is the execution's ARN.
	ARN string
	// Rules is the ID of the Retry arrays with which it runs, see [Collector.Rules]; empty if they are unknown.
	Rules string
	// MapRun is the ARN of the Map Run of a child execution; empty for other executions.
	MapRun string
	// Ended is true if the execution has ended.
	Ended bool
}

// AddHistory adds the history of one execution; its events may be in any order. If the history has gaps, it is used
// up to the first one: what follows a gap is not guessed.
func (c *Collector) AddHistory(x Execution, events []history.Event) {
	c.read.Executions++
	if !x.Ended {
		c.read.Running++
	}
	r := &reading{x: x, add: c.Add}
	if !slices.IsSortedFunc(events, byID) {
		events = slices.Clone(events)
		slices.SortFunc(events, byID)
	}
	r.read(events)
	if r.gaps {
		c.read.Gaps++
	}
	c.read.CutByGaps += r.cut
}

func byID(a, b history.Event) int { return int(a.ID - b.ID) }

// reading holds the state of reading one history.
type reading struct {
	x        Execution
	add      func(Task)
	attempts history.AttemptReader
	open     map[int64]*visit // by the ID of the event that entered the state
	gaps     bool
	cut      int
}

// visit is a task that has not been left.
type visit struct {
	Task
	newest   int64 // ID of its newest event
	underWay bool  // its last attempt has not ended
}

func (r *reading) read(events []history.Event) {
	r.open = map[int64]*visit{}
	// An execution starts with event 1. If that is missing or numbers are skipped, events are missing.
	r.gaps = len(events) > 0 && events[0].ID > 1
	for i := range events {
		e := &events[i]
		if i > 0 && e.ID == events[i-1].ID {
			continue // a duplicate event
		}
		if i > 0 && e.ID != events[i-1].ID+1 {
			r.gaps = true
		}
		r.event(e)
	}
	r.cutOff()
}

// cutOff ends all open visits as Cut, in the order of their newest events.
func (r *reading) cutOff() {
	byNewest := func(a, b *visit) int { return cmp.Compare(a.newest, b.newest) }
	for _, v := range slices.SortedFunc(maps.Values(r.open), byNewest) {
		r.end(v, Cut)
	}
	clear(r.open)
}

func (r *reading) event(e *history.Event) {
	if e.Type == history.ExecutionRedriven {
		r.cutOff()
	}
	c := r.attempts.Read(e)
	if c.Left != nil {
		r.leave(c.Left.Entered, e)
	}
	switch {
	case e.Type == history.TaskStateEntered:
		r.open[e.ID] = &visit{newest: e.ID, Task: Task{
			Execution: r.x.ARN, State: e.Name, Rules: r.x.Rules, MapRun: r.x.MapRun,
		}}
	case c.Attempt != nil:
		r.attempt(e, c)
	}
}

// attempt copies an event's change into the visit of its state. It ignores the change if there is no open visit, as
// after a redrive or a gap.
func (r *reading) attempt(e *history.Event, c history.Change) {
	a := c.Attempt
	v := r.open[a.Entered]
	// of a durable function, which enters no state
	if a.Task == history.DurableStep && c.Begins && (v == nil || !a.Retry()) {
		if v != nil { // it asked to be repeated, without an error
			r.leave(a.Entered, e)
		}
		v = &visit{newest: e.ID, Task: Task{Execution: r.x.ARN, State: a.State, Callee: "step " + a.State, Rules: r.x.Rules, Step: true}}
		r.open[a.Entered] = v
	}
	if v != nil && c.Begins && !a.Retry() && len(v.Attempts) > 0 { // its output could not be evaluated
		r.leave(a.Entered, e)
		v = nil
	}
	if v == nil {
		if c.Begins && r.gaps {
			r.cut++ // an attempt whose task is unknown
		}
		return
	}
	v.newest = e.ID
	if c.Begins || !v.underWay && a.Over() {
		start := a.Scheduled
		if start.ID == 0 {
			start = a.Ended
		}
		callee, bytes := calleeOf(a)
		v.Callee = cmp.Or(callee, v.Callee)
		v.Attempts = append(v.Attempts, Attempt{Start: start.At(), Bytes: bytes})
	}
	v.underWay = !a.Over()
	last := &v.Attempts[len(v.Attempts)-1]
	last.End = a.Ended.At()
	if a.Failed() {
		last.Error = cmp.Or(a.Failure.Name, "States.TaskFailed")
	}
}

// leave ends the visit that began with event entered. e is the later event that shows that the state was left.
func (r *reading) leave(entered int64, e *history.Event) {
	v := r.open[entered]
	if v == nil {
		return
	}
	delete(r.open, entered)
	switch e.Type {
	case history.TaskStateAborted, history.ExecutionAborted, history.ExecutionTimedOut, history.MapIterationAborted,
		history.MapStateAborted, history.ParallelStateAborted:
		r.end(v, Cut)
	default:
		r.end(v, GivenUp)
	}
}

// end adds a visit's task to the collector. ending applies if the last attempt does not determine the ending itself.
func (r *reading) end(v *visit, ending Ending) {
	if len(v.Attempts) == 0 {
		return
	}
	v.Ending = ending
	switch last := &v.Attempts[len(v.Attempts)-1]; {
	case v.underWay:
		v.Ending = Cut
	case !last.failed():
		v.Ending = Done
	case r.gaps && ending == Cut:
		r.cut++
	}
	r.add(v.Task)
}

// calleeOf returns the function or action that an attempt calls, and the size of its request in bytes. For a
// function that is the size of the payload, otherwise of all parameters.
func calleeOf(a *history.Attempt) (name string, bytes int) {
	bytes = len(a.Input)
	if a.Call == nil {
		return "", bytes
	}
	resource := a.Call.Resource
	if a.Call.ResourceType == "lambda" {
		var asked struct {
			FunctionName string
			Payload      json.RawMessage
		}
		if json.Unmarshal([]byte(a.Input), &asked) == nil && asked.FunctionName != "" {
			return "lambda " + functionName(asked.FunctionName), len(asked.Payload)
		}
	}
	if _, name, ok := strings.Cut(resource, ":function:"); ok {
		return "lambda " + functionName(":function:"+name), bytes
	}
	if a.Call.ResourceType == "" {
		return resource, bytes
	}
	return fmt.Sprintf("%s %s", a.Call.ResourceType, resource), bytes
}

// functionName extracts the name from a function's ARN or partial ARN, without version or alias.
func functionName(arn string) string {
	if _, name, ok := strings.Cut(arn, "function:"); ok {
		arn = name
	}
	name, _, _ := strings.Cut(arn, ":")
	return name
}
