package stepfunctions

import (
	"context"

	"stepback/awsapi/awsjson"
	"stepback/engine/interpreter"
	"stepback/engine/journal"
)

type describeExecutionRequest struct {
	ARN          string `json:"executionArn"`
	IncludedData string `json:"includedData"`
}

var describeExecutionMembers = []awsjson.Member{executionARN(), includedData}

// origin says what an execution was started of.
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
	Name          string       `json:"name"`
	Started       awsjson.Time `json:"startDate"`
	RedriveCount  int          `json:"redriveCount"`
	RedriveStatus string       `json:"redriveStatus,omitempty"`
	RedriveReason string       `json:"redriveStatusReason,omitempty"`
}

func (s *Service) describeExecution(ctx context.Context, scope awsjson.Scope, in *describeExecutionRequest) (*describeExecutionResponse, error) {
	_, x, err := s.execution(ctx, scope, in.ARN, true)
	if err != nil {
		return nil, err
	}
	out := &describeExecutionResponse{
		executionOutcome: outcomeOf(x, in.IncludedData), origin: originOf(x), Name: x.Name, Started: awsjson.Time(x.Start),
	}
	out.RedriveStatus, out.RedriveReason = redrivable(x)
	return out, nil
}

// redrivable says whether an execution could be redriven, and why not.
func redrivable(x *journal.Execution) (status, reason string) {
	switch {
	case x.Status == interpreter.Running || x.Status == interpreter.Succeeded:
		return "NOT_REDRIVABLE", "Execution is " + string(x.Status) + " and cannot be redriven"
	case x.HistorySize >= interpreter.MaxEvents-1:
		return "NOT_REDRIVABLE", "Execution history event limit exceeded"
	case x.MapRunARN != "":
		return "REDRIVABLE_BY_MAP_RUN", ""
	default:
		return "REDRIVABLE", ""
	}
}
