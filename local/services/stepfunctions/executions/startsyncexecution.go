package executions

import (
	"context"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/statemachines"
)

// billing holds what AWS would bill for an Express execution.
type billing struct {
	MemoryMB   int64 `json:"billedMemoryUsedInMB"`
	DurationMS int64 `json:"billedDurationInMilliseconds"`
}

type startSyncExecutionResponse struct {
	executionOutcome
	Name       string      `json:"name"`
	MachineARN string      `json:"stateMachineArn"`
	Started    server.Time `json:"startDate"`
	Billing    billing     `json:"billingDetails"`
}

func (s *Service) startSyncExecution(ctx context.Context, scope aws.Scope,
	in *startExecutionRequest) (*startSyncExecutionResponse, error) {
	s.splitTestCase(in)
	t, err := s.cfg.Machines.Target(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	if t.Machine.Type != statemachines.TypeExpress {
		return nil, apierror.ErrTypeSupported
	}
	in.sync = true
	started, err := s.start(ctx, scope, t, in)
	if err != nil {
		return nil, err
	}
	x, err := started.Wait(ctx)
	if err != nil {
		return nil, err
	}
	out := &startSyncExecutionResponse{
		executionOutcome: outcomeOf(x, in.IncludedData), Name: x.Name, MachineARN: x.MachineARN,
		Started: server.Time(x.Start),
		Billing: billed(x.Stop.Sub(x.Start)),
	}
	if in.IncludedData != metadataOnly {
		out.OutputDetails = &included{true}
	}
	return out, nil
}

// billed rounds d up to 100 ms. Memory is billed in steps of 64 MB; no workflow here needs more than one step.
func billed(d time.Duration) billing {
	const unit, memory = 100 * time.Millisecond, 64
	return billing{memory, max(1, int64((d+unit-1)/unit)) * unit.Milliseconds()}
}
