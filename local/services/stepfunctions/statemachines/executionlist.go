package statemachines

import (
	"stepback/aws"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

// ExecutionList returns the name under which the engine lists the executions of a machine, a version, an alias or a
// labelled machine. EXPRESS machines have no such list; for them it returns an error.
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
