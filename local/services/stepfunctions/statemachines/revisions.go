package statemachines

import (
	"errors"
	"slices"

	"stepback/local/services/stepfunctions/configuration"
)

// use returns a revision from which an execution is about to be started. It marks the revision as used if the
// execution will refer to it, which is not the case for EXPRESS executions that do not log. The caller holds the
// lock.
func (s *Service) use(id string) (*Revision, error) {
	r, err := s.cfg.Store.Revision(id)
	if err != nil || r.Used || r.Type == TypeExpress && r.Logging.Level == configuration.LevelOff {
		return r, err
	}
	r.Used = true
	return r, s.cfg.Store.PutRevision(r)
}

// forget removes the compiled form of a revision that the machine may no longer use. It also removes the revision
// itself, unless executions refer to it. The caller holds the lock.
func (s *Service) forget(m *Machine, id string) error {
	if m.Revision == id {
		return nil
	}
	delete(s.compiled, id) // a version that uses it is compiled again when it is started
	if slices.Contains(m.revisions(), id) {
		return nil
	}
	s.cfg.Log.Forget(id)
	r, err := s.cfg.Store.Revision(id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil || r.Used {
		return err
	}
	return s.cfg.Store.DeleteRevision(id)
}

// revisions returns the revision IDs of the machine's versions.
func (m *Machine) revisions() []string {
	ids := make([]string, len(m.Versions))
	for i := range m.Versions {
		ids[i] = m.Versions[i].Revision
	}
	return ids
}
