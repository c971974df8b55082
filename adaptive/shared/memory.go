package shared

import (
	"context"
	"sync"

	"stepback/adaptive/limiter"
)

// Memory is a Store within one process. The zero Memory is empty and ready.
type Memory struct {
	mu      sync.Mutex
	callees map[string]*kept
}

type kept struct {
	record Record
	tally  limiter.Tally
}

func (m *Memory) of(callee string) *kept {
	if m.callees == nil {
		m.callees = map[string]*kept{}
	}
	k, ok := m.callees[callee]
	if !ok {
		k = &kept{}
		m.callees[callee] = k
	}
	return k
}

// Add implements [Store].
func (m *Memory) Add(_ context.Context, callee string, t limiter.Tally) (Record, limiter.Tally, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(callee)
	k.tally = k.tally.Plus(t)
	return k.record, k.tally, nil
}

// Replace implements [Store].
func (m *Memory) Replace(_ context.Context, callee string, next Record, taken limiter.Tally) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.of(callee)
	if k.record.Version != next.Version-1 {
		return false, nil
	}
	k.record, k.tally = next, k.tally.Plus(taken.Negative())
	return true, nil
}
