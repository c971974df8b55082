package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/local/services/stepfunctions/wiretest"
)

func TestSDKActivities(t *testing.T) {
	t.Parallel()
	url := wiretest.Server(t)
	c, ctx := wiretest.Client(url, "123456789012", "eu-west-1"), t.Context()
	a, err := c.CreateActivity(ctx, &sfn.CreateActivityInput{Name: aws.String("work"),
		Tags: []types.Tag{{Key: aws.String("k"), Value: aws.String("v")}}})
	if err != nil {
		t.Fatal(err)
	}
	if *a.ActivityArn != "arn:aws:states:eu-west-1:123456789012:activity:work" {
		t.Error(*a.ActivityArn)
	}
	again, err := c.CreateActivity(ctx, &sfn.CreateActivityInput{Name: aws.String("work")})
	if err != nil || *again.ActivityArn != *a.ActivityArn || !again.CreationDate.Equal(*a.CreationDate) {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = c.CreateActivity(ctx, &sfn.CreateActivityInput{Name: aws.String("work"),
		EncryptionConfiguration: &types.EncryptionConfiguration{
			Type: types.EncryptionTypeCustomerManagedKmsKey, KmsKeyId: aws.String("key"),
		}})
	wiretest.Refused[*types.ActivityAlreadyExists](t, err, "Activity Already Exists: '"+*a.ActivityArn+"'")
	d, err := c.DescribeActivity(ctx, &sfn.DescribeActivityInput{ActivityArn: a.ActivityArn})
	if err != nil || *d.Name != "work" || d.EncryptionConfiguration.Type != types.EncryptionTypeAwsOwnedKey {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := c.TagResource(ctx, &sfn.TagResourceInput{ResourceArn: a.ActivityArn,
		Tags: []types.Tag{{Key: aws.String("l"), Value: aws.String("w")}}}); err != nil {
		t.Error(err)
	}
	if _, err := c.UntagResource(ctx, &sfn.UntagResourceInput{ResourceArn: a.ActivityArn,
		TagKeys: []string{"k"}}); err != nil {
		t.Error(err)
	}
	tags, err := c.ListTagsForResource(ctx, &sfn.ListTagsForResourceInput{ResourceArn: a.ActivityArn})
	if err != nil || len(tags.Tags) != 1 || *tags.Tags[0].Key != "l" {
		t.Errorf("%+v, %v", tags, err)
	}
	elsewhere := wiretest.Client(url, "123456789012", "us-east-1")
	listed, err := elsewhere.ListActivities(ctx, &sfn.ListActivitiesInput{})
	if err != nil || len(listed.Activities) != 0 {
		t.Errorf("another region sees %+v, %v", listed, err)
	}
	_, err = elsewhere.GetActivityTask(ctx, &sfn.GetActivityTaskInput{ActivityArn: a.ActivityArn})
	wiretest.Refused[*types.ActivityDoesNotExist](t, err, "Activity Does Not Exist: '"+*a.ActivityArn+"'")
	if _, err := c.DeleteActivity(ctx, &sfn.DeleteActivityInput{ActivityArn: a.ActivityArn}); err != nil {
		t.Error(err)
	}
	_, err = c.ListTagsForResource(ctx, &sfn.ListTagsForResourceInput{ResourceArn: a.ActivityArn})
	wiretest.Refused[*types.ResourceNotFound](t, err, "Resource not found: '"+*a.ActivityArn+"'")
	_, err = c.DescribeActivity(ctx, &sfn.DescribeActivityInput{ActivityArn: aws.String("arn:aws:states:eu-west-1:123456789012:stateMachine:work")})
	wiretest.Refused[*types.InvalidArn](t, err, "Invalid Arn: 'Resource type not valid in this context: stateMachine'")
}

// TestSDKWorker processes a task as an activity worker does.
func TestSDKWorker(t *testing.T) {
	t.Parallel()
	c, ctx := wiretest.Client(wiretest.Server(t), "123456789012", "us-east-1"), t.Context()
	a, err := c.CreateActivity(ctx, &sfn.CreateActivityInput{Name: aws.String("work")})
	if err != nil {
		t.Fatal(err)
	}
	polled := make(chan *sfn.GetActivityTaskOutput, 1)
	go func() { // before there is a task
		task, err := c.GetActivityTask(ctx, &sfn.GetActivityTaskInput{ActivityArn: a.ActivityArn,
			WorkerName: aws.String("w1")})
		if err != nil {
			t.Error(err)
		}
		polled <- task
	}()
	machine := wiretest.Create(t, c, "m", `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"`+*a.ActivityArn+
		`","HeartbeatSeconds":1000,"End":true}}}`,
		types.StateMachineTypeStandard)
	x, err := c.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: machine, Input: aws.String(`{"n":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	task := <-polled
	if task == nil || *task.Input != `{"n":1}` {
		t.Fatalf("%+v", task)
	}
	if _, err := c.SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: task.TaskToken}); err != nil {
		t.Error(err)
	}
	_, err = c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: task.TaskToken, Output: aws.String("{")})
	wiretest.Refused[*types.InvalidOutput](t, err, "Invalid Output: '")
	if _, err := c.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: task.TaskToken,
		Output: aws.String(`2`)}); err != nil {
		t.Error(err)
	}
	if d := wiretest.Ended(t, c, x.ExecutionArn); d.Status != types.ExecutionStatusSucceeded || *d.Output != `2` {
		t.Errorf("%+v", d)
	}
	_, err = c.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{TaskToken: task.TaskToken})
	wiretest.Refused[*types.TaskTimedOut](t, err, "Task Timed Out: 'Provided task does not exist anymore'")
	_, err = c.SendTaskHeartbeat(ctx, &sfn.SendTaskHeartbeatInput{TaskToken: aws.String("nobody's")})
	wiretest.Refused[*types.InvalidToken](t, err, "Invalid Token: 'Invalid token'")
}

// A task token is not accepted in a region where the execution is unknown.
func TestSDKTokenOfAnotherRegion(t *testing.T) {
	t.Parallel()
	url := wiretest.Server(t)
	here, there := wiretest.Client(url, "123456789012", "us-east-1"), wiretest.Client(url, "123456789012", "eu-west-1")
	a, err := here.CreateActivity(t.Context(), &sfn.CreateActivityInput{Name: aws.String("work")})
	if err != nil {
		t.Fatal(err)
	}
	machine := wiretest.Create(t, here, "m", `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"`+*a.ActivityArn+
		`","End":true}}}`, types.StateMachineTypeStandard)
	if _, err := here.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: machine}); err != nil {
		t.Fatal(err)
	}
	task, err := here.GetActivityTask(t.Context(), &sfn.GetActivityTaskInput{ActivityArn: a.ActivityArn})
	if err != nil {
		t.Fatal(err)
	}
	_, err = there.SendTaskSuccess(t.Context(), &sfn.SendTaskSuccessInput{TaskToken: task.TaskToken,
		Output: aws.String("1")})
	wiretest.Refused[*types.TaskDoesNotExist](t, err, "Task Does Not Exist: '")
}

// A worker may abandon its poll.
func TestSDKPollerGoesAway(t *testing.T) {
	t.Parallel()
	c := wiretest.Client(wiretest.Server(t), "123456789012", "us-east-1")
	a, err := c.CreateActivity(t.Context(), &sfn.CreateActivityInput{Name: aws.String("work")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.GetActivityTask(ctx, &sfn.GetActivityTaskInput{ActivityArn: a.ActivityArn}); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Error(err)
	}
}
