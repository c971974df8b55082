package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// use returns a revision from which an execution is about to be started. It marks the revision as used if the
// execution will refer to it, which is not the case for EXPRESS executions that do not log. The caller holds the
// lock.
func (s *Service) use(id string) (*Revision, error) {
	r, err := s.cfg.Store.Revision(id)
	if err != nil || r.Used || r.Type == typeExpress && r.Logging.Level == levelOff {
		return r, err
	}
	r.Used = true
	return r, s.cfg.Store.PutRevision(r)
}

// forget removes a revision that the machine may no longer use: its compiled form and, unless executions refer to it,
// the revision itself. The caller holds the lock.
func (s *Service) forget(m *Machine, id string) error {
	if m.Revision == id {
		return nil
	}
	delete(s.compiled, id) // a version that uses it is compiled again when it is started
	if slices.Contains(m.revisions(), id) {
		return nil
	}
	s.logs.Delete(id)
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

// Sweep deletes the revisions in documents that neither a state machine nor an execution refers to, and returns their
// number. Nothing else may use the documents at the same time.
func Sweep(ctx context.Context, documents Documents, executions map[string]bool) (int, error) {
	needed := map[string]bool{}
	err := documents.EachDocument(ctx, machineKey, func(_ string, value []byte) error {
		var m Machine
		if err := json.Unmarshal(value, &m); err != nil {
			return err
		}
		for _, id := range append(m.revisions(), m.Revision) {
			needed[id] = true
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	var unneeded []string
	err = documents.EachDocument(ctx, revisionKey, func(key string, _ []byte) error {
		if id := strings.TrimPrefix(key, revisionKey); !needed[id] && !executions[id] {
			unneeded = append(unneeded, key)
		}
		return nil
	})
	for _, key := range unneeded {
		err = errors.Join(err, documents.DeleteDocument(key))
	}
	return len(unneeded), err
}
