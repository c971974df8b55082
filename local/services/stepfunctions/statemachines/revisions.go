package statemachines

import (
	"errors"
	"slices"

	"stepback/local/services/stepfunctions/configuration"
)

// use returns a revision that an execution is about to be started of, and notes that if the execution will refer to it,
// as EXPRESS ones do that log. The caller holds the lock.
func (s *Service) use(id string) (*Revision, error) {
	r, err := s.cfg.Store.Revision(id)
	if err != nil || r.Used || r.Type == TypeExpress && r.Logging.Level == configuration.LevelOff {
		return r, err
	}
	r.Used = true
	return r, s.cfg.Store.PutRevision(r)
}

// forget drops what is kept of a revision that the machine may not have any more: what it was compiled to and, unless
// executions refer to it, the revision. The caller holds the lock.
func (s *Service) forget(m *Machine, id string) error {
	if m.Revision == id {
		return nil
	}
	delete(s.compiled, id) // a version of it is compiled again when it is started
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

// revisions are those of the machine's versions.
func (m *Machine) revisions() []string {
	ids := make([]string, len(m.Versions))
	for i := range m.Versions {
		ids[i] = m.Versions[i].Revision
	}
	return ids
}
