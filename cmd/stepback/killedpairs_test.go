package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// preparePairs creates resources that pass messages from one store to another one: a FIFO topic to a FIFO queue, a
// queue to its dead-letter queue and from there, a topic to the dead-letter queue of a subscription, a bucket's
// notifications, an asynchronous invocation to its destination, and executions that send messages.
func (k *killed) preparePairs() {
	k.t.Helper()
	must := func(service, operation string, in map[string]any) map[string]any {
		k.t.Helper()
		out, err := k.call(k.t.Context(), k.cfg, service, operation, in)
		k.must(err)
		return out
	}
	queue := func(name string, attributes map[string]any) {
		k.queues[name] = textAt(must("sqs", "CreateQueue", map[string]any{"QueueName": name, "Attributes": attributes}),
			"QueueUrl")
	}
	subscribe := func(topic, queue string, attributes map[string]any) {
		must("sns", "Subscribe", map[string]any{"TopicArn": topicARN(topic), "Protocol": "sqs",
			"Endpoint": queueARN(queue), "Attributes": attributes})
	}
	must("sns", "CreateTopic", map[string]any{"Name": "ordered.fifo", "Attributes": map[string]any{"FifoTopic": "true"}})
	subscribe("ordered.fifo", "published.fifo", map[string]any{"RawMessageDelivery": "true"})

	k.unread = map[string]bool{"dead": true, "doomed": true, "gone": true} // nothing reads these queues to the end
	queue("dead", nil)
	queue("doomed", map[string]any{"VisibilityTimeout": "0", "RedrivePolicy": `{"deadLetterTargetArn":"` +
		queueARN("dead") + `","maxReceiveCount":"1"}`})
	queue("gone", nil)
	must("sns", "CreateTopic", map[string]any{"Name": "lost"})
	subscribe("lost", "gone", map[string]any{"RawMessageDelivery": "true",
		"RedrivePolicy": `{"deadLetterTargetArn":"` + queueARN("undelivered") + `"}`})
	must("sqs", "DeleteQueue", map[string]any{"QueueUrl": k.queues["gone"]})
	delete(k.queues, "gone")

	must("s3", "CreateBucket", map[string]any{"Bucket": "uploads"})
	must("s3", "PutBucketNotificationConfiguration", map[string]any{"Bucket": "uploads",
		"NotificationConfiguration": map[string]any{"QueueConfigurations": []any{map[string]any{
			"QueueArn": queueARN("uploaded"), "Events": []any{"s3:ObjectCreated:*"}}}}})

	must("lambda", "CreateFunction", map[string]any{"FunctionName": "paused", "Runtime": "provided.al2023",
		"Handler": "bootstrap", "Role": killedRole, "Code": map[string]any{"ZipFile": bootstrap()}})
	// it never runs: events go to the destination at once
	must("lambda", "PutFunctionConcurrency", map[string]any{"FunctionName": "paused", "ReservedConcurrentExecutions": 0})
	must("lambda", "PutFunctionEventInvokeConfig", map[string]any{"FunctionName": "paused", "MaximumRetryAttempts": 0,
		"DestinationConfig": map[string]any{"OnFailure": map[string]any{"Destination": queueARN("invoked")}}})

	k.sending = textAt(must("sfn", "CreateStateMachine", map[string]any{"name": "send", "roleArn": killedRole,
		"definition": `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage","End":true,` +
			`"Parameters":{"QueueUrl":"` + k.queues["executed"] + `","MessageBody.$":"$"}}}}`}), "stateMachineArn")

	must("cloudwatchlogs", "CreateLogGroup", map[string]any{"logGroupName": "lines"})
	must("cloudwatchlogs", "CreateLogStream", map[string]any{"logGroupName": "lines", "logStreamName": "s"})
}

const killedRole = "arn:aws:iam::000000000000:role/r"

func topicARN(name string) string { return "arn:aws:sns:us-east-1:" + killedAccount + ":" + name }

