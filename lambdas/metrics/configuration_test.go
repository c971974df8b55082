package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
)

// described simulates a Step Functions with one state machine.
type described string

func (d described) DescribeStateMachine(_ context.Context, in *sfn.DescribeStateMachineInput,
	_ ...func(*sfn.Options)) (*sfn.DescribeStateMachineOutput, error) {
	return &sfn.DescribeStateMachineOutput{StateMachineArn: in.StateMachineArn, Definition: aws.String(string(d))}, nil
}

func TestASchedulesEventPublishesTheConfiguration(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	h := handler{
		out: &out, now: func() time.Time { return time.UnixMilli(120_500) },
		machineARN: "arn:aws:states:us-east-1:123456789012:stateMachine:csv-import",
		machines:   described(`{"States":{"Work":{"Retry":[{"ErrorEquals":["E"],"MaxAttempts":2,"IntervalSeconds":5}]}}}`),
	}
	if err := h.handle(t.Context(), json.RawMessage(`{"source":"aws.events"}`)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"ConfiguredRetries":2`, `"ConfiguredWait":15`, `"State":"Work"`,
		`"StateMachine":"csv-import"`, `"Timestamp":120000`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out.String())
		}
	}
	h.machineARN = ""
	if err := h.handle(t.Context(), json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(),
		"STATE_MACHINE_ARN is not set") {
		t.Errorf("%v", err)
	}
}
