package local_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"stepback/engine/clock"
	"stepback/local"
	"stepback/local/chaos"
	"stepback/local/services/lambda/functions"
)

// retrying returns settings for clients that retry at once, up to a number of attempts.
func retrying(p *local.Platform, attempts int) aws.Config {
	s := settings(p)
	s.RetryMaxAttempts = 0
	s.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.RateLimiter = attempts, ratelimit.None
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
	return s
}

func addFaults(t *testing.T, p *local.Platform, faults ...string) {
	t.Helper()
	for _, f := range faults {
		if _, err := p.Chaos.Add([]chaos.Wanted{{Fault: f, Seed: 1}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInjectedErrorsAreThoseThatSDKsRetry refuses requests in each protocol until the client has retried often
// enough, and checks the error code that the client sees if it does not retry.
func TestInjectedErrorsAreThoseThatSDKsRetry(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{})
	ctx, once, often := t.Context(), retrying(p, 1), retrying(p, 60)
	calls := map[string]struct {
		call func(aws.Config) error
		code string
	}{
		"sqs:ListQueues": {func(c aws.Config) error {
			_, err := sqs.NewFromConfig(c).ListQueues(ctx, &sqs.ListQueuesInput{})
			return err
		}, "RequestThrottled"},
		"sns:ListTopics": {func(c aws.Config) error { // Query, XML
			_, err := sns.NewFromConfig(c).ListTopics(ctx, &sns.ListTopicsInput{})
			return err
		}, "Throttling"},
		"s3:ListBuckets": {func(c aws.Config) error { // REST, XML, and not of aws/server
			_, err := s3.NewFromConfig(c).ListBuckets(ctx, &s3.ListBucketsInput{})
			return err
		}, "SlowDown"},
		"dynamodb:ListTables": {func(c aws.Config) error {
			_, err := dynamodb.NewFromConfig(c).ListTables(ctx, &dynamodb.ListTablesInput{})
			return err
		}, "ThrottlingException"},
		"sfn:ListStateMachines": {func(c aws.Config) error {
			_, err := sfn.NewFromConfig(c).ListStateMachines(ctx, &sfn.ListStateMachinesInput{})
			return err
		}, "ThrottlingException"},
	}
	for name, c := range calls {
		addFaults(t, p, name+":throttle:80%")
		if err := c.call(often); err != nil {
			t.Errorf("%s was not tried again: %v", name, err)
		}
		p.Chaos.LiftAll()
		addFaults(t, p, name+":throttle:1")
		var e smithy.APIError
		if err := c.call(once); !errors.As(err, &e) || e.ErrorCode() != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		var response *awshttp.ResponseError
		if err := c.call(once); !errors.As(err, &response) || response.Response.Header.Get("X-Amz-Retry-After") != "1000" ||
			response.Response.Header.Get("Retry-After") != "1" {
			t.Errorf("%s: %v asks for no pause of a second", name, err)
		}
		p.Chaos.LiftAll()
		addFaults(t, p, name+":unavailable:1")
		if err := c.call(once); !errors.As(err, &e) || e.ErrorCode() != "ServiceUnavailable" {
			t.Errorf("%s: %v", name, err)
		}
		p.Chaos.LiftAll()
		addFaults(t, p, name+":crash:1")
		if err := c.call(once); err == nil || errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
		if f := p.Chaos.List(); len(f) != 1 || f[0].Injected != 1 || f[0].Requests != 1 {
			t.Errorf("%s: %+v", name, f)
		}
		p.Chaos.LiftAll()
		if err := c.call(once); err != nil {
			t.Errorf("%s after the fault was lifted: %v", name, err)
		}
	}
}

func TestBatchesFailInPart(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{})
	ctx, s := t.Context(), retrying(p, 1)
	queues, events, tables := sqs.NewFromConfig(s), eventbridge.NewFromConfig(s), dynamodb.NewFromConfig(s)
	q, err := queues.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("q")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: aws.String("tab"),
		BillingMode: dbtypes.BillingModePayPerRequest,
		AttributeDefinitions: []dbtypes.AttributeDefinition{{AttributeName: aws.String("k"),
			AttributeType: dbtypes.ScalarAttributeTypeS}},
		KeySchema: []dbtypes.KeySchemaElement{{AttributeName: aws.String("k"), KeyType: dbtypes.KeyTypeHash}}}); err != nil {
		t.Fatal(err)
	}
	addFaults(t, p, "sqs:SendMessageBatch:partial:50%", "eventbridge:PutEvents:partial:50%",
		"dynamodb:BatchWriteItem:partial:50%", "dynamodb:BatchGetItem:partial:1")
	letters := strings.Split("abcdefghij", "")
	var entries []sqstypes.SendMessageBatchRequestEntry
	var put []ebtypes.PutEventsRequestEntry
	var writes []dbtypes.WriteRequest
	for _, l := range letters {
		entries = append(entries, sqstypes.SendMessageBatchRequestEntry{Id: aws.String(l), MessageBody: aws.String(l)})
		put = append(put, ebtypes.PutEventsRequestEntry{Source: aws.String(l), DetailType: aws.String("t"),
			Detail: aws.String("{}")})
		writes = append(writes, dbtypes.WriteRequest{PutRequest: &dbtypes.PutRequest{
			Item: map[string]dbtypes.AttributeValue{"k": &dbtypes.AttributeValueMemberS{Value: l}}}})
	}
	sent, err := queues.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: q.QueueUrl, Entries: entries})
	if err != nil || len(sent.Failed) == 0 || len(sent.Failed)+len(sent.Successful) != len(letters) {
		t.Fatalf("%+v, %v", sent, err)
	}
	for _, f := range sent.Failed {
		if *f.Code != "InternalError" || f.SenderFault || strings.Contains(*f.Id, " ") {
			t.Errorf("%+v", f)
		}
	}
	there, err := queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: q.QueueUrl,
		AttributeNames: []sqstypes.QueueAttributeName{"ApproximateNumberOfMessages"}})
	if n := there.Attributes["ApproximateNumberOfMessages"]; err != nil || len(sent.Successful) != int(n[0]-'0') {
		t.Errorf("%s messages of %d, %v", n, len(sent.Successful), err)
	}
	answer, err := events.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: put})
	if err != nil || answer.FailedEntryCount == 0 || len(answer.Entries) != len(letters) {
		t.Fatalf("%+v, %v", answer, err)
	}
	failed := int32(0)
	for _, e := range answer.Entries {
		if (e.EventId == nil) == (e.ErrorCode == nil) {
			t.Errorf("%+v", e)
		}
		if e.ErrorCode != nil {
			failed++
		}
	}
	if failed != answer.FailedEntryCount {
		t.Errorf("%d of %d", failed, answer.FailedEntryCount)
	}
	wrote, err := tables.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]dbtypes.WriteRequest{"tab": writes}})
	if err != nil || len(wrote.UnprocessedItems["tab"]) == 0 {
		t.Fatalf("%+v, %v", wrote, err)
	}
	all, err := tables.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("tab")})
	if err != nil || len(all.Items)+len(wrote.UnprocessedItems["tab"]) != len(letters) {
		t.Errorf("%d and %d items, %v", len(all.Items), len(wrote.UnprocessedItems["tab"]), err)
	}
	got, err := tables.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]dbtypes.KeysAndAttributes{
		"tab": {Keys: []map[string]dbtypes.AttributeValue{{"k": &dbtypes.AttributeValueMemberS{Value: "a"}}}}}})
	if err != nil || len(got.UnprocessedKeys["tab"].Keys) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Faults delay requests in virtual time, and a fault with a duration ends by itself.
