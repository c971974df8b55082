package local_test

import (
	"strings"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/local"
)

// An execution exhausts its retries, and the alarm on AWS/States' own metric notifies a topic to which a queue is
// subscribed.
func TestFailedExecutionTripsAnAlarm(t *testing.T) {
	t.Parallel()
	virtual := clock.Virtual(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	p := open(t, local.Config{Clock: virtual})
	s := stacksOf(t, p)
	call := func(service, operation string, in map[string]any) map[string]any {
		t.Helper()
		out, err := s.try(service, operation, in)
		if err != nil {
			t.Fatal(operation, err)
		}
		return out
	}
	queue := call("sqs", "CreateQueue", map[string]any{"QueueName": "pages"})["QueueUrl"]
	topic := call("sns", "CreateTopic", map[string]any{"Name": "pages"})["TopicArn"]
	call("sns", "Subscribe", map[string]any{"TopicArn": topic, "Protocol": "sqs",
		"Endpoint": "arn:aws:sqs:us-east-1:000000000000:pages"})
	machine := call("sfn", "CreateStateMachine", map[string]any{"name": "import", "roleArn": "arn:aws:iam::000000000000:role/r",
		"definition": `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":` +
			`{"FunctionName":"nobody"},"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":5,"MaxAttempts":2}],"End":true}}}`,
	})["stateMachineArn"]
	call("cloudwatch", "PutMetricAlarm", map[string]any{"AlarmName": "Failures", "Namespace": "AWS/States",
		"MetricName": "ExecutionsFailed", "Dimensions": []any{map[string]any{"Name": "StateMachineArn", "Value": machine}},
		"Statistic": "Sum", "Period": 60, "EvaluationPeriods": 1, "Threshold": 1, "TreatMissingData": "notBreaching",
		"ComparisonOperator": "GreaterThanOrEqualToThreshold", "AlarmActions": []any{topic}})
	x := call("sfn", "StartExecution", map[string]any{"stateMachineArn": machine})
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(t.Context(), x["executionArn"].(string)); err != nil {
		t.Fatal(err)
	}
	virtual.Hold()
	err = virtual.Sleep(t.Context(), 3*time.Minute)
	virtual.Release()
	if err != nil {
		t.Fatal(err)
	}
	got := call("sqs", "ReceiveMessage", map[string]any{"QueueUrl": queue, "WaitTimeSeconds": 20})
	messages, _ := got["Messages"].([]any)
	if len(messages) != 1 {
		t.Fatalf("received %v", got)
	}
	body, _ := messages[0].(map[string]any)["Body"].(string)
	for _, want := range []string{`"Subject" : "ALARM: \"Failures\" in US East (N. Virginia)"`, `\"NewStateValue\":\"ALARM\"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}
