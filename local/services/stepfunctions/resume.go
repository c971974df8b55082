package stepfunctions

import (
	"stepback/aws"
	"stepback/local/services/stepfunctions/resource"
)

// Resume opens the engines of all accounts and regions that have state machines, so that the unfinished executions of
// an earlier process continue before any request arrives.
func (s *Service) Resume() error {
	machines, err := s.cfg.Store.Machines("")
	if err != nil {
		return err
	}
	seen := map[aws.Scope]bool{}
	for _, m := range machines {
		at, err := resource.Parse(m.ARN, resource.KindMachine)
		if err != nil {
			return err
		}
		if seen[at.Scope] {
			continue
		}
		seen[at.Scope] = true
		if _, err := s.engines.open(at.Scope); err != nil {
			return err
		}
	}
	return nil
}
