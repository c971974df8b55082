package executions

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/local/services/stepfunctions/apierror"
	"stepback/local/services/stepfunctions/statemachines"
)

type startExecutionRequest struct {
	ARN          string  `json:"stateMachineArn"`
	Name         string  `json:"name"`
	Input        *string `json:"input"`
	TraceHeader  string  `json:"traceHeader"`
	IncludedData string  `json:"includedData"` // StartSyncExecution only
	testCase     string
	sync         bool // true for StartSyncExecution
}

type startExecutionResponse struct {
	ARN     string      `json:"executionArn"`
	Started server.Time `json:"startDate"`
}

func (s *Service) startExecution(ctx context.Context, scope aws.Scope,
	in *startExecutionRequest) (*startExecutionResponse, error) {
	s.splitTestCase(in)
	t, err := s.cfg.Machines.Target(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	started, err := s.start(ctx, scope, t, in)
	if err != nil {
		return nil, err
	}
	return &startExecutionResponse{started.ARN, server.Time(started.At)}, nil
}

// start starts an execution of a target.
func (s *Service) start(ctx context.Context, scope aws.Scope, t *statemachines.Target,
	in *startExecutionRequest) (*engine.Started, error) {
	if !engine.ValidName(in.Name) {
		return nil, apierror.InvalidName(in.Name)
	}
	unnamed := in.Name == ""
	if unnamed {
		in.Name = aws.NewID()
	}
	input := "{}"
	if in.Input != nil {
		input = *in.Input
	}
	e, err := s.cfg.Engine(scope)
	if err != nil {
		return nil, err
	}
	plan, err := s.cfg.Machines.Plan(e, t.Revision)
	if err != nil {
		return nil, err
	}
	started, err := e.Start(ctx, &engine.Start{
		Machine: plan, NewName: unnamed,
		Origin: engine.Origin{
			Name: in.Name, Input: input, VersionARN: t.VersionARN, AliasARN: t.AliasARN, Revision: t.Revision.ID,
			TraceHeader: s.trace(ctx, scope, t, in.TraceHeader), TestCase: in.testCase, Sync: in.sync,
		},
	})
	if refusal := noTestCase(err); refusal != nil {
		return nil, refusal
	}
	var syntax *jsonvalue.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, apierror.MalformedInput(syntax, input)
	case errors.Is(err, engine.ErrInput):
		return nil, apierror.InvalidInput(strings.TrimPrefix(err.Error(), engine.ErrInput.Error()+": "))
	case errors.Is(err, engine.ErrAlreadyExists):
		return nil, apierror.ExecutionExists(plan.ExecutionARN(in.Name))
	}
	return started, err
}

// trace returns the trace header of an execution. The header of the HTTP request takes precedence over the one in
// its body. If neither decides, the machine's tracingConfiguration and the sampling rules do.
func (s *Service) trace(ctx context.Context, scope aws.Scope, t *statemachines.Target, given string) string {
	trace, ok := aws.TraceOf(ctx)
	if ok {
		given = trace.String()
	} else {
		trace, ok = aws.ParseTrace(given)
	}
	if ok && !trace.Undecided || s.cfg.Sample == nil || !t.Revision.Tracing.Enabled ||
		!s.cfg.Sample(scope, t.Machine.ARN) {
		return given
	}
	if !ok {
		trace = aws.NewTrace(s.cfg.Now(), true)
	}
	trace.Sampled, trace.Undecided = true, false
	return trace.String()
}
