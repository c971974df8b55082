package stepfunctions

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Memory is a Store that lives as long as the process.
type Memory struct {
	mu         sync.Mutex
	machines   map[string]*Machine
	revisions  map[string]Revision
	activities map[string]*Activity
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{machines: map[string]*Machine{}, revisions: map[string]Revision{},
		activities: map[string]*Activity{}}
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

// DeleteRevision implements Store.
func (s *Memory) DeleteRevision(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.revisions, id)
	return nil
}

// Activity implements Store.
func (s *Memory) Activity(arn string) (*Activity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.activities[arn]
	if !ok {
		return nil, ErrNotFound
	}
	return a.clone(), nil
}

// Activities implements Store.
func (s *Memory) Activities(prefix string) ([]*Activity, error) {
	s.mu.Lock()
	var found []*Activity
	for arn, a := range s.activities {
		if strings.HasPrefix(arn, prefix) {
			found = append(found, a.clone())
		}
	}
	s.mu.Unlock()
	slices.SortFunc(found, func(a, b *Activity) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ARN, b.ARN))
	})
	return found, nil
}

// PutActivity implements Store.
func (s *Memory) PutActivity(a *Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activities[a.ARN] = a.clone()
	return nil
}

// DeleteActivity implements Store.
func (s *Memory) DeleteActivity(arn string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.activities, arn)
	return nil
}
