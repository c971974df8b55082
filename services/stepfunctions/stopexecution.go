package stepfunctions

import (
	"context"

	"stepback/aws"
	"stepback/aws/server/awsjson"
)

type stopExecutionRequest struct {
	ARN string `json:"executionArn"`
	givenFailure
}

var stopExecutionMembers = with(failureMembers, executionARN())

type stopExecutionResponse struct {
	Stopped awsjson.Time `json:"stopDate"`
}

func (s *Service) stopExecution(ctx context.Context, scope aws.Scope,
	in *stopExecutionRequest) (*stopExecutionResponse, error) {
	e, _, err := s.execution(ctx, scope, in.ARN, false)
	if err != nil {
		return nil, err
	}
	if err := e.StopExecution(ctx, in.ARN, in.failure()); err != nil {
		return nil, err
	}
	x, err := e.Wait(ctx, in.ARN)
	if err != nil {
		return nil, err
	}
	return &stopExecutionResponse{awsjson.Time(x.Stop)}, nil
}
