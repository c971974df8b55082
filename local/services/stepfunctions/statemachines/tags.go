package statemachines

import (
	"stepback/aws"
	"stepback/local/services/stepfunctions/resource"
)

// Tags implements tags.Resources.
func (s *Service) Tags(scope aws.Scope, at *resource.ARN) (map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.machine(scope, at)
	if err != nil {
		return nil, err
	}
	return m.Tags, nil
}

// ChangeTags implements tags.Resources.
func (s *Service) ChangeTags(scope aws.Scope, at *resource.ARN, change func(map[string]string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.machine(scope, at)
	if err != nil {
		return err
	}
	if err := change(m.Tags); err != nil {
		return err
	}
	return s.cfg.Store.PutMachine(m)
}
