package lambda_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb"
	"stepback/local/services/lambda"
	"stepback/local/services/lambda/eventsource"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/sqs"
)

// serveMappings serves the API with a queue q, whose messages are hidden for 10 seconds, a queue q.fifo, and a
// function F with a timeout of 3 seconds.
func serveMappings(t *testing.T) *awslambda.Client {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := clock.Virtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	disk := vfs.NewMem()
	store, err := documents.Open("/documents", disk)
	must(err)
	queues, err := sqs.Open(sqs.Options{Dir: "/sqs", Clock: c, Disk: documents.Disk{FS: disk}})
	must(err)
	tables, err := dynamodb.Open(dynamodb.Options{Dir: "/dynamodb", Clock: c, Disk: documents.Disk{FS: disk}})
	must(err)
	f, err := functions.Open(t.Context(), t.TempDir(), functions.Options{Store: store, Clock: c})
	must(err)
	m, err := eventsource.Open(eventsource.Options{Store: store, Clock: c, Queues: queues, Streams: tables,
		Functions: f})
	must(err)
	m.Resume()
	url := httptest.NewServer(queues.Handler())
	makeQueue(t, url.URL, "q", map[string]string{"VisibilityTimeout": "10"})
	makeQueue(t, url.URL, "q.fifo", map[string]string{"FifoQueue": "true"})
	server := httptest.NewServer(lambda.New(lambda.Config{Functions: f, Mappings: m,
		Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}, Log: slog.New(slog.DiscardHandler)}))
	t.Cleanup(func() {
		server.Close()
		url.Close()
		m.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := f.Close(ctx); err != nil {
			t.Error(err)
		}
		for _, end := range []func() error{tables.Close, queues.Close, store.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
		c.Close()
	})
	client := clientOf(server.URL, "local")
	create(t, client, "F", `echo 1`)
	return client
}

const queueARN = "arn:aws:sqs:us-east-1:000000000000:q"

func TestEventSourceMappings(t *testing.T) {
	t.Parallel()
	c := serveMappings(t)
	made, err := c.CreateEventSourceMapping(t.Context(), &awslambda.CreateEventSourceMappingInput{
		FunctionName: sdk.String("F"), EventSourceArn: sdk.String(queueARN), Enabled: sdk.Bool(false),
		Tags: map[string]string{"team": "a"}, ScalingConfig: &types.ScalingConfig{MaximumConcurrency: sdk.Int32(2)}})
	if err != nil || *made.State != "Creating" || *made.BatchSize != 10 || *made.FunctionArn != here+"F" ||
		*made.StateTransitionReason != "USER_INITIATED" || *made.ScalingConfig.MaximumConcurrency != 2 ||
		*made.EventSourceMappingArn != "arn:aws:lambda:us-east-1:000000000000:event-source-mapping:"+*made.UUID ||
		made.StartingPosition != "" || made.MaximumRetryAttempts != nil {
		t.Fatalf("%+v, %v", made, err)
	}
	got, err := c.GetEventSourceMapping(t.Context(), &awslambda.GetEventSourceMappingInput{UUID: made.UUID})
	if err != nil || *got.State != "Disabled" {
		t.Errorf("%+v, %v", got, err)
	}
	changed, err := c.UpdateEventSourceMapping(t.Context(), &awslambda.UpdateEventSourceMappingInput{UUID: made.UUID,
		BatchSize: sdk.Int32(20), MaximumBatchingWindowInSeconds: sdk.Int32(1), Enabled: sdk.Bool(true),
		FunctionResponseTypes: []types.FunctionResponseType{types.FunctionResponseTypeReportBatchItemFailures}})
	if err != nil || *changed.State != "Updating" || *changed.BatchSize != 20 || len(changed.FunctionResponseTypes) != 1 {
		t.Errorf("%+v, %v", changed, err)
	}
	list, err := c.ListEventSourceMappings(t.Context(), &awslambda.ListEventSourceMappingsInput{
		FunctionName: sdk.String(here + "F"), EventSourceArn: sdk.String(queueARN)})
	if err != nil || len(list.EventSourceMappings) != 1 || *list.EventSourceMappings[0].State != "Enabled" {
		t.Errorf("%+v, %v", list, err)
	}
	if none, err := c.ListEventSourceMappings(t.Context(), &awslambda.ListEventSourceMappingsInput{
		FunctionName: sdk.String("G")}); err != nil || len(none.EventSourceMappings) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	if _, err := c.TagResource(t.Context(), &awslambda.TagResourceInput{Resource: made.EventSourceMappingArn,
		Tags: map[string]string{"cost": "b"}}); err != nil {
		t.Error(err)
	}
	if _, err := c.UntagResource(t.Context(), &awslambda.UntagResourceInput{Resource: made.EventSourceMappingArn,
		TagKeys: []string{"team"}}); err != nil {
		t.Error(err)
	}
	tags, err := c.ListTags(t.Context(), &awslambda.ListTagsInput{Resource: made.EventSourceMappingArn})
	if err != nil || len(tags.Tags) != 1 || tags.Tags["cost"] != "b" {
		t.Errorf("%+v, %v", tags, err)
	}
	gone, err := c.DeleteEventSourceMapping(t.Context(), &awslambda.DeleteEventSourceMappingInput{UUID: made.UUID})
	if err != nil || *gone.State != "Deleting" {
		t.Errorf("%+v, %v", gone, err)
	}
	_, err = c.GetEventSourceMapping(t.Context(), &awslambda.GetEventSourceMappingInput{UUID: made.UUID})
	if text := refused(t, err); text != "ResourceNotFoundException: The resource you requested does not exist." {
		t.Error(text)
	}
}