func TestFaultsKeepTheTimeOfThePlatform(t *testing.T) {
	t.Parallel()
	c := clock.Virtual(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	p := open(t, local.Config{Clock: c})
	queues := sqs.NewFromConfig(retrying(p, 1))
	if _, err := p.Chaos.Add([]chaos.Wanted{{Fault: "sqs:List*:latency:40s-2m", Seed: 3, For: time.Minute}}); err != nil {
		t.Fatal(err)
	}
	for i, min := range []time.Duration{40 * time.Second, 0, 0} {
		before := c.Now()
		if _, err := queues.ListQueues(t.Context(), &sqs.ListQueuesInput{}); err != nil {
			t.Fatal(err)
		}
		if took := c.Now().Sub(before); took < min || min == 0 && i == 2 && took > 0 {
			t.Errorf("request %d took %s", i, took)
		}
	}
	if left := p.Chaos.List(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}

// A request that hangs ends when the fault is lifted or the client gives up.
func TestARequestThatHangsEndsWithItsFault(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{})
	addFaults(t, p, "sqs:*:hang:1", "s3:*:hang:1")
	queues, objects := sqs.NewFromConfig(retrying(p, 1)), s3.NewFromConfig(retrying(p, 1))
	hangs := make(chan error, 2)
	go func() {
		_, err := queues.ListQueues(t.Context(), &sqs.ListQueuesInput{})
		hangs <- err
	}()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := objects.ListBuckets(ctx, &s3.ListBucketsInput{})
		hangs <- err
	}()
	for {
		if f := p.Chaos.List(); f[0].Injected == 1 && f[1].Injected == 1 {
			break
		}
	}
	cancel()
	if err := <-hangs; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n, err := p.Chaos.Lift(1); n != 1 || err != nil {
		t.Error(n, err)
	}
	if err := <-hangs; err == nil {
		t.Error("a request that hung was answered")
	}
	if _, err := p.Chaos.Lift(1); err == nil || err.Error() != "there is no fault 1; stepback chaos list lists the active ones" {
		t.Error(err)
	}
}

