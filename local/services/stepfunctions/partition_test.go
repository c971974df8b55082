package stepfunctions_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/local/services/stepfunctions/wiretest"
)

// TestARNsAreOfTheRegionsPartition uses a state machine, an activity and executions in regions outside the partition
// aws.
func TestARNsAreOfTheRegionsPartition(t *testing.T) {
	t.Parallel()
	url := wiretest.Server(t)
	for region, partition := range map[string]string{"cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov",
		"eu-central-1": "aws"} {
		c, ctx := wiretest.Client(url, "123456789012", region), t.Context()
		prefix := "arn:" + partition + ":states:" + region + ":123456789012:"
		a, err := c.CreateActivity(ctx, &sfn.CreateActivityInput{Name: aws.String("a")})
		if err != nil || *a.ActivityArn != prefix+"activity:a" {
			t.Fatal(a, err)
		}
		m := wiretest.Create(t, c, "m", `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"`+*a.ActivityArn+
			`","End":true}}}`, "")
		if *m != prefix+"stateMachine:m" {
			t.Errorf("machine %s", *m)
		}
		x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: m, Name: aws.String("x")})
		if err != nil || *x.ExecutionArn != prefix+"execution:m:x" {
			t.Fatal(x, err)
		}
		task, err := c.GetActivityTask(ctx, &sfn.GetActivityTaskInput{ActivityArn: a.ActivityArn})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: task.TaskToken,
			Output: aws.String("{}")}); err != nil {
			t.Error(err)
		}
		whose := wiretest.Create(t, c, "express",
			`{"StartAt":"P","States":{"P":{"Type":"Pass","Parameters":{"id.$":"$$.Execution.Id"},"End":true}}}`,
			types.StateMachineTypeExpress)
		s, err := c.StartSyncExecution(ctx, &sfn.StartSyncExecutionInput{StateMachineArn: whose, Name: aws.String("s")})
		if err != nil || !strings.HasPrefix(*s.ExecutionArn, prefix+"express:express:s:") ||
			!strings.Contains(*s.Output, *s.ExecutionArn) {
			t.Error(s, err)
		}
		elsewhere := strings.Replace(*m, "arn:"+partition+":", "arn:aws-iso:", 1)
		_, err = c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &elsewhere})
		wiretest.Refused[*types.StateMachineDoesNotExist](t, err, elsewhere)
	}
}
