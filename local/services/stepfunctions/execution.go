package stepfunctions

import (
	"context"
	"errors"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/journal"
)

// execution returns an execution. An EXPRESS execution can only be described if a Map Run started it and express is
// true.
func (s *Service) execution(ctx context.Context, scope aws.Scope, arn string, express bool) (*engine.Engine,
	*journal.Execution, error) {
	kinds := []string{kindExecution}
	if express {
		kinds = append(kinds, kindExpress)
	}
	at, err := parseARN(arn, kinds...)
	if err != nil {
		return nil, nil, err
	}
	if at.kind == kindExpress && !at.labelled() {
		return nil, nil, invalidARN("Resource type not valid in this context: " + kindExpress)
	}
	if at.scope != scope {
		return nil, nil, noExecution(arn)
	}
	e, err := s.engine(scope)
	if err != nil {
		return nil, nil, err
	}
	x, err := e.DescribeExecution(ctx, arn)
	if errors.Is(err, engine.ErrNoExecution) {
		err = noExecution(arn)
	}
	return e, x, err
}
