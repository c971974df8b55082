package main

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/cmd/stepback/serve"
)

// jittered retries a function that does not exist, after waits of up to an hour, and then waits a day.
const jittered = `{"StartAt": "Charge", "States": {
	"Charge": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:none", "Retry": [
		{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 3600, "MaxAttempts": 3, "JitterStrategy": "FULL"}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Cool"}], "Next": "Cool"},
	"Cool": {"Type": "Wait", "Seconds": 86400, "End": true}}}`

// waitsOf runs jittered at a server and returns the waits before each retry, and how long the execution took.
func waitsOf(t *testing.T, c *serve.Serve, name string) (waits []time.Duration, took time.Duration) {
	t.Helper()
	url, stop := servingAs(t, c)
	defer stop()
	states, ctx := clientsOf(url).states, t.Context()
	machine, err := states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("orders"),
		Definition: aws.String(jittered), RoleArn: aws.String("arn:aws:iam::000000000000:role/r")})
	if err != nil {
		t.Fatal(err)
	}
	x, err := states.StartExecution(ctx,
		&sfn.StartExecutionInput{StateMachineArn: machine.StateMachineArn, Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	for {
		d, err := states.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: x.ExecutionArn})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != sfntypes.ExecutionStatusRunning {
			took = d.StopDate.Sub(*d.StartDate)
			break
		}
	}
	history, err := states.GetExecutionHistory(ctx, &sfn.GetExecutionHistoryInput{ExecutionArn: x.ExecutionArn})
	if err != nil {
		t.Fatal(err)
	}
	var failed time.Time
	for _, e := range history.Events {
		switch e.Type {
		case sfntypes.HistoryEventTypeLambdaFunctionFailed:
			failed = *e.Timestamp
		case sfntypes.HistoryEventTypeLambdaFunctionScheduled:
			if !failed.IsZero() {
				waits = append(waits, e.Timestamp.Sub(failed))
			}
		default:
		}
	}
	return waits, took
}

func TestServeInVirtualTime(t *testing.T) {
	t.Parallel()
	virtual := func(seed uint64, name string) ([]time.Duration, time.Duration) {
		return waitsOf(t, &serve.Serve{Data: t.TempDir(), VirtualTime: true, EngineSeed: seed}, name)
	}
	first, took := virtual(7, "a")
	if len(first) != 3 || slices.Max(first) < time.Second || slices.Max(first) > 4*time.Hour || took < 24*time.Hour {
		t.Errorf("waits are %v and the execution took %v", first, took)
	}
	if again, _ := virtual(7, "a"); !slices.Equal(again, first) {
		t.Errorf("the same seed and name give %v and %v", first, again)
	}
	if other, _ := virtual(8, "a"); slices.Equal(other, first) {
		t.Errorf("another seed gives %v, too", other)
	}
	if other, _ := virtual(7, "b"); slices.Equal(other, first) {
		t.Errorf("another execution waits %v, too", other)
	}
}
