package oracle

import (
	"encoding/json"
	"errors"
	"fmt"

	"stepback/engine/history"
	"stepback/engine/simulation/machine"
)

// iterations is the maximum number of iterations of an inline Map that run at once.
const iterations = 40

// fan is one run of a Parallel state or an inline Map, with the threads inside it.
type fan struct {
	owner   *thread
	threads []*thread // by index; nil if not started
	begun   int
	left    int // threads that have not succeeded
	results []any
}

// fanStarted handles the start of the threads inside a Parallel or Map state.
func (j *judge) fanStarted(t *thread, e *history.Event) error {
	typ := machine.Parallel
	if e.Type == history.MapStateStarted {
		typ = machine.Map
	}
	t = t.up(func(x *thread) bool {
		return !x.gone && x.state != nil && x.state.Type == typ && (x.phase == entered || x.phase == retrying)
	})
	if t == nil {
		return fmt.Errorf("no %s state is about to start", typ)
	}
	if t.phase == retrying && e.Time < t.from {
		return errors.New("the delay of the retry is not over")
	}
	j.who[e.ID] = t
	t.phase, t.to = working, 0
	if typ == machine.Parallel {
		n := len(t.state.Branches)
		t.children = &fan{owner: t, threads: make([]*thread, n), left: n, results: make([]any, n)}
		t.from, t.to = e.Time, e.Time // until every branch has started
		return nil
	}
	return j.mapStarted(t, e)
}

func (j *judge) mapStarted(t *thread, e *history.Event) error {
	items := numbers(t.input, "items")
	if e.More == nil || e.More.Length != int64(len(items)) {
		return fmt.Errorf("there are %d items", len(items))
	}
	n := len(items)
	t.children = &fan{owner: t, threads: make([]*thread, n), left: n, results: make([]any, n)}
	switch {
	case t.state.Map.Distributed:
		t.children = &fan{owner: t}
		j.expect(t, history.MapRunStarted)
	case n == 0:
		j.complete(t.children, history.MapStateSucceeded)
	default:
		j.nextIteration(t)
	}
	return nil
}

// nextIteration expects the start of an iteration if one is left and the concurrency limit permits it.
func (j *judge) nextIteration(t *thread) {
	f := t.children
	limit := iterations
	if m := t.state.Map.MaxConcurrency; m > 0 {
		limit = min(limit, m)
	}
	running := f.begun - (len(f.threads) - f.left)
	if f.begun < len(f.threads) && running < limit {
		j.expectIndex(t, history.MapIterationStarted, f.begun)
	}
}

func (j *judge) iterationStarted(t *thread, e *history.Event) error {
	f := t.children
	i := f.begun
	f.begun++
	b := j.thread(t.state.Processor, f, i)
	f.threads[i] = b
	b.goTo(t.state.Processor.Start().Name, e.Time)
	items := numbers(t.input, "items")
	b.given(items[i], items)
	j.who[e.ID] = b
	j.nextIteration(t)
	return nil
}

// given sets the thread's input, which the surrounding Parallel or Map state builds.
func (t *thread) given(n any, items []any) {
	text, err := json.Marshal(object{"n": n, "items": items})
	if err != nil {
		panic("oracle: what was read as JSON cannot be written: " + err.Error())
	}
	input := string(text)
	t.output = &input
}

// branch starts the branch whose first state has this name.
func (f *fan) branch(j *judge, name string) *thread {
	for i, s := range f.owner.state.Branches {
		if s.Start().Name == name && f.threads[i] == nil {
			t := j.thread(s, f, i)
			t.given(decoded(f.owner.input)["n"], numbers(f.owner.input, "items"))
			t.goTo(name, f.owner.from)
			f.threads[i] = t
			if f.begun++; f.begun == len(f.threads) {
				f.owner.to = 0
			}
			return t
		}
	}
	return nil
}

// joined handles the success of a thread.
func (j *judge) joined(t *thread) error {
	f := t.fan
	f.left--
	if err := json.Unmarshal([]byte(*t.output), &f.results[t.index]); err != nil {
		return err
	}
	if f.owner.state.Type == machine.Map {
		j.expectIndex(t, history.MapIterationSucceeded, t.index)
		return nil
	}
	if f.left == 0 {
		j.complete(f, history.ParallelStateSucceeded)
	}
	return nil
}

// complete predicts the success of the whole state.
func (j *judge) complete(f *fan, typ history.Type) {
	f.owner.phase, f.owner.result = done, f.results
	j.expect(f.owner, typ)
}

func (j *judge) iterationSucceeded(t *thread) error {
	f := t.fan
	if f.left == 0 {
		j.complete(f, history.MapStateSucceeded)
		return nil
	}
	j.nextIteration(f.owner)
	return nil
}
