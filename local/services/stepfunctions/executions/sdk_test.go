package executions_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/local/services/stepfunctions/wiretest"
)

func TestSDKExecution(t *testing.T) {
	t.Parallel()
	c, ctx := wiretest.Client(wiretest.Server(t), "123456789012", "eu-west-1"), t.Context()
	machine := wiretest.Create(t, c, "m", wiretest.Pass, types.StateMachineTypeStandard)
	x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Name: sdk.String("x"),
		Input: sdk.String(`{"b":2}`)})
	if err != nil {
		t.Fatal(err)
	}
	if *x.ExecutionArn != "arn:aws:states:eu-west-1:123456789012:execution:m:x" ||
		time.Since(*x.StartDate) > time.Hour {
		t.Errorf("%s, %s", *x.ExecutionArn, x.StartDate)
	}
	d := wiretest.Ended(t, c, x.ExecutionArn)
	if d.Status != types.ExecutionStatusSucceeded || *d.Output != `{"a":1}` || *d.Input != `{"b":2}` {
		t.Errorf("%+v", d)
	}
	var events []types.HistoryEvent
	pages := sfn.NewGetExecutionHistoryPaginator(c, &sfn.GetExecutionHistoryInput{ExecutionArn: x.ExecutionArn,
		MaxResults: 3, ReverseOrder: true})
	for pages.HasMorePages() {
		p, err := pages.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, p.Events...)
	}
	if len(events) != 4 || events[0].Type != types.HistoryEventTypeExecutionSucceeded || events[3].Id != 1 {
		t.Errorf("%+v", events)
	}
	_, err = c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Name: sdk.String("x"),
		Input: sdk.String(`{"b":2}`)})
	wiretest.Refused[*types.ExecutionAlreadyExists](t, err, "Execution Already Exists: '"+*x.ExecutionArn+"'")
	_, err = c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Input: sdk.String(`{`)})
	wiretest.Refused[*types.InvalidExecutionInput](t, err,
		"Invalid State Machine Execution Input: 'Unexpected end-of-input: expected close marker for Object (start marker at [line: 1, column: 1])'")
	_, err = c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Input: sdk.String("")})
	wiretest.Refused[*types.InvalidExecutionInput](t, err,
		"Invalid State Machine Execution Input: 'Invalid execution input.'")
	_, err = c.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: sdk.String(*x.ExecutionArn + "y")})
	wiretest.Refused[*types.ExecutionDoesNotExist](t, err, "Execution Does Not Exist: '")
}

func TestSDKExpress(t *testing.T) {
	t.Parallel()
	c, ctx := wiretest.Client(wiretest.Server(t), "123456789012", "us-east-1"), t.Context()
	sync := func(machine *string) *sfn.StartSyncExecutionOutput {
		x, err := c.StartSyncExecution(ctx, &sfn.StartSyncExecutionInput{StateMachineArn: machine})
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if x := sync(wiretest.Create(t, c, "good", wiretest.Pass,
		types.StateMachineTypeExpress)); x.Status != types.SyncExecutionStatusSucceeded || *x.Output != `{"a":1}` ||
		x.BillingDetails.BilledMemoryUsedInMB != 64 {
		t.Errorf("%+v", x)
	}
	if x := sync(wiretest.Create(t, c, "bad", wiretest.Failing,
		types.StateMachineTypeExpress)); x.Status != types.SyncExecutionStatusFailed || *x.Error != "E" ||
		*x.Cause != "C" || x.Output != nil {
		t.Errorf("%+v", x)
	}
	machine := wiretest.Create(t, c, "standard", wiretest.Pass, types.StateMachineTypeStandard)
	_, err := c.StartSyncExecution(ctx, &sfn.StartSyncExecutionInput{StateMachineArn: machine})
	wiretest.Refused[*types.StateMachineTypeNotSupported](t, err, "not supported by this type")
}

func TestSDKMapRun(t *testing.T) {
	t.Parallel()
	c, ctx := wiretest.Client(wiretest.Server(t), "123456789012", "us-east-1"), t.Context()
	machine := wiretest.Create(t, c, "m", `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":1,"End":true,"ItemProcessor":{`+
		`"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":3600,"End":true}}}}}}`,
		types.StateMachineTypeStandard)
	x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Input: sdk.String(`[1,2,3]`)})
	if err != nil {
		t.Fatal(err)
	}
	run := mapRunWith(t, c, x.ExecutionArn, 1)
	if _, err := c.UpdateMapRun(ctx, &sfn.UpdateMapRunInput{MapRunArn: run, MaxConcurrency: sdk.Int32(2)}); err != nil {
		t.Fatal(err)
	}
	mapRunWith(t, c, x.ExecutionArn, 2)
	l := &sfn.ListExecutionsOutput{}
	for len(l.Executions) < 2 && ctx.Err() == nil { // a child is counted before it is in the journal
		if l, err = c.ListExecutions(ctx, &sfn.ListExecutionsInput{MapRunArn: run}); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.Executions) != 2 || *l.Executions[0].MapRunArn != *run || *l.Executions[0].StateMachineArn != *machine+
		"/M" {
		t.Errorf("%+v", l.Executions)
	}
	if _, err := c.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: x.ExecutionArn}); err != nil {
		t.Fatal(err)
	}
	for {
		d, err := c.DescribeMapRun(ctx, &sfn.DescribeMapRunInput{MapRunArn: run})
		if err != nil {
			t.Fatal(err)
		}
		if d.Status == types.MapRunStatusRunning {
			continue
		}
		if d.Status != types.MapRunStatusAborted || d.ItemCounts.Aborted != 2 || d.ItemCounts.Pending != 1 ||
			d.MaxConcurrency != 2 {
			t.Errorf("%+v %+v", d, d.ItemCounts)
		}
		break
	}
	_, err = c.UpdateMapRun(ctx, &sfn.UpdateMapRunInput{MapRunArn: run, MaxConcurrency: sdk.Int32(3)})
	wiretest.Refused[*types.ValidationException](t, err, "already complete")
}

// mapRunWith waits until an execution's Map Run has the given number of running child executions.
func mapRunWith(t *testing.T, c *sfn.Client, execution *string, running int64) *string {
	t.Helper()
	for t.Context().Err() == nil {
		l, err := c.ListMapRuns(t.Context(), &sfn.ListMapRunsInput{ExecutionArn: execution})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.MapRuns) == 0 {
			continue
		}
		d, err := c.DescribeMapRun(t.Context(), &sfn.DescribeMapRunInput{MapRunArn: l.MapRuns[0].MapRunArn})
		if err != nil {
			t.Fatal(err)
		}
		if d.ExecutionCounts.Running == running {
			return l.MapRuns[0].MapRunArn
		}
	}
	t.Fatal(t.Context().Err())
	return nil
}
