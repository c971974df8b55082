package local_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/scheduler"
	schtypes "github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"stepback/engine/clock"
	"stepback/local"
)

// A schedule starts an execution through a universal target, and a rule delivers its end to a queue, as it does for a
// new object.
func TestSchedulesAndEventsRunThroughThePlatform(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	p := open(t, local.Config{Clock: c})
	ctx, settings := t.Context(), settings(p)
	queues, events := sqs.NewFromConfig(settings), eventbridge.NewFromConfig(settings)
	q, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("q")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := events.PutRule(ctx, &eventbridge.PutRuleInput{Name: aws.String("r"), EventPattern: aws.String(
		`{"$or":[{"source":["aws.states"],"detail":{"status":["RUNNING","SUCCEEDED"]}},{"source":["aws.s3"]}]}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := events.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: aws.String("r"), Targets: []ebtypes.Target{{
		Id: aws.String("q"), Arn: aws.String("arn:aws:sqs:us-east-1:000000000000:q")}}}); err != nil {
		t.Fatal(err)
	}
	m, err := sfn.NewFromConfig(settings).CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("m"),
		RoleArn:    aws.String("arn:aws:iam::000000000000:role/m"),
		Definition: aws.String(`{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":5,"Next":"P"},"P":{"Type":"Pass","Result":7,"End":true}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	target := &schtypes.Target{Arn: aws.String("arn:aws:scheduler:::aws-sdk:sfn:startExecution"),
		RoleArn: aws.String("arn:aws:iam::000000000000:role/s"),
		Input:   aws.String(`{"StateMachineArn":"` + *m.StateMachineArn + `","Name":"x","Input":"{\"a\":1}"}`)}
	if _, err := scheduler.NewFromConfig(settings).CreateSchedule(ctx, &scheduler.CreateScheduleInput{Name: aws.String("s"),
		ScheduleExpression: aws.String("at(2026-11-22T09:00:00)"), Target: target,
		FlexibleTimeWindow: &schtypes.FlexibleTimeWindow{Mode: schtypes.FlexibleTimeWindowModeOff}}); err != nil {
		t.Fatal(err)
	}
	next := func() map[string]any {
		t.Helper()
		got, err := queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl, WaitTimeSeconds: 20})
		for err == nil && len(got.Messages) == 0 {
			got, err = queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: q.QueueUrl, WaitTimeSeconds: 20})
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := queues.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: q.QueueUrl,
			ReceiptHandle: got.Messages[0].ReceiptHandle}); err != nil {
			t.Fatal(err)
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(*got.Messages[0].Body), &e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	const arn = "arn:aws:states:us-east-1:000000000000:execution:m:x"
	details := map[string]map[string]any{}
	for range 2 {
		e := next()
		d, _ := e["detail"].(map[string]any)
		if resources, _ := e["resources"].([]any); e["detail-type"] != "Step Functions Execution Status Change" ||
			len(resources) != 1 || resources[0] != arn || d["executionArn"] != arn || d["input"] != `{"a":1}` ||
			d["stateMachineArn"] != *m.StateMachineArn || d["name"] != "x" {
			t.Errorf("%v", e)
		}
		status, _ := d["status"].(string)
		details[status] = d
	}
	if d := details["RUNNING"]; d["output"] != nil || d["stopDate"] != nil || d["redriveStatus"] != "NOT_REDRIVABLE" {
		t.Errorf("%v", d)
	}
	start, _ := details["SUCCEEDED"]["startDate"].(float64)
	stop, _ := details["SUCCEEDED"]["stopDate"].(float64)
	if details["SUCCEEDED"]["output"] != "7" || stop-start < 5000 {
		t.Errorf("%v", details["SUCCEEDED"])
	}
	objects := s3.NewFromConfig(settings, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := objects.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("uploads")}); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.PutBucketNotificationConfiguration(ctx, &s3.PutBucketNotificationConfigurationInput{
		Bucket: aws.String("uploads"), NotificationConfiguration: &s3types.NotificationConfiguration{
			EventBridgeConfiguration: &s3types.EventBridgeConfiguration{}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("uploads"), Key: aws.String("in/a.csv"),
		Body: strings.NewReader("a,b\n")}); err != nil {
		t.Fatal(err)
	}
	e := next()
	d, _ := e["detail"].(map[string]any)
	object, _ := d["object"].(map[string]any)
	if resources, _ := e["resources"].([]any); e["detail-type"] != "Object Created" || len(resources) != 1 ||
		resources[0] != "arn:aws:s3:::uploads" || object["key"] != "in/a.csv" || d["reason"] != "PutObject" {
		t.Errorf("%v", e)
	}
}
