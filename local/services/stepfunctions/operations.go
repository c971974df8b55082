package stepfunctions

import (
	"maps"

	"stepback/aws/server"
)

// operations returns the implemented operations.
func (s *Service) operations() map[string]server.Operation {
	all := map[string]server.Operation{}
	for _, operations := range []map[string]server.Operation{
		s.machines.Operations(), s.executions.Operations(), s.activities.Operations(), s.tags.Operations(),
		{"TestState": server.Handle(s.tests.TestState)},
	} {
		maps.Copy(all, operations)
	}
	return all
}
