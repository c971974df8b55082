package analysis

import (
	"encoding/json"
	"fmt"
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
	// Closed is true for a child execution of a distributed Map.
	Closed bool
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
	x    Execution
	add  func(Task)
	open map[int64]*visit // by the ID of its newest event
	gaps bool
	cut  int
}

// visit is a task in progress.
type visit struct {
	Task
	underWay bool // its last attempt has not ended
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
	for _, v := range r.inOrder() {
		r.end(v, Cut)
	}
}

// inOrder returns the open visits, in the order of their newest events.
func (r *reading) inOrder() []*visit {
	ids := make([]int64, 0, len(r.open))
	for id := range r.open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	all := make([]*visit, len(ids))
	for i, id := range ids {
		all[i] = r.open[id]
	}
	return all
}

func (r *reading) event(e *history.Event) {
	if e.Type == history.TaskStateEntered {
		// Entering another state after a failure ends the previous visit.
		r.leave(e)
		r.open[e.ID] = &visit{Task: Task{
			Execution: r.x.ARN, State: e.Name, Rules: r.x.Rules, Closed: r.x.Closed,
		}}
		return
	}
	if e.Type == history.ExecutionRedriven {
		for _, v := range r.inOrder() {
			r.end(v, Cut)
		}
		clear(r.open)
		return
	}
	v := r.open[e.Previous]
	begins := stepOf(e.Type) == scheduled
	if v == nil {
		if begins && r.gaps {
			r.cut++ // an attempt whose task is unknown
		}
		return
	}
	if !r.moves(v, e) {
		r.leave(e)
		return
	}
	delete(r.open, e.Previous)
	r.open[e.ID] = v
}

// moves applies an event to a visit; false if the event does not belong to the visit.
func (r *reading) moves(v *visit, e *history.Event) bool {
	switch stepOf(e.Type) {
	case scheduled:
		if v.underWay {
			return false
		}
		callee, bytes := calleeOf(e)
		v.Callee = callee
		v.Attempts = append(v.Attempts, Attempt{Start: e.At(), Bytes: bytes})
		v.underWay = true
	case started:
	case succeeded:
		v.last(e).End = e.At()
		v.underWay = false
	case failed:
		a := v.last(e)
		a.End, a.Error = e.At(), "States.TaskFailed"
		if e.More != nil && e.More.Failure.Name != "" {
			a.Error = e.More.Failure.Name
		}
		v.underWay = false
	case elsewhere:
		return false
	}
	return true
}

// last returns the attempt that an end event belongs to; it adds one for an attempt that failed to be scheduled,
// which has no start event.
func (v *visit) last(e *history.Event) *Attempt {
	if !v.underWay {
		v.Attempts = append(v.Attempts, Attempt{Start: e.At()})
	}
	return &v.Attempts[len(v.Attempts)-1]
}

// leave ends the visit after which an event outside it follows.
func (r *reading) leave(e *history.Event) {
	v := r.open[e.Previous]
	if v == nil {
		return
	}
	delete(r.open, e.Previous)
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

// step is the role of an event in an attempt.
type step int

const (
	elsewhere step = iota
	scheduled
	started
	succeeded
	failed
)

func stepOf(t history.Type) step {
	switch t {
	case history.TaskScheduled, history.LambdaFunctionScheduled, history.ActivityScheduled:
		return scheduled
	case history.TaskStarted, history.LambdaFunctionStarted, history.ActivityStarted, history.TaskSubmitted:
		return started
	case history.TaskSucceeded, history.LambdaFunctionSucceeded, history.ActivitySucceeded:
		return succeeded
	case history.TaskFailed, history.TaskTimedOut, history.LambdaFunctionFailed, history.LambdaFunctionTimedOut,
		history.ActivityFailed, history.ActivityTimedOut, history.TaskStartFailed, history.TaskSubmitFailed,
		history.LambdaFunctionScheduleFailed, history.LambdaFunctionStartFailed, history.ActivityScheduleFailed:
		return failed
	default:
		return elsewhere
	}
}

// calleeOf returns what a scheduled event calls, and the size of the request: of the payload for a function,
// otherwise of all parameters.
func calleeOf(e *history.Event) (name string, bytes int) {
	bytes = len(e.Data)
	if e.More == nil {
		return "", bytes
	}
	resource := e.More.Resource
	if e.More.ResourceType == "lambda" {
		var asked struct {
			FunctionName string
			Payload      json.RawMessage
		}
		if json.Unmarshal([]byte(e.Data), &asked) == nil && asked.FunctionName != "" {
			return "lambda " + functionName(asked.FunctionName), len(asked.Payload)
		}
	}
	if _, name, ok := strings.Cut(resource, ":function:"); ok {
		return "lambda " + functionName(":function:"+name), bytes
	}
	if e.More.ResourceType == "" {
		return resource, bytes
	}
	return fmt.Sprintf("%s %s", e.More.ResourceType, resource), bytes
}

// functionName extracts the name from a function's ARN or partial ARN, without version or alias.
func functionName(arn string) string {
	if _, name, ok := strings.Cut(arn, "function:"); ok {
		arn = name
	}
	name, _, _ := strings.Cut(arn, ":")
	return name
}
