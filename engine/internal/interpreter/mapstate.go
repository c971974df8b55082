package interpreter

import (
	"errors"
	"strconv"

	"stepback/asl"
	"stepback/asl/expression"
	"stepback/asl/jsonpath"
	"stepback/engine/history"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
)

// inlineConcurrency is the maximum number of concurrent iterations of an inline Map.
const inlineConcurrency = 40

// mapItems holds the items of a Map state that are taken from its input.
type mapItems struct {
	values []jsonvalue.Value
	keys   []string // member names of an object; distributed Map only
}

func (m *mapItems) len() int { return len(m.values) }

func (x *Execution) runMap(t *thread) bool {
	m := t.state.Map
	in, ok := x.selectPayload(t, t.state.InputPath, t.input, "InputPath")
	if !ok {
		return false
	}
	t.env.over(in)
	concurrency, ok := x.count(t, m.MaxConcurrency)
	if !ok {
		return false
	}
	var items *mapItems
	if m.Reader == nil {
		if items, ok = x.items(t, in); !ok {
			return false
		}
	}
	if m.Distributed {
		return x.startMapRun(t, in, items, int64(concurrency))
	}
	f := &fan{owner: t, items: items, left: items.len(), threads: make([]*thread, items.len()),
		results: make([]*jsonvalue.Document, items.len())}
	t.mapInput = in
	t.children = f
	f.started = x.emit(history.Event{Type: history.MapStateStarted, Previous: t.last,
		More: &history.Details{Length: int64(items.len())}})
	f.last = f.started
	if items.len() == 0 {
		f.finish(x)
		return false
	}
	limit := inlineConcurrency
	if concurrency > 0 {
		limit = min(limit, int(concurrency))
	}
	f.limit = limit
	for range min(limit, items.len()) {
		f.iterate(x, f.started)
	}
	return false
}

// iterate starts the next iteration.
func (f *fan) iterate(x *Execution, previous int64) {
	if x.status != history.Running || f.owner.children != f {
		return
	}
	t := f.owner
	i := f.next
	id := x.emit(history.Event{Type: history.MapIterationStarted, Previous: previous, Name: t.state.Name,
		More: iteration(i)})
	in := jsonvalue.ValueDocument(f.items.values[i])
	if s := t.state.Map.ItemSelector; s != nil {
		t.env.over(t.mapInput)
		t.env.at(mapItem(int64(i), f.items.values[i], "", ""))
		v, err := t.env.eval(s)
		t.env.at(nil)
		if err != nil {
			f.selectorFailed(x, i, id, err)
			return
		}
		f.next = i + 1
		if in = jsonvalue.ValueDocument(v); !in.Fits(MaxPayload) {
			t.last = id
			f.refused(x, i, tooLarge(t.state.Name))
			return
		}
	}
	f.next = i + 1
	f.launch(x, i, t.state.Map.Processor, in, id)
}

// selectorFailed fails the Map because an iteration's input could not be built.
func (f *fan) selectorFailed(x *Execution, index int, started int64, err error) {
	t := f.owner
	t.last = started
	var evaluation *expression.Error
	if errors.As(err, &evaluation) {
		f.refused(x, index, x.writeEvaluationFailed(t, started, evaluation.Field, evaluation.Error()))
		return
	}
	f.refused(x, index, failure{Failure: x.expressionFailure(t, err, "ItemSelector", t.mapInput)})
}

// refused fails the Map because an iteration cannot start. The events follow from the start of the iteration, or from
// the failed evaluation.
func (f *fan) refused(x *Execution, index int, cause failure) {
	t := f.owner
	if cause.Name != plan.ErrRuntime { // States.Runtime ends the execution at once
		x.emit(history.Event{Type: history.MapIterationFailed, Previous: t.last, Name: t.state.Name,
			More: iteration(index)})
		f.abort(x, t.last)
	}
	x.failed(t, cause)
}

// items returns the items of a Map without a reader.
func (x *Execution) items(t *thread, in *jsonvalue.Document) (*mapItems, bool) {
	m := t.state.Map
	if t.state.Language == asl.JSONata {
		return x.queriedItems(t)
	}
	v, path := in.Value(), "$"
	if m.ItemsPath != nil {
		path = m.ItemsPath.Text()
		if m.ItemsPath.Root() == jsonpath.Context {
			path = path[1:] // the form that the service writes
		}
		var err error
		if v, err = t.env.Lookup(m.ItemsPath); err != nil {
			return nil, x.expressionError(t, err, "ItemsPath", in)
		}
	}
	switch {
	case v.Kind() == jsonvalue.Array:
		return &mapItems{values: v.Elements()}, true
	case v.Kind() == jsonvalue.Object && m.Distributed:
		return &mapItems{values: v.Elements(), keys: v.Keys()}, true
	default:
		return nil, x.runtimeError(t, "Reference path \""+path+"\" must point to array.")
	}
}

// queriedItems returns the items of a Map in JSONata.
func (x *Execution) queriedItems(t *thread) (*mapItems, bool) {
	m, v := t.state.Map, t.input.Value()
	if m.Items != nil {
		var ok bool
		if v, ok = x.evaluate(t, m.Items); !ok {
			return nil, false
		}
	}
	switch {
	case v.Kind() == jsonvalue.Array:
		return &mapItems{values: v.Elements()}, true
	case v.Kind() == jsonvalue.Object && m.Distributed:
		return &mapItems{values: v.Elements(), keys: v.Keys()}, true
	case m.Items == nil:
		return nil, x.evaluationFailed(t, "", "Map state input must be an array but was: "+v.JSON())
	default:
		return nil, x.failUnexpectedType(t, m.Items, "array", v)
	}
}

// maxMapNumber is the largest value used for a number of a Map state. Larger values also mean no limit, but could
// not be converted back to integers.
const maxMapNumber = 1 << 53

// mapNumber evaluates a whole number of a Map state. If the field is absent, it returns 0. If the field is a path,
// the value may also be a string.
func (x *Execution) mapNumber(t *thread, n plan.Number) (float64, bool) {
	switch {
	case !n.Present:
		return 0, true
	case n.Expression != nil:
		i, ok := x.whole(t, n, 0)
		return float64(min(i, maxMapNumber)), ok
	case n.Path == nil:
		return min(n.Literal, maxMapNumber), true
	}
	v, err := t.env.Lookup(n.Path)
	if err != nil {
		return 0, x.expressionError(t, err, n.Field+"Path", t.env.input)
	}
	i, err := strconv.ParseInt(v.Text(), 10, 64)
	if v.Kind() != jsonvalue.Number && v.Kind() != jsonvalue.String || err != nil {
		return 0, x.notA(t, n, v, "integer")
	}
	return float64(min(i, maxMapNumber)), true
}

// count evaluates a whole number of a Map state that must not be negative.
func (x *Execution) count(t *thread, n plan.Number) (float64, bool) {
	v, ok := x.mapNumber(t, n)
	if ok && v < 0 {
		return 0, x.runtimeError(t, n.Field+" cannot be negative.")
	}
	return v, ok
}

func (x *Execution) notA(t *thread, n plan.Number, v jsonvalue.Value, kind string) bool {
	return x.runtimeError(t, "The "+n.Field+"Path field refers to value \""+plainText(v)+"\" which is not a valid "+
		kind+": "+n.Path.Text())
}
