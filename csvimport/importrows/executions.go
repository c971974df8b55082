package importrows

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/outbox/deadletters"
)

// StatesExecutions implements Executions with the Step Functions API.
type StatesExecutions struct {
	Client *sfn.Client
	ARN    func(name string) string // returns the ARN of an execution with this name
}

// Start implements Executions.
func (s StatesExecutions) Start(ctx context.Context, of, name string) error {
	before, err := s.Client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: aws.String(s.ARN(of))})
	if err != nil {
		return err
	}
	machine := before.StateMachineArn
	if before.StateMachineAliasArn != nil {
		machine = before.StateMachineAliasArn
	}
	_, err = s.Client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Name: &name,
		Input: before.Input})
	if _, exists := errors.AsType[*types.ExecutionAlreadyExists](err); exists {
		return nil // another operator has started it
	}
	return err
}

// Describe implements Executions.
func (s StatesExecutions) Describe(ctx context.Context, name string) (Execution, error) {
	out, err := s.Client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: aws.String(s.ARN(name))})
	if _, missing := errors.AsType[*types.ExecutionDoesNotExist](err); missing {
		return Execution{}, deadletters.ErrNotFound
	}
	if err != nil {
		return Execution{}, err
	}
	return Execution{
		Running: out.Status == types.ExecutionStatusRunning || out.Status == types.ExecutionStatusPendingRedrive,
		Error:   aws.ToString(out.Error), Cause: aws.ToString(out.Cause), Stopped: aws.ToTime(out.StopDate),
	}, nil
}
