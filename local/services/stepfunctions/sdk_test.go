package stepfunctions_test

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/aws"
	"stepback/local/services/stepfunctions/wiretest"
)

func TestSDKStopAndDelete(t *testing.T) {
	t.Parallel()
	c, ctx := wiretest.Client(wiretest.Server(t), "123456789012", "us-east-1"), t.Context()
	machine := wiretest.Create(t, c, "m", wiretest.Waiting, types.StateMachineTypeStandard)
	start := func(name string) *string {
		x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Name: &name})
		if err != nil {
			t.Fatal(err)
		}
		return x.ExecutionArn
	}
	first, again, second := start("x"), start("x"), start("y")
	if *first != *again {
		t.Errorf("%s, %s: the same start twice", *first, *again)
	}
	if _, err := c.StopExecution(ctx, &sfn.StopExecutionInput{ExecutionArn: first,
		Error: sdk.String("E")}); err != nil {
		t.Fatal(err)
	}
	if d := wiretest.Ended(t, c, first); d.Status != types.ExecutionStatusAborted || *d.Error != "E" || d.Cause != nil {
		t.Errorf("%+v", d)
	}
	l, err := c.ListExecutions(ctx, &sfn.ListExecutionsInput{StateMachineArn: machine,
		StatusFilter: types.ExecutionStatusRunning})
	if err != nil || len(l.Executions) != 1 || *l.Executions[0].ExecutionArn != *second {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := c.DeleteStateMachine(ctx, &sfn.DeleteStateMachineInput{StateMachineArn: machine}); err != nil {
		t.Fatal(err)
	}
	wiretest.Ended(t, c, second)
	_, err = c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: machine})
	wiretest.Refused[*types.StateMachineDoesNotExist](t, err, "State Machine Does Not Exist: '"+*machine+"'")
}

func TestSDKScopesDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	url := wiretest.Server(t)
	machine := wiretest.Create(t, wiretest.Client(url, "111111111111", "us-east-1"), "m", wiretest.Pass, types.StateMachineTypeStandard)
	for _, s := range []aws.Scope{{Account: "222222222222", Region: "us-east-1"}, {Account: "111111111111",
		Region: "eu-west-1"}} {
		c := wiretest.Client(url, s.Account, s.Region)
		_, err := c.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: machine})
		wiretest.Refused[*types.StateMachineDoesNotExist](t, err, *machine)
		l, err := c.ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{})
		if err != nil || len(l.StateMachines) != 0 {
			t.Errorf("%+v, %v", l, err)
		}
	}
}
