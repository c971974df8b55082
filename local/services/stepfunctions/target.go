package stepfunctions

import (
	"math/rand/v2"

	"stepback/aws"
)

// target identifies the state machine, revision, version and alias that an execution is started from.
type target struct {
	machine              *Machine
	revision             *Revision
	versionARN, aliasARN string
}

// target returns the revision for the ARN of a state machine, a version or an alias. An alias picks one of its
// versions by weight.
func (s *Service) target(scope aws.Scope, arn string) (*target, error) {
	at, err := parseMachineARN(arn)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.changeable(scope, at)
	if err != nil {
		return nil, err
	}
	t := &target{machine: m}
	revision := m.Revision
	if at.qualified() {
		t.versionARN = arn
		if a := m.alias(arn); a != nil {
			t.aliasARN, t.versionARN = arn, a.pick()
		}
		v := m.version(t.versionARN)
		if v == nil {
			return nil, noMachine(arn)
		}
		revision = v.Revision
	}
	t.revision, err = s.use(revision)
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
