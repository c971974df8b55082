package main

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/retrymetrics"
)

// machines describes state machines; *sfn.Client implements it.
type machines interface {
	DescribeStateMachine(context.Context, *sfn.DescribeStateMachineInput,
		...func(*sfn.Options)) (*sfn.DescribeStateMachineOutput, error)
}

// configuration publishes the state machine's current retry settings, for comparison with the intended ones, and the
// counts of executions whose records have stopped arriving.
func (h *handler) configuration(ctx context.Context) error {
	if h.machineARN == "" {
		return errors.New("STATE_MACHINE_ARN is not set; set it to the ARN of the state machine whose log is subscribed to")
	}
	described, err := h.machines.DescribeStateMachine(ctx,
		&sfn.DescribeStateMachineInput{StateMachineArn: aws.String(h.machineARN)})
	if err != nil {
		return err
	}
	all, err := retrymetrics.Configurations([]byte(aws.ToString(described.Definition)))
	if err != nil {
		return err
	}
	var c retrymetrics.Collector
	c.AddConfiguration(h.machine(), h.now(), all)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.publish(ctx, nil, append(c.Points(), h.reader.Expire(h.now())...))
}
