package executions

import (
	"context"
	"errors"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions/apierror"
)

type redriveExecutionRequest struct {
	ARN         string `json:"executionArn"`
	ClientToken string `json:"clientToken"`
}

type redriveExecutionResponse struct {
	Redriven server.Time `json:"redriveDate"`
}

func (s *Service) redriveExecution(ctx context.Context, scope aws.Scope,
	in *redriveExecutionRequest) (*redriveExecutionResponse, error) {
	e, x, err := s.execution(ctx, scope, in.ARN, true)
	if err != nil {
		return nil, err
	}
	if reason := s.deleting(x); reason != "" {
		return nil, apierror.NotRedrivable(reason)
	}
	at, err := e.RedriveExecution(ctx, in.ARN, in.ClientToken)
	var refusal *engine.NotRedrivableError
	if errors.As(err, &refusal) {
		return nil, apierror.NotRedrivable(refusal.Reason)
	}
	if err != nil {
		return nil, err
	}
	return &redriveExecutionResponse{server.Time(at)}, nil
}

// redrivability reports whether an execution can be redriven, and if not, the reason.
func (s *Service) redrivability(e *engine.Engine, x *journal.Execution) (status, reason string) {
	const no = "NOT_REDRIVABLE"
	var refusal *engine.NotRedrivableError
	if errors.As(e.Redrivable(x), &refusal) {
		return no, refusal.Reason
	}
	if reason := s.deleting(x); reason != "" {
		return no, reason
	}
	if x.MapRunARN != "" {
		return "REDRIVABLE_BY_MAP_RUN", ""
	}
	return "REDRIVABLE", ""
}

// deleting returns the reason why an execution cannot be redriven if its state machine is in DELETING, or "".
func (s *Service) deleting(x *journal.Execution) string {
	if s.cfg.Machines.Deleting(x.MachineARN) {
		return "State machine is in DELETING status"
	}
	return ""
}

// statusOf returns the status of an execution as the API shows it.
func statusOf(e *engine.Engine, x *journal.Execution) history.Status {
	if e.PendingRedrive(x) {
		return PendingRedrive
	}
	return x.Status
}
