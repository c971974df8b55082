package executions_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/local/services/stepfunctions/wiretest"
)

func TestSDKRedrive(t *testing.T) {
	t.Parallel()
	c, ctx := wiretest.Client(wiretest.Server(t), "123456789012", "eu-west-1"), t.Context()
	start := func(name, definition string) *string {
		machine := wiretest.Create(t, c, name, definition, types.StateMachineTypeStandard)
		x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine})
		if err != nil {
			t.Fatal(err)
		}
		return x.ExecutionArn
	}
	arn := start("fails", wiretest.Failing)
	if d := wiretest.Ended(t, c, arn); d.RedriveStatus != types.ExecutionRedriveStatusRedrivable ||
		*d.RedriveCount != 0 || d.RedriveDate != nil {
		t.Errorf("%+v", d)
	}
	redrive := &sfn.RedriveExecutionInput{ExecutionArn: arn, ClientToken: aws.String("once")}
	first, err := c.RedriveExecution(ctx, redrive)
	if err != nil {
		t.Fatal(err)
	}
	d := wiretest.Ended(t, c, arn)
	if d.Status != types.ExecutionStatusFailed || *d.RedriveCount != 1 || !d.RedriveDate.Equal(*first.RedriveDate) {
		t.Errorf("%+v", d)
	}
	if again, err := c.RedriveExecution(ctx, redrive); err != nil || !again.RedriveDate.Equal(*first.RedriveDate) {
		t.Errorf("with the same token: %+v, %v", again, err)
	}
	h, err := c.GetExecutionHistory(ctx, &sfn.GetExecutionHistoryInput{ExecutionArn: arn})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for i, e := range h.Events {
		if e.Id != int64(i+1) {
			t.Errorf("event %d has the ID %d", i+1, e.Id)
		}
		got += fmt.Sprint(e.Type, " ")
		if e.Type == types.HistoryEventTypeExecutionRedriven && *e.ExecutionRedrivenEventDetails.RedriveCount != 1 {
			t.Errorf("%+v", e.ExecutionRedrivenEventDetails)
		}
	}
	if got != "ExecutionStarted FailStateEntered ExecutionFailed ExecutionRedriven FailStateEntered ExecutionFailed " {
		t.Error(got)
	}
	for filter, want := range map[types.ExecutionRedriveFilter]int{types.ExecutionRedriveFilterRedriven: 1,
		types.ExecutionRedriveFilterNotRedriven: 0} {
		l, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: d.StateMachineArn,
			RedriveFilter: filter})
		if err != nil || len(l.Executions) != want {
			t.Errorf("%s: %+v, %v", filter, l, err)
		}
	}
	succeeds := start("succeeds", wiretest.Pass)
	if d := wiretest.Ended(t, c, succeeds); d.RedriveStatus != types.ExecutionRedriveStatusNotRedrivable ||
		*d.RedriveStatusReason != "Execution is SUCCEEDED and cannot be redriven" {
		t.Errorf("%+v", d)
	}
	_, err = c.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: succeeds})
	wiretest.Refused[*types.ExecutionNotRedrivable](t, err, "Execution is SUCCEEDED and cannot be redriven")
	_, err = c.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: aws.String(*arn + "x")})
	wiretest.Refused[*types.ExecutionDoesNotExist](t, err, "Execution Does Not Exist")
	_, err = c.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: d.StateMachineArn})
	wiretest.Refused[*types.InvalidArn](t, err, "Invalid Arn")
}

// TestSDKRedriveOfAMapRun redrives an execution whose Map Run failed; the Map Run fails again.
func TestSDKRedriveOfAMapRun(t *testing.T) {
	t.Parallel()
	c, ctx := wiretest.Client(wiretest.Server(t), "123456789012", "eu-west-1"), t.Context()
	machine := wiretest.Create(t, c, "m", `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":1,"End":true,
		"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"C","States":{
			"C":{"Type":"Choice","Choices":[{"Variable":"$","NumericEquals":2,"Next":"F"}],"Default":"S"},
			"S":{"Type":"Succeed"},"F":{"Type":"Fail"}}}}}}`, types.StateMachineTypeStandard)
	x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Input: aws.String(`[1,2,3]`)})
	if err != nil {
		t.Fatal(err)
	}
	wiretest.Ended(t, c, x.ExecutionArn)
	if _, err := c.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: x.ExecutionArn}); err != nil {
		t.Fatal(err)
	}
	if d := wiretest.Ended(t, c, x.ExecutionArn); d.Status != types.ExecutionStatusFailed || *d.RedriveCount != 1 {
		t.Errorf("%+v", d)
	}
	runs, err := c.ListMapRuns(ctx, &sfn.ListMapRunsInput{ExecutionArn: x.ExecutionArn})
	if err != nil || len(runs.MapRuns) != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	m, err := c.DescribeMapRun(ctx, &sfn.DescribeMapRunInput{MapRunArn: runs.MapRuns[0].MapRunArn})
	if err != nil {
		t.Fatal(err)
	}
	if n := m.ExecutionCounts; *m.RedriveCount != 1 || m.RedriveDate == nil || m.Status != types.MapRunStatusFailed ||
		n.Succeeded != 1 || n.Failed != 1 || n.Pending != 1 {
		t.Errorf("%+v %+v", m, m.ExecutionCounts)
	}
	children, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{MapRunArn: m.MapRunArn,
		RedriveFilter: types.ExecutionRedriveFilterRedriven})
	if err != nil || len(children.Executions) != 1 || children.Executions[0].Status != types.ExecutionStatusFailed {
		t.Fatalf("%+v, %v", children, err)
	}
	child, err := c.DescribeExecution(ctx,
		&sfn.DescribeExecutionInput{ExecutionArn: children.Executions[0].ExecutionArn})
	if err != nil || child.RedriveStatus != types.ExecutionRedriveStatusRedrivableByMapRun || *child.RedriveCount != 1 {
		t.Errorf("%+v, %v", child, err)
	}
	_, err = c.RedriveExecution(ctx, &sfn.RedriveExecutionInput{ExecutionArn: child.ExecutionArn})
	wiretest.Refused[*types.ExecutionNotRedrivable](t, err, "Map Run")
}
