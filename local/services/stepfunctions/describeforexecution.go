package stepfunctions

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

type describeForExecutionResponse struct {
	ARN       string      `json:"stateMachineArn"`
	Name      string      `json:"name"`
	Updated   server.Time `json:"updateDate"`
	MapRunARN string      `json:"mapRunArn,omitempty"`
	Label     string      `json:"label,omitempty"`
	configuration
}

// describeStateMachineForExecution describes the state machine as it was when the execution started.
func (s *Service) describeStateMachineForExecution(ctx context.Context, scope aws.Scope,
	in *describeExecutionRequest) (*describeForExecutionResponse, error) {
	_, x, err := s.execution(ctx, scope, in.ARN, false)
	if err != nil {
		return nil, err
	}
	r, err := s.cfg.Store.Revision(x.Revision)
	if errors.Is(err, ErrNotFound) {
		return nil, noExecution(in.ARN)
	}
	if err != nil {
		return nil, err
	}
	_, label, _ := strings.Cut(x.MachineARN, "/")
	return &describeForExecutionResponse{
		ARN: x.MachineARN, Name: r.Name, Updated: server.Time(r.Updated), MapRunARN: x.MapRunARN, Label: label,
		configuration: configurationOf(r, in.IncludedData),
	}, nil
}
