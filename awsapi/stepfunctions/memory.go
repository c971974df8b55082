package stepfunctions

import (
	"slices"
	"strings"
	"sync"
)

// Memory is a Store that lives as long as the process.
type Memory struct {
	mu        sync.Mutex
	machines  map[string]*Machine
	revisions map[string]Revision
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{machines: map[string]*Machine{}, revisions: map[string]Revision{}}
}

// Machine implements Store.
func (s *Memory) Machine(arn string) (*Machine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.machines[arn]
	if !ok {
		return nil, ErrNotFound
	}
	return m.clone(), nil
}

// Machines implements Store.
func (s *Memory) Machines(prefix string) ([]*Machine, error) {
	s.mu.Lock()
	var found []*Machine
	for arn, m := range s.machines {
		if strings.HasPrefix(arn, prefix) {
			found = append(found, m.clone())
		}
	}
	s.mu.Unlock()
	slices.SortFunc(found, func(a, b *Machine) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.ARN, b.ARN)
	})
	return found, nil
}

// PutMachine implements Store.
func (s *Memory) PutMachine(m *Machine) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.machines[m.ARN] = m.clone()
	return nil
}

// DeleteMachine implements Store.
func (s *Memory) DeleteMachine(arn string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.machines, arn)
	return nil
}

// Revision implements Store.
func (s *Memory) Revision(id string) (*Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.revisions[id]
	if !ok {
		return nil, ErrNotFound
	}
	return &r, nil
}

// PutRevision implements Store.
func (s *Memory) PutRevision(r *Revision) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revisions[r.ID] = *r
	return nil
}
