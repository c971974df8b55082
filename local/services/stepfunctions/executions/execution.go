package executions

import (
	"context"
	"errors"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/resource"
)

// execution returns an execution. An EXPRESS execution can only be described if a Map Run started it and express is
// true.
func (s *Service) execution(ctx context.Context, scope aws.Scope, arn string, express bool) (*engine.Engine,
	*journal.Execution, error) {
	kinds := []string{resource.KindExecution}
	if express {
		kinds = append(kinds, resource.KindExpress)
	}
	at, err := resource.Parse(arn, kinds...)
	if err != nil {
		return nil, nil, err
	}
	if at.Kind == resource.KindExpress && !at.Labelled() {
		return nil, nil, apierror.InvalidARN("Resource type not valid in this context: " + resource.KindExpress)
	}
	if at.Scope != scope {
		return nil, nil, apierror.NoExecution(arn)
	}
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, nil, err
	}
	x, err := e.DescribeExecution(ctx, arn)
	if errors.Is(err, engine.ErrNoExecution) {
		err = apierror.NoExecution(arn)
	}
	return e, x, err
}
