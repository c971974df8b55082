package interpreter

import (
	"context"
	"math"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// MapRunCall is a distributed Map for the shell to run. It says what the items are, how they become inputs of child
// executions, how many child executions run concurrently, how many may fail, and where the results are written.
type MapRunCall struct {
	ARN   string
	State *plan.State
	// Redrive is the number of redrives of the Map Run. In a redrive, the child executions that ended without
	// success are redriven.
	Redrive int64
	// Label is the label in the child executions' state machine: <machine>/<label>.
	Label string
	// Items are the items of the state's input; nil if a reader supplies them. Keys are set only if the input is an
	// object: they are the names of its members.
	Items []jsonvalue.Value
	Keys  []string

	MaxConcurrency             int64 // 0 means as many as the service allows
	ToleratedFailureCount      int64
	ToleratedFailurePercentage float64

	ReaderParameters jsonvalue.Value
	MaxItems         jsonvalue.Value // null if absent
	WriterParameters jsonvalue.Value

	MaxItemsPerBatch      int64 // 0 means no limit
	MaxInputBytesPerBatch int64 // 0 means no limit
	BatchInput            *jsonvalue.Value

	env   env // a snapshot: the parent may continue while items are selected
	input *jsonvalue.Document
}

// ItemSelectorError reports that the input of a child execution could not be built. It holds the name and cause with
// which the Map Run fails.
type ItemSelectorError struct{ history.Failure }

// Error implements error.
func (e *ItemSelectorError) Error() string { return e.Name + ": " + e.Cause }

// Select applies the ItemSelector to one item. It may be called from one goroutine at a time, even while the parent
// execution continues. The error is an *ItemSelectorError, or that of ctx, which interrupts the evaluation.
func (c *MapRunCall) Select(ctx context.Context, index int64, item jsonvalue.Value, key, source string) (jsonvalue.Value, error) {
	s := c.State.Map.ItemSelector
	if s == nil {
		return item, nil
	}
	c.env.at(mapItem(index, item, key, source))
	var v jsonvalue.Value
	var err error
	if ended := c.env.x.whileSelecting(ctx, func() { v, err = c.env.eval(s) }); ended != nil {
		return v, ended
	}
	if err != nil {
		c.env.t.env = c.env // for the error message
		return v, &ItemSelectorError{c.env.x.expressionFailure(c.env.t, err, s.Field, c.input)}
	}
	return v, nil
}

// startMapRun writes the events for the start of a distributed Map and passes it to the shell.
func (x *Execution) startMapRun(t *thread, in *jsonvalue.Document, items *mapItems, concurrency int64) bool {
	m := t.state.Map
	length := int64(0)
	if items != nil {
		length = int64(items.len())
	}
	t.last = x.emit(history.Event{Type: history.MapStateStarted, Previous: t.last,
		More: &history.Details{Length: length}})
	call := &MapRunCall{State: t.state, Label: m.Label, MaxConcurrency: concurrency, input: in}
	if items != nil {
		call.Items, call.Keys = items.values, items.keys
	}
	if !x.mapRunFields(t, in, call) {
		return false
	}
	call.ARN = strings.Replace(x.info.MachineARN, ":stateMachine:", ":mapRun:", 1) + "/" + m.Label + ":" +
		aws.DrawUUID(x.random.Uint64)
	call.env = x.snapshot(t, in)
	t.last = x.emit(history.Event{Type: history.MapRunStarted, Previous: t.last,
		More: &history.Details{MapRunARN: call.ARN}})
	t.mapRunStarted = t.last
	x.awaitMapRun(t, call)
	return false
}

// snapshot copies the data that an ItemSelector can access, so that it can be evaluated while the execution
// continues.
func (x *Execution) snapshot(t *thread, in *jsonvalue.Document) env {
	x.executionContext()
	in.Value()
	t.input.Value()
	frozen := &Execution{machine: x.machine, info: x.info, now: x.now, aboutRun: x.aboutRun, aboutModel: x.aboutModel,
		random: aws.Random{Seed: x.random.Uint64()}, input: x.input}
	return env{x: frozen, t: &thread{state: t.state, input: t.input, entered: t.entered, entryID: t.entryID,
		retried: t.retried, vars: t.vars.flat()}, input: in}
}

// flat copies the variables that are visible in a scope into a single scope.
func (v *variables) flat() *variables {
	out := &variables{values: map[string]jsonvalue.Value{}}
	for s := v; s != nil; s = s.outer {
		for name, value := range s.values {
			if _, inner := out.values[name]; !inner {
				out.values[name] = value
			}
		}
	}
	return out
}

// mapRunFields evaluates the fields that a Map Run needs: those for tolerated failures, the reader, the batcher and
// the result writer.
func (x *Execution) mapRunFields(t *thread, in *jsonvalue.Document, c *MapRunCall) bool {
	m := t.state.Map
	t.env.over(in)
	count, ok := x.count(t, m.ToleratedFailureCount)
	if !ok {
		return false
	}
	c.ToleratedFailureCount = int64(count)
	if c.ToleratedFailurePercentage, ok = x.percentage(t, m.ToleratedFailurePercentage); !ok {
		return false
	}
	return x.readerFields(t, in, c) && x.batcherFields(t, in, c) && x.writerFields(t, in, c)
}

func (x *Execution) percentage(t *thread, n plan.Number) (float64, bool) {
	p := n.Literal
	if n.Expression != nil {
		v, ok := x.evaluate(t, n.Expression)
		if !ok {
			return 0, false
		}
		if v.Kind() != jsonvalue.Number {
			return 0, x.failUnexpectedType(t, n.Expression, "number", v)
		}
		p = v.Float()
	}
	if n.Path != nil {
		v, err := t.env.Lookup(n.Path)
		if err != nil {
			return 0, x.expressionError(t, err, n.Field+"Path", t.env.input)
		}
		p, err = strconv.ParseFloat(v.Text(), 64)
		if v.Kind() != jsonvalue.Number && v.Kind() != jsonvalue.String || err != nil || math.IsNaN(p) {
			return 0, x.notA(t, n, v, "float")
		}
	}
	if outside := p < 0 || p > 100; outside && n.Expression != nil {
		return 0, x.evaluationFailed(t, n.Expression.Field(), "ToleratedFailurePercentage must be between 0 and 100.")
	} else if outside {
		return 0, x.runtimeError(t, "ToleratedFailurePercentage must be between 0 and 100.")
	}
	return p, true
}

func (x *Execution) readerFields(t *thread, in *jsonvalue.Document, c *MapRunCall) bool {
	r := t.state.Map.Reader
	if r == nil {
		return true
	}
	if r.Parameters != nil {
		v, err := t.env.eval(r.Parameters)
		if err != nil {
			return x.expressionError(t, err, r.Parameters.Field, in)
		}
		c.ReaderParameters = v
	}
	if !r.MaxItems.Present {
		return true
	}
	n, ok := x.mapNumber(t, r.MaxItems)
	c.MaxItems = jsonvalue.OfInt(int64(n))
	return ok
}

func (x *Execution) batcherFields(t *thread, in *jsonvalue.Document, c *MapRunCall) bool {
	b := t.state.Map.Batcher
	if b == nil {
		return true
	}
	n, ok := x.mapNumber(t, b.MaxItemsPerBatch)
	if !ok {
		return false
	}
	c.MaxItemsPerBatch = int64(n)
	if n, ok = x.mapNumber(t, b.MaxInputBytesPerBatch); !ok {
		return false
	}
	c.MaxInputBytesPerBatch = int64(n)
	if b.BatchInput != nil {
		v, err := t.env.eval(b.BatchInput)
		if err != nil {
			return x.expressionError(t, err, b.BatchInput.Field, in)
		}
		c.BatchInput = &v
	}
	return true
}

func (x *Execution) writerFields(t *thread, in *jsonvalue.Document, c *MapRunCall) bool {
	w := t.state.Map.Writer
	if w == nil || w.Parameters == nil {
		return true
	}
	v, err := t.env.eval(w.Parameters)
	if err != nil {
		return x.expressionError(t, err, w.Parameters.Field, in)
	}
	c.WriterParameters = v
	return true
}

// mapRunEnded handles the end of a Map Run. As in the service, the state's exit follows from the start of the run.
func (x *Execution) mapRunEnded(t *thread, e *Signal) {
	if e.Kind == MapRunFailed {
		if e.Failure.Name == plan.ErrDataLimitExceeded || e.Failure.Name == plan.ErrRuntime {
			t.mapRun = nil // a redrive starts a new one
		}
		t.last = x.emit(history.Event{Type: history.MapRunFailed, Previous: t.last,
			More: &history.Details{Failure: e.Failure}})
		x.failed(t, failure{Failure: e.Failure})
		return
	}
	id := x.emit(history.Event{Type: history.MapRunSucceeded, Previous: t.last})
	x.emit(history.Event{Type: history.MapStateSucceeded, Previous: id})
	t.children, t.mapRun = nil, nil
	if !e.Output.Fits(MaxPayload) {
		x.failed(t, tooLarge(t.state.Name))
		return
	}
	x.complete(t, e.Output, t.mapRunStarted)
}
