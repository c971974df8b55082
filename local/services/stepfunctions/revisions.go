package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// use returns a revision that an execution is about to be started of, and notes that if the execution will refer to it,
// as EXPRESS ones do that log. The caller holds the lock.
func (s *Service) use(id string) (*Revision, error) {
	r, err := s.cfg.Store.Revision(id)
	if err != nil || r.Used || r.Type == typeExpress && r.Logging.Level == levelOff {
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

// revisions are those of the machine's versions.
func (m *Machine) revisions() []string {
	ids := make([]string, len(m.Versions))
	for i := range m.Versions {
		ids[i] = m.Versions[i].Revision
	}
	return ids
}

// Sweep removes the revisions among the documents that neither a machine nor an execution refers to, and returns how
// many it was. Nobody else may use the documents meanwhile.
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
