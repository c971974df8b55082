package interpreter

import (
	"time"

	"stepback/asl"
	"stepback/asl/jsonvalue"
	"stepback/engine/plan"
)

// Isolation makes an execution run its first state alone, as TestState does. The state ends the execution whatever comes next;
// the branches and iterations of Parallel and Map states are not run: what the whole state comes to is awaited like the result of
// a task, under an InvokeTask effect whose Task is nil and, of a Map, whose MapRun says what would be run.
type Isolation struct {
	// Variables is an object with the variables that exist before the state; null means none.
	Variables jsonvalue.Value
	// Context takes the place of the context object; null means the execution's own.
	Context jsonvalue.Value
	// Retried is how many retries the retrier that is asked first has already made.
	Retried int64
	// Trace is told what the state does on its way. It must not keep what it is given.
	Trace Trace
}

// Stage is a point in the data flow of a state, named as TestState names it.
type Stage string

// The stages, in the order in which a state goes through them. A state in JSONPath has those of the paths, one in JSONata
// those that hold no path.
const (
	StageInput             Stage = "input"
	StageInputPath         Stage = "afterInputPath"
	StageParameters        Stage = "afterParameters"
	StageArguments         Stage = "afterArguments"
	StageItemsPath         Stage = "afterItemsPath"
	StageItemSelector      Stage = "afterItemSelector"
	StageMaxConcurrency    Stage = "maxConcurrency"
	StageFailureCount      Stage = "toleratedFailureCount"
	StageFailurePercentage Stage = "toleratedFailurePercentage"
	StageResult            Stage = "result"
	StageResultSelector    Stage = "afterResultSelector"
	StageResultPath        Stage = "afterResultPath"
	StageVariables         Stage = "variables"
)

// Trace follows an isolated state.
type Trace interface {
	// Data is what the state's data is at a stage.
	Data(stage Stage, data *Payload)
	// Retry says that an element of Retry takes the state's failure and runs it again after a delay.
	Retry(index int, delay time.Duration)
	// Exhausted says that an element of Retry takes the failure and has no attempt left.
	Exhausted(index int)
	// Catch says that an element of Catch takes the failure.
	Catch(index int)
	// Next says which state would come next; nil at the end of the scope.
	Next(s *plan.State)
}

// NewIsolated returns an execution that runs the first state of a plan alone and waits for its Start event. It ends with the
// state's output, or fails as the state does; a state that would be retried leaves it running with nothing to wait for.
func NewIsolated(p *plan.Plan, info Info, i Isolation) *Execution {
	x := New(p, info)
	x.alone = &i
	return x
}

// trace tells whoever follows an isolated state what its data is.
func (x *Execution) trace(stage Stage, data *Payload) {
	if x.alone != nil && x.alone.Trace != nil {
		x.alone.Trace.Data(stage, data)
	}
}

func (x *Execution) traceInputPath(s *plan.State, data *Payload) {
	if s.Language == asl.JSONPath {
		x.trace(StageInputPath, data)
	}
}

// traceParameters is trace for what a state is run with.
func (x *Execution) traceParameters(s *plan.State, data *Payload) {
	switch {
	case s.Language == asl.JSONPath:
		x.trace(StageParameters, data)
	case s.Parameters != nil:
		x.trace(StageArguments, data)
	}
}

// left tells where an isolated state would have gone.
func (i *Isolation) left(t *thread, next *plan.State) {
	if i.Trace != nil {
		i.Trace.Data(StageVariables, ValuePayload(t.vars.object()))
		i.Trace.Next(next)
	}
}

// runAgain runs a state again after a delay; an isolated one stops here.
func (x *Execution) runAgain(t *thread, retrier int, delay time.Duration) {
	if x.alone == nil {
		t.timeout = x.timer(t, retryDelay, delay)
	} else if x.alone.Trace != nil {
		x.alone.Trace.Retry(retrier, delay)
	}
}

func (x *Execution) exhausted(retrier int) {
	if x.alone != nil && x.alone.Trace != nil {
		x.alone.Trace.Exhausted(retrier)
	}
}

func (x *Execution) catching(catcher int) {
	if x.alone != nil && x.alone.Trace != nil {
		x.alone.Trace.Catch(catcher)
	}
}

// isolatedMap evaluates everything that a Map state has before its first iteration and waits for what it comes to.
func (x *Execution) isolatedMap(t *thread, in *Payload, items *mapItems, concurrency int64) bool {
	m := t.state.Map
	if items != nil && t.state.Language == asl.JSONPath {
		x.trace(StageItemsPath, ValuePayload(items.value()))
	}
	c, ok := x.mapRunCall(t, in, items, concurrency)
	if !ok {
		return false
	}
	x.trace(StageMaxConcurrency, ValuePayload(jsonvalue.OfInt(c.MaxConcurrency)))
	if m.ToleratedFailureCount.Present {
		x.trace(StageFailureCount, ValuePayload(jsonvalue.OfInt(c.ToleratedFailureCount)))
	}
	if m.ToleratedFailurePercentage.Present {
		x.trace(StageFailurePercentage, ValuePayload(jsonvalue.OfFloat(c.ToleratedFailurePercentage)))
	}
	if m.ItemSelector != nil && items != nil {
		selected := make([]jsonvalue.Value, items.len())
		for i, v := range items.values {
			t.env.at(mapItem(int64(i), v, items.key(i), ""))
			v, err := t.env.eval(m.ItemSelector)
			t.env.at(nil)
			if err != nil {
				return x.expressionError(t, err, m.ItemSelector.Field, in)
			}
			selected[i] = v
		}
		x.trace(StageItemSelector, ValuePayload(jsonvalue.OfArray(selected)))
	}
	return x.awaitWhole(t, c)
}

// awaitWhole waits for what a Parallel or Map state comes to instead of running it.
func (x *Execution) awaitWhole(t *thread, m *MapRunCall) bool {
	w := x.await(t, taskResult)
	w.task = &TaskCall{State: t.state.Name}
	t.work = w.id
	x.effect(Effect{Kind: InvokeTask, ID: w.id, Task: w.task, MapRun: m})
	return false
}

// wholeEnded takes what a Parallel or Map state that was not run came to.
func (x *Execution) wholeEnded(t *thread, e *Event) {
	t.endWork(x, false)
	switch e.Kind {
	case TaskSucceeded:
		x.complete(t, e.Output, t.last)
	case TaskFailed:
		x.failed(t, failure{Failure: e.Failure})
	default:
	}
}
