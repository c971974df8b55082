// Package sfnexecutions starts executions of a state machine through the Step Functions API.
//
// It never waits for an execution and never retries beyond what the AWS SDK does by itself.
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

// New takes a client and the ARN of the state machine.
func New(client *sfn.Client, stateMachineARN string) *Executions {
	return &Executions{client: client, machine: stateMachineARN}
}

// FromEnvironment builds the client from the AWS SDK's own variables (AWS_REGION, credentials, AWS_ENDPOINT_URL_SFN or
// AWS_ENDPOINT_URL).
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

// Start starts an execution of that name and input. It answers false when Step Functions says ExecutionAlreadyExists:
// the name was used within the last 90 days, by an execution that has ended or had another input. While an execution of
// the same name and input runs, Step Functions answers as if it had just been started.
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