// A state machine retries a throttled function and a throttled queue.
func TestTasksSufferFaultsOfServices(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{Clock: clock.Virtual(time.Now()), BuiltIn: doubling})
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "double", BuiltIn: "double",
		Role: role}); err != nil {
		t.Fatal(err)
	}
	addFaults(t, p, "lambda:Invoke:throttle:1", "sqs:GetQueueUrl:throttle:1", "sqs:ListQueues:crash:1",
		"sns:ListTopics:latency:1m")
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	const task = `{"StartAt":"Q","States":{"Q":{"Type":"Task","Resource":"arn:aws:states:::aws-sdk:%s","Parameters":{%s},
		"Retry":[{"ErrorEquals":["States.ALL"],"MaxAttempts":2}],"End":true}}}`
	for name, c := range map[string]struct{ definition, want string }{
		"function": {flaky, "Lambda.TooManyRequestsException"},
		"queue":    {fmt.Sprintf(task, "sqs:getQueueUrl", `"QueueName":"q"`), "Sqs.RequestThrottledException"},
		"crash":    {fmt.Sprintf(task, "sqs:listQueues", ""), "Sqs.SdkClientException"},
		"latency":  {fmt.Sprintf(task, "sns:listTopics", ""), ""},
	} {
		m, err := statesOf(p).CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: aws.String(name),
			Definition: aws.String(c.definition), RoleArn: aws.String(role)})
		if err != nil {
			t.Fatal(err)
		}
		x, err := statesOf(p).StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn})
		if err != nil {
			t.Fatal(err)
		}
		if ended, err := e.Wait(t.Context(), *x.ExecutionArn); err != nil || ended.Failure.Name != c.want ||
			ended.Stop.Sub(ended.Start) < 2*time.Second {
			t.Errorf("%s: %+v, %v", name, ended, err)
		}
	}
	for _, f := range p.Chaos.List() {
		want := map[string]int64{"lambda:Invoke:throttle:1": 10, "sqs:GetQueueUrl:throttle:1": 3,
			"sqs:ListQueues:crash:1": 3, "sns:ListTopics:latency:1m0s": 1}[f.Fault]
		if f.Injected != want {
			t.Errorf("%+v, want %d", f, want)
		}
	}
}
