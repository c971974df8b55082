package stepfunctions

import (
	"stepback/aws"
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
		at, err := parseARN(m.ARN, kindMachine)
		if err != nil {
			return err
		}
		if seen[at.scope] {
			continue
		}
		seen[at.scope] = true
		if _, err := s.engine(at.scope); err != nil {
			return err
		}
	}
	return nil
}
