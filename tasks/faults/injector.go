package faults

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"

	"stepback/jsonvalue"
)

// Parker waits for invocations that hang. Park returns ctx's error once ctx has ended. A virtual clock implements
// Parker to learn that nothing runs meanwhile, so that it may jump to the next timer.
type Parker interface {
	Park(ctx context.Context) error
}

// Injector injects faults into some of the invocations and tasks that pass through it. It is safe for concurrent use.
type Injector struct {
	parker  Parker
	faults  map[string][]fault // by state
	batches map[string]Batch   // by state

	mu     sync.Mutex
	counts map[countKey]int
}

type countKey struct{ state, fault string }

// New returns an Injector. Several faults of one state are drawn independently, in the order of specs; the first hit
// applies. If parker is nil, hanging invocations just wait for their context.
func New(seed uint64, specs []Spec, parker Parker) *Injector {
	if parker == nil {
		parker = waiting{}
	}
	i := &Injector{parker: parker, faults: map[string][]fault{}, counts: map[countKey]int{}}
	seen := map[countKey]int{}
	for _, spec := range specs {
		key := countKey{spec.State, spec.Error}
		i.faults[spec.State] = append(i.faults[spec.State], newFault(seed, spec, seen[key]))
		seen[key]++
	}
	return i
}

// Carrying registers a state whose invocations carry items of another state. It must be called before the injector is
// used.
func (i *Injector) Carrying(b Batch) {
	if i.batches == nil {
		i.batches = map[string]Batch{}
	}
	i.batches[b.State] = b
}

type waiting struct{}

func (waiting) Park(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// drawFault draws the faults for a call of a state. ok is false if none hits it.
func drawFault[T string | []byte](i *Injector, state string, payload T, attempt int64) (f fault, d draw, ok bool) {
	all := i.faultsOf(state)
	if len(all) == 0 {
		return fault{}, draw{}, false
	}
	if f, d, ok = cast(all, state, string(payload), attempt); ok {
		i.count(f.Spec)
	}
	return f, d, ok
}

// faultsOf returns the faults that are drawn for each call of a state. If the state carries items, they include the
// faults of the items' state that apply to whole invocations.
func (i *Injector) faultsOf(state string) []fault {
	b, carries := i.batches[state]
	if !carries {
		return i.faults[state]
	}
	all := slices.Clone(i.faults[state])
	for _, f := range i.faults[b.Items] {
		if !f.OfItem() {
			all = append(all, f)
		}
	}
	return all
}

func cast(faults []fault, state, payload string, attempt int64) (f fault, d draw, ok bool) {
	if len(faults) == 0 {
		return fault{}, draw{}, false
	}
	hash := sha256.Sum256([]byte(withoutRunFields(payload)))
	for _, f := range faults {
		if d := f.cast(state, &hash, attempt); d.unit < f.Rate {
			return f, d, true
		}
	}
	return fault{}, draw{}, false
}

// Count is the number of injections of a fault into a state.
type Count struct {
	State, Error string
	Injected     int
}

func (i *Injector) count(s Spec) {
	i.mu.Lock()
	i.counts[countKey{s.State, s.Error}]++
	i.mu.Unlock()
}

// Counts returns the number of injections so far for each state and error, ordered by state and then by error.
func (i *Injector) Counts() []Count {
	i.mu.Lock()
	defer i.mu.Unlock()
	counts := make([]Count, 0, len(i.counts))
	for key, n := range i.counts {
		counts = append(counts, Count{key.state, key.fault, n})
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(strings.Compare(a.State, b.State), strings.Compare(a.Error, b.Error))
	})
	return counts
}

// withoutRunFields returns an event without the members that differ from run to run: "run", "startTime" and "attempt", which
// the CSV import passes on. This way a seed produces the same faults in every run.
func withoutRunFields(event string) string {
	v, err := jsonvalue.Parse(event)
	if err != nil || v.Kind() != jsonvalue.Object {
		return event
	}
	b := jsonvalue.NewObject(v.Len())
	for i, name := range v.Keys() {
		if name != "run" && name != "startTime" && name != "attempt" {
			b.Set(name, v.At(i))
		}
	}
	return b.Value().JSON()
}
