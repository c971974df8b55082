package statemachines

import (
	"stepback/aws"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

// ExecutionList returns the name of the list that the engine keeps of the executions of a machine, a version, an alias
// or a labelled machine. EXPRESS machines have none, and are refused.
func (s *Service) ExecutionList(scope aws.Scope, arn string) (string, error) {
	at, err := resource.Parse(arn, resource.KindMachine)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.Labelled() {
		_, _, err := s.labelledMachine(scope, at)
		return at.Text, err
	}
	m, err := s.machine(scope, at)
	switch {
	case err != nil:
		return "", err
	case at.Qualified() && m.version(at.Text) == nil && m.alias(at.Text) == nil:
		return "", apierror.NoMachine(at.Text)
	case m.Type == TypeExpress:
		return "", apierror.ErrTypeSupported
	default:
		return at.Text, nil
	}
}
