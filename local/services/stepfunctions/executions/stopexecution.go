package executions

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/history"
)

type stopExecutionRequest struct {
	ARN   string  `json:"executionArn"`
	Error *string `json:"error"`
	Cause *string `json:"cause"`
}

type stopExecutionResponse struct {
	Stopped server.Time `json:"stopDate"`
}

func (s *Service) stopExecution(ctx context.Context, scope aws.Scope,
	in *stopExecutionRequest) (*stopExecutionResponse, error) {
	e, _, err := s.execution(ctx, scope, in.ARN, false)
	if err != nil {
		return nil, err
	}
	if err := e.StopExecution(ctx, in.ARN, history.FailureOf(in.Error, in.Cause)); err != nil {
		return nil, err
	}
	x, err := e.Wait(ctx, in.ARN)
	if err != nil {
		return nil, err
	}
	return &stopExecutionResponse{server.Time(x.Stop)}, nil
}