func TestEventSourceMappingsAreRefused(t *testing.T) {
	t.Parallel()
	c := serveMappings(t)
	first, err := c.CreateEventSourceMapping(t.Context(), &awslambda.CreateEventSourceMappingInput{
		FunctionName: sdk.String("F"), EventSourceArn: sdk.String(queueARN)})
	if err != nil {
		t.Fatal(err)
	}
	create(t, c, "slow", `echo 1`)
	if _, err := c.UpdateFunctionConfiguration(t.Context(), &awslambda.UpdateFunctionConfigurationInput{
		FunctionName: sdk.String("slow"), Timeout: sdk.Int32(60)}); err != nil {
		t.Fatal(err)
	}
	const stream = "arn:aws:dynamodb:us-east-1:000000000000:table/T/stream/2026-01-01T00:00:00.000"
	bad := "InvalidParameterValueException: "
	for _, test := range []struct {
		in   awslambda.CreateEventSourceMappingInput
		want string
	}{
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(queueARN)},
			"ResourceConflictException: An event source mapping with SQS arn (\" " + queueARN +
				" \") and function (\" F \") already exists. Please update or delete the existing mapping with UUID " + *first.UUID},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(queueARN), FunctionName: sdk.String("G")},
			bad + "Function does not exist"},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(queueARN), FunctionName: sdk.String("slow")},
			bad + "Queue visibility timeout: 10 seconds is less than Function timeout: 60 seconds"},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(queueARN + "2")},
			bad + "Error occurred while ReceiveMessage. SQS Error Code: AWS.SimpleQueueService.NonExistentQueue. SQS Error Message: The specified queue does not exist."},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(queueARN + ".fifo"), BatchSize: sdk.Int32(11)},
			bad + "Batch size for FIFO queues must not exceed 10; it is 11"},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(queueARN + ".fifo"),
			MaximumBatchingWindowInSeconds: sdk.Int32(1)}, bad + "Batching window is not supported for FIFO queues"},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(queueARN + ".fifo"), BatchSize: sdk.Int32(10),
			MaximumRetryAttempts: sdk.Int32(1)},
			bad + "Unsupported MaximumRetryAttempts parameter for given event source mapping type."},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(queueARN + ".fifo"),
			FilterCriteria: &types.FilterCriteria{Filters: []types.Filter{{Pattern: sdk.String(`{"body":1}`)}}}},
			bad + `Invalid filter pattern definition. "body" must be an object or an array
 at [Source: (String)"{"body":1}"; line: 1, column: 10]`},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(stream)},
			bad + "1 validation error detected: Value null at 'startingPosition' failed to satisfy constraint: Member must not be null."},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String(stream), StartingPosition: "LATEST"},
			bad + "Stream not found: " + stream},
		{awslambda.CreateEventSourceMappingInput{EventSourceArn: sdk.String("arn:aws:kinesis:us-east-1:000000000000:stream/s"),
			StartingPosition: "LATEST"},
			bad + "Event sources of kinesis are not read here; name a queue of SQS or a stream of DynamoDB."},
		{awslambda.CreateEventSourceMappingInput{Topics: []string{"topic"}},
			"NotImplemented: CreateEventSourceMapping: the member Topics is not supported; docs/services.md lists what this server supports"},
	} {
		if test.in.FunctionName == nil {
			test.in.FunctionName = sdk.String("F")
		}
		_, err := c.CreateEventSourceMapping(t.Context(), &test.in)
		if got := refused(t, err); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}

// makeQueue creates a queue with the SQS client.
func makeQueue(t *testing.T, url, name string, attributes map[string]string) {
	t.Helper()
	client := awssqs.New(awssqs.Options{BaseEndpoint: &url, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "secret", "")})
	if _, err := client.CreateQueue(t.Context(), &awssqs.CreateQueueInput{QueueName: &name,
		Attributes: attributes}); err != nil {
		t.Fatal(err)
	}
}
