package stepfunctions

import (
	"context"

	"stepback/awsapi/awsjson"
	"stepback/engine/history"
)

type stopExecutionRequest struct {
	ARN   string  `json:"executionArn"`
	Error *string `json:"error"`
	Cause *string `json:"cause"`
}

var stopExecutionMembers = []awsjson.Member{executionARN(), {Name: "error", Max: maxError}, {Name: "cause", Max: maxCause}}

type stopExecutionResponse struct {
	Stopped awsjson.Time `json:"stopDate"`
}

func (s *Service) stopExecution(ctx context.Context, scope awsjson.Scope, in *stopExecutionRequest) (*stopExecutionResponse, error) {
	e, _, err := s.execution(ctx, scope, in.ARN, false)
	if err != nil {
		return nil, err
	}
	f := history.Failure{}
	if in.Error != nil {
		f.Error, f.HasError = *in.Error, true
	}
	if in.Cause != nil {
		f.Cause, f.HasCause = *in.Cause, true
	}
	if err := e.StopExecution(ctx, in.ARN, f); err != nil {
		return nil, err
	}
	x, err := e.Wait(ctx, in.ARN)
	if err != nil {
		return nil, err
	}
	return &stopExecutionResponse{awsjson.Time(x.Stop)}, nil
}
