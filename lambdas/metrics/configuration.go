package main

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/retrymetrics"
)

// machines is where the state machine is described: *sfn.Client.
type machines interface {
	DescribeStateMachine(context.Context, *sfn.DescribeStateMachineInput,
		...func(*sfn.Options)) (*sfn.DescribeStateMachineOutput, error)
}

// configuration publishes how the state machine retries now, to be compared with how it is meant to, and what was
// counted of executions whose records have stopped coming.
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
	c.AddConfiguration(h.machineARN[strings.LastIndexByte(h.machineARN, ':')+1:], h.now(), all)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.publish(append(c.Points(), h.reader.Expire(h.now())...))
}
