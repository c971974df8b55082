package interpreter

import (
	"maps"
	"slices"
	"time"

	"stepback/asl"
	"stepback/engine/history"
	"stepback/engine/internal/itembatcher"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// Stage is a step of a state's data flow, as TestState names it in inspectionData.
type Stage string

// The stages whose data a trial records.
const (
	AfterInputPath      Stage = "afterInputPath"
	AfterParameters     Stage = "afterParameters"
	AfterArguments      Stage = "afterArguments"
	TaskResult          Stage = "result"
	AfterResultSelector Stage = "afterResultSelector"
	AfterResultPath     Stage = "afterResultPath"
	AfterItemsPath      Stage = "afterItemsPath"
	AfterItemsPointer   Stage = "afterItemsPointer"
	AfterItemSelector   Stage = "afterItemSelector"
	AfterItemBatcher    Stage = "afterItemBatcher"
	Variables           Stage = "variables"
)

// The service's error name and cause for a Map state with too many failed iterations.
const (
	errThreshold   = "States.ExceedToleratedFailureThreshold"
	causeThreshold = "The specified tolerated failure threshold was exceeded"
)

// Trial is a single state that is run on its own, with its assumed surroundings and the recorded data. The
// execution of a trial ends when the state is exited, fails, or would be run again.
type Trial struct {
	State *plan.State
	// Retried is the number of retries that each retrier has already made.
	Retried int64
	// Context replaces the context object if it is set.
	Context *jsonvalue.Value
	// Variables is an object with the variables that are visible to the state; null means none.
	Variables jsonvalue.Value
	// Items replace the items that a Map state's ItemReader would read.
	Items *jsonvalue.Value
	// ItemsPointer is true if Items were found through an ItemsPointer.
	ItemsPointer bool
	// Result or Failure is the result of a Map or Parallel state. Tasks get their results from signals.
	Result  *jsonvalue.Document
	Failure *history.Failure
	// FailedIterations is the number of failed iterations of a Map state.
	FailedIterations int64

	// The recorded data. Stages holds the JSON text of each stage that was reached. The others are the numbers of a
	// Map state.
	Stages                                            map[Stage]string
	MaxConcurrency                                    *int64
	ToleratedFailureCount, ToleratedFailurePercentage *float64
	// Next is the state that would be entered next; empty if there is none.
	Next string
	// Retrier and Catcher are the indexes of the retrier and the catcher that handle the error. Backoff is set only
	// if the state would be retried: it is the delay before the retry.
	Retrier, Catcher *int
	Backoff          *time.Duration
	// Caught is the error that the catcher handles.
	Caught history.Failure
}

// NewTrial returns the execution of a trial, which expects its Start signal. It replaces the plan of m.
func NewTrial(tr *Trial, m Machine, info *history.Info) *Execution {
	m.Plan = &plan.Plan{Root: &plan.Graph{Start: tr.State, States: []*plan.State{tr.State}}}
	x := New(m, info)
	x.trial, tr.Stages = tr, map[Stage]string{}
	return x
}

// context returns the context object of a trial, with the item for which an ItemSelector is evaluated.
func (tr *Trial) context(item *jsonvalue.Value) jsonvalue.Value {
	if item == nil {
		return *tr.Context
	}
	m := jsonvalue.NewObject(1)
	m.Set("Item", *item)
	return tr.Context.With("Map", m.Value())
}

// trace records the data of a stage if the execution is a trial.
func (x *Execution) trace(s Stage, p *jsonvalue.Document) {
	if x.trial == nil || x.trial.State.Language == asl.JSONata && s != AfterArguments && s != TaskResult {
		return
	}
	if p.Fits(MaxPayload) { // the service's response cannot hold more
		x.trial.Stages[s] = p.Text()
	}
}

// traceResult records the input of ResultSelector and ResultPath, for states that have these fields.
func (x *Execution) traceResult(t *thread, s Stage, p *jsonvalue.Document) {
	switch t.state.Type {
	case asl.Pass, asl.Task, asl.Parallel, asl.Map:
		x.trace(s, p)
	default:
	}
}

// traceLiteral records the Result of a Pass state. It removes the recorded input, because the service does not show
// the input of such a state.
func (x *Execution) traceLiteral(result *jsonvalue.Document) {
	if x.trial != nil {
		delete(x.trial.Stages, AfterInputPath)
		delete(x.trial.Stages, AfterParameters)
		x.trace(TaskResult, result)
	}
}

// traceArguments records the value of Parameters or Arguments.
func (x *Execution) traceArguments(t *thread, p *jsonvalue.Document) {
	if t.state.Language != asl.JSONata {
		if t.state.Type == asl.Pass || t.state.Type == asl.Task {
			x.trace(AfterParameters, p)
		}
	} else if t.state.Parameters != nil && t.state.Type == asl.Task {
		x.trace(AfterArguments, p)
	}
}

// try prepares the state of a trial. It reports whether the trial is complete afterwards. That is the case for a
// Map or Parallel state, because its branches and iterations are never run.
func (x *Execution) try(t *thread) bool {
	tr := x.trial
	t.retried, t.retries = tr.Retried, make([]int64, len(tr.State.Retry))
	for i := range t.retries {
		t.retries[i] = tr.Retried
	}
	if tr.Variables.Len() > 0 {
		if _, ok := t.vars.set(tr.Variables); !ok {
			return x.runtimeError(t, "The size of the variables exceeds the limit.")
		}
	}
	switch {
	case tr.State.Map != nil:
		x.tryMap(t)
	case tr.State.Branches != nil:
		if _, ok := x.effectiveInput(t); ok {
			delete(tr.Stages, AfterInputPath) // the service does not show it
			x.tried(t)
		}
	default:
		return false
	}
	return true
}

// tried ends a Map or Parallel state with the result given in the trial.
func (x *Execution) tried(t *thread) {
	if f := x.trial.Failure; f != nil {
		x.failed(t, failure{Failure: *f})
		return
	}
	x.complete(t, x.trial.Result, t.last)
}

// tryMap evaluates the fields of a Map state.
func (x *Execution) tryMap(t *thread) {
	in, ok := x.selectPayload(t, t.state.InputPath, t.input, "InputPath")
	if !ok {
		return
	}
	x.trace(AfterInputPath, in)
	t.env.over(in)
	items, ok := x.trialItems(t, in)
	if !ok || !x.tryItemSelector(t, items) || !x.tryBatcher(t, in, items) || !x.tryTolerance(t) {
		return
	}
	if x.trial.Failure == nil && x.exceeded(items.len()) {
		x.failed(t, failure{Failure: history.NewFailure(errThreshold, causeThreshold)})
		return
	}
	x.tried(t)
}

// trialItems returns the items of a Map state under trial.
func (x *Execution) trialItems(t *thread, in *jsonvalue.Document) (*mapItems, bool) {
	if given := x.trial.Items; given != nil {
		if x.trial.ItemsPointer {
			x.trial.Stages[AfterItemsPointer] = given.JSON()
		}
		return &mapItems{values: given.Elements(), keys: given.Keys()}, true
	}
	if t.state.Map.Reader != nil {
		return &mapItems{}, true
	}
	items, ok := x.items(t, in)
	if ok && items.keys == nil {
		x.trace(AfterItemsPath, jsonvalue.ValueDocument(jsonvalue.OfArray(items.values)))
	}
	return items, ok
}

// tryItemSelector builds the input of every iteration.
func (x *Execution) tryItemSelector(t *thread, items *mapItems) bool {
	s := t.state.Map.ItemSelector
	if s == nil {
		return true
	}
	built := make([]jsonvalue.Value, items.len())
	for i, item := range items.values {
		t.env.at(mapItem(int64(i), item, "", ""))
		v, err := t.env.eval(s)
		t.env.at(nil)
		if err != nil {
			return x.expressionError(t, err, "ItemSelector", t.env.input)
		}
		built[i] = v
	}
	x.trial.Stages[AfterItemSelector] = jsonvalue.OfArray(built).JSON()
	items.values = built
	return true
}

// tryBatcher groups the inputs of the iterations into inputs of child executions.
func (x *Execution) tryBatcher(t *thread, in *jsonvalue.Document, items *mapItems) bool {
	if t.state.Map.Batcher == nil {
		return true
	}
	var c MapRunCall
	if !x.batcherFields(t, in, &c) {
		return false
	}
	cfg := itembatcher.Config{MaxItemsPerBatch: c.MaxItemsPerBatch, MaxInputBytesPerBatch: c.MaxInputBytesPerBatch}
	if c.BatchInput != nil {
		cfg.BatchInput = c.BatchInput.JSON()
	}
	inputs, err := itembatcher.All(cfg, items.values)
	if err != nil {
		return x.runtimeError(t, err.Error())
	}
	x.trial.Stages[AfterItemBatcher] = inputs
	return true
}

// tryTolerance evaluates the concurrency and tolerance numbers of a Map state.
func (x *Execution) tryTolerance(t *thread) bool {
	m, tr := t.state.Map, x.trial
	concurrency, ok := x.count(t, m.MaxConcurrency)
	if !ok {
		return false
	}
	whole := int64(concurrency)
	tr.MaxConcurrency = &whole
	for _, n := range []struct {
		from     plan.Number
		evaluate func(*thread, plan.Number) (float64, bool)
		to       **float64
	}{
		{m.ToleratedFailureCount, x.count, &tr.ToleratedFailureCount},
		{m.ToleratedFailurePercentage, x.percentage, &tr.ToleratedFailurePercentage},
	} {
		if !n.from.Present {
			continue
		}
		v, ok := n.evaluate(t, n.from)
		if !ok {
			return false
		}
		*n.to = &v
	}
	return true
}

// exceeded reports whether more iterations failed than the Map state tolerates. It returns false if the state sets
// no tolerance.
func (x *Execution) exceeded(items int) bool {
	tr := x.trial
	failed := float64(tr.FailedIterations)
	if failed == 0 {
		return false
	}
	if tr.ToleratedFailureCount == nil && tr.ToleratedFailurePercentage == nil {
		return false
	}
	const percent = 100
	return tr.ToleratedFailureCount != nil && failed > *tr.ToleratedFailureCount ||
		tr.ToleratedFailurePercentage != nil && items > 0 &&
			failed*percent/float64(items) > *tr.ToleratedFailurePercentage
}

// leaving returns the state with which a thread continues. In a trial, it only records the state and returns nil.
func (x *Execution) leaving(t *thread, next *plan.State) *plan.State {
	if x.trial == nil {
		return next
	}
	if len(t.vars.values) > 0 {
		b := jsonvalue.NewObject(len(t.vars.values))
		for _, name := range slices.Sorted(maps.Keys(t.vars.values)) {
			b.Set(name, t.vars.values[name])
		}
		x.trial.Stages[Variables] = b.Value().JSON()
	}
	if next != nil {
		x.trial.Next = next.Name
	}
	return nil
}

// traceRetrier records the retrier that matches a trial's error, whether or not it has attempts left.
func (x *Execution) traceRetrier(i int) {
	if x.trial != nil {
		x.trial.Retrier = &i
	}
}

// retriable ends a trial whose state would be retried. It reports whether the execution is a trial.
func (x *Execution) retriable(t *thread, f failure, delay time.Duration) bool {
	if x.trial == nil {
		return false
	}
	x.trial.Backoff = &delay
	x.fail(t.last, f.Failure)
	return true
}

// traceCatcher records the catcher that handles a trial's error.
func (x *Execution) traceCatcher(i int, f failure) {
	if x.trial != nil {
		x.trial.Catcher, x.trial.Retrier, x.trial.Caught = &i, nil, f.Failure
	}
}
