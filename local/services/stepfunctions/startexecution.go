package stepfunctions

import (
	"context"
	"errors"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/jsonvalue"
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
	t, err := s.target(scope, in.ARN)
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
func (s *Service) start(ctx context.Context, scope aws.Scope, t *target,
	in *startExecutionRequest) (*engine.Started, error) {
	if !validName(in.Name) {
		return nil, invalidName(in.Name)
	}
	if in.Name == "" {
		in.Name = aws.NewID()
	}
	input := "{}"
	if in.Input != nil {
		input = *in.Input
	}
	e, err := s.engine(scope)
	if err != nil {
		return nil, err
	}
	plan, err := s.plan(e, t.revision)
	if err != nil {
		return nil, err
	}
	started, err := e.Start(ctx, &engine.Start{
		Machine: plan,
		Origin: engine.Origin{
			Name: in.Name, Input: input, VersionARN: t.versionARN, AliasARN: t.aliasARN, Revision: t.revision.ID,
			TraceHeader: s.trace(ctx, scope, t, in.TraceHeader), TestCase: in.testCase, Sync: in.sync,
		},
	})
	if refusal := noTestCase(err); refusal != nil {
		return nil, refusal
	}
	var syntax *jsonvalue.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, malformedInput(syntax, input)
	case errors.Is(err, engine.ErrInput):
		return nil, invalidInput(strings.TrimPrefix(err.Error(), engine.ErrInput.Error()+": "))
	case errors.Is(err, engine.ErrAlreadyExists):
		return nil, executionExists(plan.ExecutionARN(in.Name))
	}
	return started, err
}

// trace returns the trace header of an execution: the one of the HTTP request, or else the one in its body. If
// neither decides, the machine's tracingConfiguration and the sampling rules do.
func (s *Service) trace(ctx context.Context, scope aws.Scope, t *target, given string) string {
	trace, ok := aws.TraceOf(ctx)
	if ok {
		given = trace.String()
	} else {
		trace, ok = aws.ParseTrace(given)
	}
	if ok && !trace.Undecided || s.cfg.Sample == nil || !t.revision.Tracing.Enabled ||
		!s.cfg.Sample(scope, t.machine.ARN) {
		return given
	}
	if !ok {
		trace = aws.NewTrace(s.cfg.Now(), true)
	}
	trace.Sampled, trace.Undecided = true, false
	return trace.String()
}
