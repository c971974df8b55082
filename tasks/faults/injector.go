package faults

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"

	"stepback/internal/sorting"
	"stepback/jsonvalue"
)

// Parker is told of an invocation that hangs. Park returns when ctx has ended, with its error. A virtual clock
// implements it to know that nothing runs meanwhile and that it may jump to the next timer.
type Parker interface {
	Park(ctx context.Context) error
}

// Injector lets faults befall some of the invocations and tasks that go through it. It is safe for concurrent use.
type Injector struct {
	parker  Parker
	faults  map[string][]fault // by state
	batches map[string]Batch   // by state

	mu     sync.Mutex
	counts map[countKey]int
}

type countKey struct{ state, fault string }

// New makes an Injector. Several faults of one state are drawn for independently, in the order of specs; the first that
// hits is the one. parker may be nil: what hangs then just waits for its context.
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

// Carrying tells the injector of a state whose invocations carry items of another state. It is called before the
// injector is used.
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

// befalls draws for a call of a state; ok is false when no fault hits it.
func befalls[T string | []byte](i *Injector, state string, payload T, attempt int64) (f fault, d draw, ok bool) {
	all := i.faultsOf(state)
	if len(all) == 0 {
		return fault{}, draw{}, false
	}
	if f, d, ok = cast(all, state, string(payload), attempt); ok {
		i.count(f.Spec)
	}
	return f, d, ok
}

// faultsOf are the faults that are drawn for each call of a state: its own, and of a state that carries items those of
// the items' state that are no item's alone.
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
	hash := sha256.Sum256([]byte(timeless(payload)))
	for _, f := range faults {
		if d := f.cast(state, &hash, attempt); d.unit < f.Rate {
			return f, d, true
		}
	}
	return fault{}, draw{}, false
}

// Count says how often a fault befell a state.
type Count struct {
	State, Error string
	Injected     int
}

func (i *Injector) count(s Spec) {
	i.mu.Lock()
	i.counts[countKey{s.State, s.Error}]++
	i.mu.Unlock()
}

// Counts returns what has been injected so far, by state and error as they were specified, in that order.
func (i *Injector) Counts() []Count {
	i.mu.Lock()
	defer i.mu.Unlock()
	counts := make([]Count, 0, len(i.counts))
	for key, n := range i.counts {
		counts = append(counts, Count{key.state, key.fault, n})
	}
	sorting.Func(counts, func(a, b Count) int {
		return cmp.Or(strings.Compare(a.State, b.State), strings.Compare(a.Error, b.Error))
	})
	return counts
}

// timeless is an event without what tells one run of a state machine from the next: the members "run", "startTime" and
// "attempt", which the CSV import hands on. A seed so decides the same faults in every run.
func timeless(event string) string {
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
