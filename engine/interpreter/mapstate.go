package interpreter

import (
	"strconv"

	"stepback/asl/jsonvalue"
	"stepback/engine/history"
	"stepback/engine/plan"
)

// inlineConcurrency is how many iterations of an inline Map run at once at the most.
const inlineConcurrency = 40

// mapItems are the items of a Map state that come from its input.
type mapItems struct {
	values []jsonvalue.Value
	keys   []string // of an object's members, distributed Map only
}

func (m *mapItems) len() int { return len(m.values) }

func (x *Execution) runMap(t *thread) bool {
	m := t.state.Map
	in, ok := x.selectPayload(t, t.state.InputPath, t.input, "InputPath")
	if !ok {
		return false
	}
	t.env.over(in)
	concurrency, ok := x.mapNumber(t, m.MaxConcurrency)
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
	f := &fan{owner: t, items: items, left: items.len(), threads: make([]*thread, items.len()), results: make([]*Payload, items.len())}
	t.mapInput = in
	t.children = f
	f.started = x.emit(history.Event{Type: history.MapStateStarted, Previous: t.last, More: &history.Details{Length: int64(items.len())}})
	f.last = f.started
	if items.len() == 0 {
		f.finish(x)
		return false
	}
	limit := inlineConcurrency
	if concurrency > 0 {
		limit = min(limit, int(concurrency))
	}
	for range min(limit, items.len()) {
		f.iterate(x, f.started)
	}
	return false
}

// iterate starts the next iteration.
func (f *fan) iterate(x *Execution, previous int64) {
	if x.status != Running || f.owner.children != f {
		return
	}
	t := f.owner
	i := f.next
	f.next++
	id := x.emit(history.Event{Type: history.MapIterationStarted, Previous: previous, Name: t.state.Name, More: iteration(i)})
	in := ValuePayload(f.items.values[i])
	if s := t.state.Map.ItemSelector; s != nil {
		t.env.over(t.mapInput)
		t.env.at(mapItem(int64(i), f.items.values[i], "", ""))
		v, err := s.Eval(&t.env)
		t.env.at(nil)
		if err != nil {
			f.selectorFailed(x, i, id, err)
			return
		}
		in = ValuePayload(v)
	}
	f.launch(x, i, t.state.Map.Processor, in, id)
}

// selectorFailed fails the Map because the input of an iteration could not be built.
func (f *fan) selectorFailed(x *Execution, index int, cause int64, err error) {
	t := f.owner
	x.emit(history.Event{Type: history.MapIterationFailed, Previous: cause, Name: t.state.Name, More: iteration(index)})
	f.abort(x, cause)
	t.last = cause
	x.goOn(t, x.expressionError(t, err, "ItemSelector", t.mapInput))
}

// items finds what a Map without a reader iterates over.
func (x *Execution) items(t *thread, in *Payload) (*mapItems, bool) {
	m := t.state.Map
	v, path := in.Value(), "$"
	if m.ItemsPath != nil {
		path = m.ItemsPath.Text()
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

// mapNumber evaluates a whole number of a Map state; an absent one is 0. A path may find it as a string.
func (x *Execution) mapNumber(t *thread, n plan.Number) (float64, bool) {
	switch {
	case !n.Present:
		return 0, true
	case n.Path == nil:
		return n.Literal, true
	}
	v, err := t.env.Lookup(n.Path)
	if err != nil {
		return 0, x.expressionError(t, err, n.Field+"Path", t.env.input)
	}
	i, err := strconv.ParseInt(v.Text(), 10, 64)
	if v.Kind() != jsonvalue.Number && v.Kind() != jsonvalue.String || err != nil {
		return 0, x.notA(t, n, v, "integer")
	}
	return float64(i), true
}

func (x *Execution) notA(t *thread, n plan.Number, v jsonvalue.Value, kind string) bool {
	shown := v.JSON()
	if v.Kind() == jsonvalue.String {
		shown = v.Text()
	}
	return x.runtimeError(t, "The "+n.Field+"Path field refers to value \""+shown+"\" which is not a valid "+kind+": "+n.Path.Text())
}
