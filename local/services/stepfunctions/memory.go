package stepfunctions

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory is a Store in memory.
type Memory struct {
	mu         sync.Mutex
	machines   map[string]*Machine
	order      []*Machine // ordered by creation
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
	return s.MachinesBehind(prefix, time.Time{}, "", math.MaxInt)
}

// MachinesBehind implements Store.
func (s *Memory) MachinesBehind(prefix string, created time.Time, arn string, n int) ([]*Machine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*Machine
	at, there := s.placeOf(created, arn)
	if there {
		at++
	}
	for ; at < len(s.order) && len(found) < n; at++ {
		if m := s.order[at]; strings.HasPrefix(m.ARN, prefix) {
			found = append(found, m.clone())
		}
	}
	return found, nil
}

// placeOf returns the index of a state machine in the order of creation, or where it would be.
func (s *Memory) placeOf(created time.Time, arn string) (int, bool) {
	return slices.BinarySearchFunc(s.order, arn, func(m *Machine, arn string) int {
		return cmp.Or(m.Created.Compare(created), strings.Compare(m.ARN, arn))
	})
}

// PutMachine implements Store.
func (s *Memory) PutMachine(m *Machine) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(m.ARN)
	kept := m.clone()
	at, _ := s.placeOf(kept.Created, kept.ARN)
	s.order = slices.Insert(s.order, at, kept)
	s.machines[m.ARN] = kept
	return nil
}

// remove removes a state machine, if it exists.
func (s *Memory) remove(arn string) {
	m := s.machines[arn]
	if m == nil {
		return
	}
	delete(s.machines, arn)
	if at, ok := s.placeOf(m.Created, arn); ok {
		s.order = slices.Delete(s.order, at, at+1)
	}
}

// DeleteMachine implements Store.
func (s *Memory) DeleteMachine(arn string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(arn)
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
