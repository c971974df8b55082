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

// Memory keeps executions as long as the process lives. It is for tests and for one-shot runs.
type Memory struct {
	mu         sync.Mutex
	executions map[string]*Execution
	histories  map[string][]history.Event
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{executions: map[string]*Execution{}, histories: map[string][]history.Event{}}
}

// Commit implements Journal.
func (m *Memory) Commit(r *Record, done func(error)) {
	m.keep(r)
	done(nil)
}

func (m *Memory) keep(r *Record) {
	if !r.Begin && !r.End {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := *r.Execution
	m.executions[kept.ARN] = &kept
	if r.End {
		m.histories[kept.ARN] = slices.Clone(r.All)
	}
}

// Execution implements Journal.
func (m *Memory) Execution(_ context.Context, arn string) (*Execution, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.executions[arn]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, arn)
	}
	copied := *e
	return &copied, nil
}

// History implements Journal.
func (m *Memory) History(_ context.Context, arn string) ([]history.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.histories[arn]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, arn)
	}
	return slices.Clone(h), nil
}

// Executions implements Journal.
func (m *Memory) Executions(_ context.Context, prefix string) iter.Seq2[*Execution, error] {
	m.mu.Lock()
	var found []*Execution
	for arn, e := range m.executions {
		if strings.HasPrefix(arn, prefix) {
			copied := *e
			found = append(found, &copied)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(found, func(a, b *Execution) int { return strings.Compare(a.ARN, b.ARN) })
	return func(yield func(*Execution, error) bool) {
		for _, e := range found {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Close implements Journal.
func (m *Memory) Close() error { return nil }
