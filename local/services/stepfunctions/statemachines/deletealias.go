package statemachines

import (
	"context"
	"slices"

	"stepback/aws"
)

// deleteStateMachineAlias deletes an alias. It succeeds if the alias does not exist.
func (s *Service) deleteStateMachineAlias(_ context.Context, scope aws.Scope, in *aliasRequest) (*none, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, a, err := s.aliased(scope, in.ARN)
	if err != nil || a == nil {
		return &none{}, err
	}
	m.Aliases = slices.DeleteFunc(m.Aliases, func(x Alias) bool { return x.ARN == in.ARN })
	return &none{}, s.cfg.Store.PutMachine(m)
}
