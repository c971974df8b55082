package logstore

import (
	"slices"

	"stepback/aws"
)

// following is a call of Follow.
type following struct {
	groups  []groupKey
	receive func(group, stream string, events []Event)
}

// Follow calls receive with all events that are appended to some groups from now on, before they are written. receive
// must return quickly and must not retain the slice; it may be called from several goroutines, and a last time while
// stop returns. The error is ErrNoGroup if one of the groups does not exist. ended is closed when the store is about to
// close.
func (s *Store) Follow(scope aws.Scope, groups []string, receive func(group, stream string, events []Event)) (stop func(),
	ended <-chan struct{}, err error) {
	f := &following{receive: receive}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range groups {
		k := groupKey{scope, name}
		if g := s.groups[k]; g == nil || g.Deleted {
			return nil, nil, ErrNoGroup
		}
		f.groups = append(f.groups, k)
	}
	s.follows[f] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.follows, f)
	}, s.ending, nil
}

// StopFollowing tells all followers that the store is about to close.
func (s *Store) StopFollowing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.ending:
	default:
		close(s.ending)
	}
}

// followersOf returns the functions that receive the events of a group. The store's lock is held.
func (s *Store) followersOf(k groupKey) (all []func(group, stream string, events []Event)) {
	for f := range s.follows {
		if slices.Contains(f.groups, k) {
			all = append(all, f.receive)
		}
	}
	return all
}