// bootstrap returns a deployment package, in base64.
func bootstrap() string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: "bootstrap"}
	h.SetMode(0o755)
	f, err := w.CreateHeader(h)
	if err == nil {
		_, err = f.Write([]byte("#!/bin/sh\nsleep 1\n"))
	}
	if err != nil || w.Close() != nil {
		return "" // in memory, nothing fails
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// messageID finds the ID of a message in what a destination or a notification says.
var messageID = regexp.MustCompile(`(uploaded|invoked)-\d+`)

func idIn(text string) string { return messageID.FindString(text) }

// loadPairs starts the clients of what preparePairs has created.
func (k *killed) loadPairs(ctx context.Context,
	send func(queue string, pause time.Duration, act func(id string) error),
) {
	call := func(service, operation string, in map[string]any) error {
		_, err := k.call(ctx, k.cfg, service, operation, in)
		return err
	}
	send("undelivered", 4*time.Millisecond, func(id string) error {
		_, err := k.sns.Publish(ctx, &sns.PublishInput{TopicArn: aws.String(topicARN("lost")), Message: &id})
		return err
	})
	send("redriven", 4*time.Millisecond, func(id string) error {
		_, err := k.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String(k.queues["doomed"]), MessageBody: &id})
		return err
	})
	send("uploaded", 4*time.Millisecond, func(id string) error {
		return call("s3", "PutObject", map[string]any{"Bucket": "uploads", "Key": id, "Body": id})
	})
	send("invoked", 4*time.Millisecond, func(id string) error {
		return call("lambda", "Invoke", map[string]any{"FunctionName": "paused", "InvocationType": "Event",
			"Payload": base64.StdEncoding.EncodeToString([]byte(`{"id":"` + id + `"}`))})
	})
	send("executed", 10*time.Millisecond, func(id string) error {
		return call("sfn", "StartExecution", map[string]any{"stateMachineArn": k.sending, "name": id,
			"input": `"` + id + `"`})
	})
	send("lines", 4*time.Millisecond, func(id string) error {
		return call("cloudwatchlogs", "PutLogEvents", map[string]any{"logGroupName": "lines", "logStreamName": "s",
			"logEvents": []any{map[string]any{"timestamp": time.Now().UnixMilli(), "message": id}}})
	})
}

// readPairs receives the messages of the queue doomed twice, after which they are dead, and redrives the dead ones,
// until ctx ends.
func (k *killed) readPairs(ctx context.Context, running *sync.WaitGroup) {
	running.Go(func() {
		for ctx.Err() == nil {
			// calls that fail are repeated
			_, _ = k.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: aws.String(k.queues["doomed"]),
				MaxNumberOfMessages: 10})
			rest(4 * time.Millisecond)
		}
	})
	running.Go(func() {
		for ctx.Err() == nil {
			_ = k.redrive(ctx)
			rest(200 * time.Millisecond)
		}
	})
}

// redrive moves the messages of the dead-letter queue to the queue where they must arrive.
func (k *killed) redrive(ctx context.Context) error {
	_, err := k.call(ctx, k.cfg, "sqs", "StartMessageMoveTask", map[string]any{"SourceArn": queueARN("dead"),
		"DestinationArn": queueARN("redriven")})
	if err != nil && strings.Contains(err.Error(), "already a task running") {
		return nil
	}
	return err
}

// publishInOrder publishes a message to the FIFO topic.
func (k *killed) publishInOrder(ctx context.Context, group, id string) error {
	_, err := k.sns.Publish(ctx, &sns.PublishInput{TopicArn: aws.String(topicARN("ordered.fifo")), Message: &id,
		MessageGroupId: &group, MessageDeduplicationId: &id})
	return err
}

// checkLogs checks that every line whose PutLogEvents was acknowledged can be read.
func (k *killed) checkLogs() {
	found := map[string]bool{}
	in := map[string]any{"logGroupName": "lines", "logStreamName": "s", "startFromHead": true}
	for token := ""; ; {
		out, err := k.call(k.t.Context(), k.cfg, "cloudwatchlogs", "GetLogEvents", in)
		if err != nil {
			k.t.Error(err)
			return
		}
		events, _ := out["events"].([]any)
		for _, e := range events {
			event, _ := e.(map[string]any)
			text, _ := event["message"].(string)
			found[text] = true
		}
		next, _ := out["nextForwardToken"].(string)
		if next == token {
			break
		}
		token = next
		in["nextToken"] = token
	}
	for id := range k.lines {
		if !found[id] {
			k.t.Errorf("the log line %s was acknowledged, and is lost", id)
		}
	}
}
