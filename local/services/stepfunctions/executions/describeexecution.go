package executions

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/journal"
)

type describeExecutionRequest struct {
	ARN          string `json:"executionArn"`
	IncludedData string `json:"includedData"`
}

// origin identifies the state machine, version, alias or Map Run that an execution was started from.
type origin struct {
	MachineARN string `json:"stateMachineArn"`
	VersionARN string `json:"stateMachineVersionArn,omitempty"`
	AliasARN   string `json:"stateMachineAliasArn,omitempty"`
	MapRunARN  string `json:"mapRunArn,omitempty"`
}

func originOf(x *journal.Execution) origin {
	return origin{x.MachineARN, x.VersionARN, x.AliasARN, x.MapRunARN}
}

type describeExecutionResponse struct {
	executionOutcome
	origin
	Name          string      `json:"name"`
	Started       server.Time `json:"startDate"`
	RedriveCount  int64       `json:"redriveCount"`
	Redriven      server.Time `json:"redriveDate,omitzero"`
	RedriveStatus string      `json:"redriveStatus,omitempty"`
	RedriveReason string      `json:"redriveStatusReason,omitempty"`
}

func (s *Service) describeExecution(ctx context.Context, scope aws.Scope,
	in *describeExecutionRequest) (*describeExecutionResponse, error) {
	e, x, err := s.execution(ctx, scope, in.ARN, true)
	if err != nil {
		return nil, err
	}
	out := &describeExecutionResponse{
		executionOutcome: outcomeOf(x, in.IncludedData), origin: originOf(x), Name: x.Name,
		Started:      server.Time(x.Start),
		RedriveCount: x.RedriveCount, Redriven: server.Time(x.Redriven),
	}
	out.Status = statusOf(e, x)
	out.RedriveStatus, out.RedriveReason = s.redrivability(e, x)
	return out, nil
}
