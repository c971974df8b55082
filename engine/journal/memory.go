package journal

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"stepback/engine/history"
)

// Memory stores executions for the life of the process. It is meant for tests and one-shot runs.
type Memory struct {
	mu          sync.Mutex
	executions  map[string]*Execution
	histories   map[string][]history.Event
	steps       map[string][][]byte // steps by ARN, for executions that are running or ended without success
	definitions map[string]*Definition
	mapRuns     map[string]*MapRun
	lists       memoryLists // nil until a list is first requested
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		executions: map[string]*Execution{}, histories: map[string][]history.Event{}, steps: map[string][][]byte{},
		definitions: map[string]*Definition{}, mapRuns: map[string]*MapRun{},
	}
}

// Commit implements Journal.
func (m *Memory) Commit(r *Record, done func(error)) {
	m.keep(r)
	done(nil)
}

func (m *Memory) keep(r *Record) {
	if r.Execution.Express && !r.End {
		return
	}
	var step []byte
	lost := r.End && (r.Execution.Express ||
		r.Execution.Status == history.Succeeded) // no redrive will need the signals
	if !lost {
		step = AppendStep(nil, r.Signals, r.History, nil)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	arn := r.Execution.ARN
	if r.Definition != nil {
		m.definitions[r.Definition.ID] = r.Definition
	}
	if r.Past != nil {
		delete(m.histories, arn)
		m.steps[arn] = [][]byte{AppendStep(nil, r.Past.Signals, r.Past.History, nil)}
	}
	if r.Begin || r.End || r.Past != nil {
		kept := *r.Execution
		m.lists.replace(m.executions[arn], &kept)
		m.executions[arn] = &kept
	}
	if r.End {
		m.histories[arn] = slices.Clone(r.All)
	}
	if lost {
		delete(m.steps, arn)
	} else {
		m.steps[arn] = append(m.steps[arn], step)
	}
}

// Execution implements Executions.
func (m *Memory) Execution(_ context.Context, arn string) (*Execution, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return lookUp(m.executions, arn)
}

// lookUp returns a copy of the value stored under key, or ErrNotFound.
func lookUp[T any](kept map[string]*T, key string) (*T, error) {
	found, ok := kept[key]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, key)
	}
	copied := *found
	return &copied, nil
}

// History implements Executions.
func (m *Memory) History(_ context.Context, arn string) ([]history.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.histories[arn]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, arn)
	}
	return slices.Clone(h), nil
}

// Executions implements Executions.
func (m *Memory) Executions(_ context.Context, prefix string) iter.Seq2[*Execution, error] {
	return each(m.executionsOf(prefix, func(*Execution) bool { return true }))
}

// executionsOf returns copies of the wanted executions whose ARN begins with prefix, in the order of their ARNs.
func (m *Memory) executionsOf(prefix string, wanted func(*Execution) bool) []*Execution {
	m.mu.Lock()
	var found []*Execution
	for arn, x := range m.executions {
		if strings.HasPrefix(arn, prefix) && wanted(x) {
			copied := *x
			found = append(found, &copied)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(found, func(a, b *Execution) int { return strings.Compare(a.ARN, b.ARN) })
	return found
}

func each[T any](found []*T) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for _, f := range found {
			if !yield(f, nil) {
				return
			}
		}
	}
}

// Unfinished implements Recovery.
func (m *Memory) Unfinished(_ context.Context, prefix string) iter.Seq2[*Unfinished, error] {
	return func(yield func(*Unfinished, error) bool) {
		for _, x := range m.executionsOf(prefix, func(x *Execution) bool { return !x.Ended() }) {
			steps, err := m.stepsOf(x.ARN)
			if !yield(&Unfinished{x, steps}, err) || err != nil {
				return
			}
		}
	}
}

func (m *Memory) stepsOf(arn string) ([]Step, error) {
	m.mu.Lock()
	stored := slices.Clone(m.steps[arn])
	m.mu.Unlock()
	steps := make([]Step, len(stored))
	for i, s := range stored {
		var err error
		if steps[i], err = DecodeStep(s, nil); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// Signals implements Recovery.
func (m *Memory) Signals(_ context.Context, arn string) ([]history.Signal, error) {
	steps, err := m.stepsOf(arn)
	if err == nil && len(steps) == 0 {
		err = fmt.Errorf("%w: %s", ErrNotFound, arn)
	}
	var events []history.Signal
	for _, s := range steps {
		events = append(events, s.Signals...)
	}
	return events, err
}

// Definition implements Recovery.
func (m *Memory) Definition(_ context.Context, id string) (*Definition, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return lookUp(m.definitions, id)
}

// PutMapRun implements MapRuns.
func (m *Memory) PutMapRun(r *MapRun, done func(error)) {
	kept := *r
	m.mu.Lock()
	m.mapRuns[r.ARN] = &kept
	m.mu.Unlock()
	if done != nil {
		done(nil)
	}
}

// MapRun implements MapRuns.
func (m *Memory) MapRun(_ context.Context, arn string) (*MapRun, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return lookUp(m.mapRuns, arn)
}

// MapRuns implements MapRuns.
func (m *Memory) MapRuns(_ context.Context, prefix string) iter.Seq2[*MapRun, error] {
	m.mu.Lock()
	var found []*MapRun
	for _, r := range m.mapRuns {
		if strings.HasPrefix(r.Execution+"\x00", prefix) {
			copied := *r
			found = append(found, &copied)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(found, func(a, b *MapRun) int {
		return strings.Compare(a.Execution+"\x00"+a.ARN, b.Execution+"\x00"+b.ARN)
	})
	return each(found)
}

// Close implements Journal.
func (m *Memory) Close() error { return nil }
