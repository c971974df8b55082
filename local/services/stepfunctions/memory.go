package stepfunctions

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"stepback/local/services/stepfunctions/activities"
	"stepback/local/services/stepfunctions/statemachines"
)

// Memory is a Store in memory.
type Memory struct {
	mu         sync.Mutex
	machines   map[string]*statemachines.Machine
	order      []*statemachines.Machine // ordered by creation
	revisions  map[string]statemachines.Revision
	activities map[string]*activities.Activity
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{machines: map[string]*statemachines.Machine{}, revisions: map[string]statemachines.Revision{},
		activities: map[string]*activities.Activity{}}
}

// Machine implements Store.
func (s *Memory) Machine(arn string) (*statemachines.Machine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.machines[arn]
	if !ok {
		return nil, statemachines.ErrNotFound
	}
	return m.Clone(), nil
}

// Machines implements Store.
func (s *Memory) Machines(prefix string) ([]*statemachines.Machine, error) {
	return s.MachinesBehind(prefix, time.Time{}, "", math.MaxInt)
}

// MachinesBehind implements Store.
func (s *Memory) MachinesBehind(prefix string, created time.Time, arn string, n int) ([]*statemachines.Machine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*statemachines.Machine
	at, there := s.placeOf(created, arn)
	if there {
		at++
	}
	for ; at < len(s.order) && len(found) < n; at++ {
		if m := s.order[at]; strings.HasPrefix(m.ARN, prefix) {
			found = append(found, m.Clone())
		}
	}
	return found, nil
}

// placeOf returns the index of a state machine in the order of creation. If there is none, it returns the index at
// which it would be inserted, and false.
func (s *Memory) placeOf(created time.Time, arn string) (int, bool) {
	return slices.BinarySearchFunc(s.order, arn, func(m *statemachines.Machine, arn string) int {
		return cmp.Or(m.Created.Compare(created), strings.Compare(m.ARN, arn))
	})
}

// PutMachine implements Store.
func (s *Memory) PutMachine(m *statemachines.Machine) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(m.ARN)
	kept := m.Clone()
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
func (s *Memory) Revision(id string) (*statemachines.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.revisions[id]
	if !ok {
		return nil, statemachines.ErrNotFound
	}
	return &r, nil
}

// PutRevision implements Store.
func (s *Memory) PutRevision(r *statemachines.Revision) error {
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
func (s *Memory) Activity(arn string) (*activities.Activity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.activities[arn]
	if !ok {
		return nil, activities.ErrNotFound
	}
	return a.Clone(), nil
}

// Activities implements Store.
func (s *Memory) Activities(prefix string) ([]*activities.Activity, error) {
	s.mu.Lock()
	var found []*activities.Activity
	for arn, a := range s.activities {
		if strings.HasPrefix(arn, prefix) {
			found = append(found, a.Clone())
		}
	}
	s.mu.Unlock()
	slices.SortFunc(found, func(a, b *activities.Activity) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ARN, b.ARN))
	})
	return found, nil
}

// PutActivity implements Store.
func (s *Memory) PutActivity(a *activities.Activity) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activities[a.ARN] = a.Clone()
	return nil
}

// DeleteActivity implements Store.
func (s *Memory) DeleteActivity(arn string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.activities, arn)
	return nil
}
