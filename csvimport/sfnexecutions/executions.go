// Package sfnexecutions starts executions of a state machine through the Step Functions API.
//
// It never waits for an execution, and retries only as the AWS SDK does.
package sfnexecutions

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
)

// Executions starts executions of one state machine.
type Executions struct {
	client  *sfn.Client
	machine string
}

// New returns Executions that start the state machine with this ARN.
func New(client *sfn.Client, stateMachineARN string) *Executions {
	return &Executions{client: client, machine: stateMachineARN}
}

// FromEnvironment creates the client from the AWS SDK's own variables (AWS_REGION, credentials, AWS_ENDPOINT_URL_SFN
// or AWS_ENDPOINT_URL).
func FromEnvironment(ctx context.Context, stateMachineARN string) (*Executions, error) {
	if stateMachineARN == "" {
		return nil, errors.New("STATE_MACHINE_ARN is not set; set it to the ARN of the state machine to start")
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load the AWS configuration: %w", err)
	}
	return New(sfn.NewFromConfig(cfg), stateMachineARN), nil
}

// Start starts an execution with this name and input. It returns false if Step Functions responds with
// ExecutionAlreadyExists: the name was used within the last 90 days, by an execution that has ended or had a
// different input. While an execution with the same name and input is running, Step Functions responds as if it had
// just been started.
func (e *Executions) Start(ctx context.Context, name, input string) (bool, error) {
	_, err := e.client.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: aws.String(e.machine), Name: aws.String(name), Input: aws.String(input),
	})
	var exists *types.ExecutionAlreadyExists
	if errors.As(err, &exists) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("start execution %s of %s: %w", name, e.machine, err)
	}
	return true, nil
}
