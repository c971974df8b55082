package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/serve"
)

// jittered retries a function that does not exist, after waits of up to an hour, and then waits a day.
const jittered = `{"StartAt": "Charge", "States": {
	"Charge": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:none", "Retry": [
		{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 3600, "MaxAttempts": 3, "JitterStrategy": "FULL"}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Cool"}], "Next": "Cool"},
	"Cool": {"Type": "Wait", "Seconds": 86400, "End": true}}}`

// scaled is like jittered, with one wait of an hour and one of two.
const scaled = `{"StartAt": "Charge", "States": {
	"Charge": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:000000000000:function:none", "Retry": [
		{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 3600, "MaxAttempts": 1}],
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Cool"}], "Next": "Cool"},
	"Cool": {"Type": "Wait", "Seconds": 7200, "End": true}}}`

// waitsOf runs a definition at a server and returns the waits before each retry, and how long the execution took.
func waitsOf(t *testing.T, c *serve.Serve, name, definition string) (waits []time.Duration, took time.Duration) {
	t.Helper()
	url, stop := servingAs(t, c)
	defer stop()
	states, ctx := clientsOf(url).states, t.Context()
	machine, err := states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("orders"),
		Definition: &definition, RoleArn: aws.String("arn:aws:iam::000000000000:role/r")})
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
		return waitsOf(t, &serve.Serve{Data: t.TempDir(), VirtualTime: true, EngineSeed: seed}, name, jittered)
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

func TestServeOnAScaledClock(t *testing.T) {
	t.Parallel()
	began := time.Now()
	waits, took := waitsOf(t, &serve.Serve{Data: t.TempDir(), TimeScale: new(3600.0)}, "a", scaled)
	ran := 3600 * time.Since(began)
	if len(waits) != 1 || waits[0] < time.Hour || took < 3*time.Hour {
		t.Errorf("waits are %v and the execution took %v", waits, took)
	}
	if took > ran {
		t.Errorf("the execution took %v, longer than the %v that passed meanwhile", took, ran)
	}
}

func TestRefusedTimeScales(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, message string }{
		{"--time-scale=0", "--time-scale 0: give a number from 0.01 to 3600"},
		{"--time-scale=0.001", "--time-scale 0.001: give a number from 0.01 to 3600"},
		{"--time-scale=1e9", "--time-scale 1e+09: give a number from 0.01 to 3600"},
		{"--time-scale=-1", "--time-scale -1: give a number from 0.01 to 3600"},
		{"--time-scale=NaN", "--time-scale NaN: give a number from 0.01 to 3600"},
		{"--time-scale=60 --virtual-time", "--time-scale and --virtual-time exclude each other"},
	} {
		stepback(t, append([]string{"serve", "--data", "memory"}, strings.Fields(c.flag)...)...).complains(t, exit.Usage, c.message)
	}
}
