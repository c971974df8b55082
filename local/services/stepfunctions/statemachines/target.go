package statemachines

import (
	"math/rand/v2"

	"stepback/aws"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

// Target is what an execution is started of.
type Target struct {
	Machine              *Machine
	Revision             *Revision
	VersionARN, AliasARN string
}

// Target finds what an ARN of a machine, a version or an alias stands for; an alias picks one of its versions by
// weight.
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

// pick draws a version by the weights.
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

// alias finds an alias by its ARN; nil when there is none.
func (m *Machine) alias(arn string) *Alias {
	for i := range m.Aliases {
		if m.Aliases[i].ARN == arn {
			return &m.Aliases[i]
		}
	}
	return nil
}
