package statemachines

import (
	"math/rand/v2"

	"stepback/aws"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

// Target identifies the state machine, revision, version and alias that an execution is started from.
type Target struct {
	Machine              *Machine
	Revision             *Revision
	VersionARN, AliasARN string
}

// Target returns the revision for the ARN of a state machine, a version or an alias. An alias picks one of its
// versions by weight.
func (s *Service) Target(scope aws.Scope, arn string) (*Target, error) {
	at, err := resource.ParseMachine(arn)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.changeable(scope, at)
	if err != nil {
		return nil, err
	}
	t := &Target{Machine: m}
	revision := m.Revision
	if at.Qualified() {
		t.VersionARN = arn
		if a := m.alias(arn); a != nil {
			t.AliasARN, t.VersionARN = arn, a.pick()
		}
		v := m.version(t.VersionARN)
		if v == nil {
			return nil, apierror.NoMachine(arn)
		}
		revision = v.Revision
	}
	t.Revision, err = s.use(revision)
	return t, err
}

// pick picks a version at random by weight.
func (a *Alias) pick() string {
	const all = 100
	n := rand.IntN(all)
	for _, r := range a.Routing {
		if n -= r.Weight; n < 0 {
			return r.VersionARN
		}
	}
	return a.Routing[len(a.Routing)-1].VersionARN
}

// alias returns the alias with an ARN, or nil if there is none.
func (m *Machine) alias(arn string) *Alias {
	for i := range m.Aliases {
		if m.Aliases[i].ARN == arn {
			return &m.Aliases[i]
		}
	}
	return nil
}
