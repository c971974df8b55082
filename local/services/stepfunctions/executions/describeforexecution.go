package executions

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/statemachines"
)

type describeForExecutionResponse struct {
	ARN       string      `json:"stateMachineArn"`
	Name      string      `json:"name"`
	Updated   server.Time `json:"updateDate"`
	MapRunARN string      `json:"mapRunArn,omitempty"`
	Label     string      `json:"label,omitempty"`
	statemachines.RevisionDetails
}

// describeStateMachineForExecution describes the state machine as it was when the execution started.
func (s *Service) describeStateMachineForExecution(ctx context.Context, scope aws.Scope,
	in *describeExecutionRequest) (*describeForExecutionResponse, error) {
	_, x, err := s.execution(ctx, scope, in.ARN, false)
	if err != nil {
		return nil, err
	}
	r, err := s.cfg.Machines.Revision(x.Revision)
	if errors.Is(err, statemachines.ErrNotFound) {
		return nil, apierror.NoExecution(in.ARN)
	}
	if err != nil {
		return nil, err
	}
	_, label, _ := strings.Cut(x.MachineARN, "/")
	return &describeForExecutionResponse{
		ARN: x.MachineARN, Name: r.Name, Updated: server.Time(r.Updated), MapRunARN: x.MapRunARN, Label: label,
		RevisionDetails: statemachines.DetailsOf(r, in.IncludedData),
	}, nil
}
