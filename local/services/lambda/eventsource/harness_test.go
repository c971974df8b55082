package eventsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb"
	"stepback/local/services/lambda/eventsource"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/sqs"
	"stepback/tasks/lambda/invocation"
)

var (
	epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	home  = aws.Scope{Account: "000000000000", Region: "us-east-1"}
)

// record holds the members of a record that the tests read.
type record struct {
	MessageID  string `json:"messageId"`
	Body       string
	Attributes map[string]string
	EventName  string
	DynamoDB   struct {
		Keys     map[string]map[string]string
		NewImage map[string]map[string]string
		Sequence string `json:"SequenceNumber"`
	}
	Source string `json:"eventSource"`
	ARN    string `json:"eventSourceARN"`
}

// bodies returns what identifies the records: message bodies, or item keys.
func bodies(records []record) (list []string) {
	for _, r := range records {
		if r.Source == "aws:dynamodb" {
			list = append(list, r.DynamoDB.Keys["k"]["S"])
			continue
		}
		list = append(list, r.Body)
	}
	return list
}

// world holds the services around a mapping, on one file system and in virtual time.
type world struct {
	t        *testing.T
	clock    *clock.Clock
	queues   *sqs.Service
	tables   *dynamodb.Service
	mappings *eventsource.Service
	sqs      *awssqs.Client
	dynamodb *awsdynamodb.Client
	sent     chan delivery.Message

	// returns a response, an *aws.Error, or a failure
	handle  func(ctx context.Context, records []record) (string, error)
	batches chan []record
	mayRead func() // called before a mapping reads its source, if it is not nil
	closers []func()
}

// failure is an error returned by the function.
type failure string

func (f failure) Error() string { return string(f) }

// open opens the services on a file system. A batch is sent to batches once the function has handled it.
func open(t *testing.T, disk vfs.FS, handle func(context.Context, []record) (string, error)) *world {
	t.Helper()
	w := &world{t: t, clock: clock.Virtual(epoch), handle: handle, batches: make(chan []record, 1000),
		sent: make(chan delivery.Message, 100)}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	store, err := documents.Open("/documents", disk)
	must(err)
	w.queues, err = sqs.Open(sqs.Options{Dir: "/sqs", Clock: w.clock, Disk: documents.Disk{FS: disk}})
	must(err)
	w.tables, err = dynamodb.Open(dynamodb.Options{Dir: "/dynamodb", Clock: w.clock, Disk: documents.Disk{FS: disk}})
	must(err)
	w.mappings, err = eventsource.Open(eventsource.Options{Store: store, Clock: w.clock, Queues: w.queues,
		Streams: w.tables, Functions: w, Deliver: func(_ context.Context, _ string, m *delivery.Message) error {
			w.sent <- *m
			return nil
		}, MayRead: func(context.Context, string, string) error {
			if w.mayRead != nil {
				w.mayRead()
			}
			return nil
		}})
	must(err)
	w.mappings.Resume()
	queues, tables := httptest.NewServer(w.queues.Handler()), httptest.NewServer(w.tables.Handler())
	key := credentials.NewStaticCredentialsProvider("local", "secret", "")
	w.sqs = awssqs.New(awssqs.Options{BaseEndpoint: &queues.URL, Region: "us-east-1", Credentials: key})
	w.dynamodb = awsdynamodb.New(awsdynamodb.Options{BaseEndpoint: &tables.URL, Region: "us-east-1", Credentials: key})
	w.closers = []func(){w.mappings.Close, queues.Close, tables.Close, func() {
		for _, end := range []func() error{w.tables.Close, w.queues.Close, store.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
		w.clock.Close()
	}}
	t.Cleanup(w.close)
	return w
}

func (w *world) close() {
	for _, end := range w.closers {
		end()
	}
	w.closers = nil
}

// Get implements eventsource.Functions. F is the only function.
func (w *world) Get(scope aws.Scope, name, qualifier string) (*functions.Function, error) {
	if name != "F" {
		return nil, &aws.Error{Code: "ResourceNotFoundException", Status: http.StatusNotFound}
	}
	arn := scope.ARN("lambda", "function:F")
	if qualifier != "" {
		arn += ":" + qualifier
	}
	return &functions.Function{Configuration: functions.Configuration{FunctionArn: arn, Timeout: 3}}, nil
}

// Invoke implements eventsource.Functions.
func (w *world) Invoke(ctx context.Context, _ aws.Scope, r *invocation.Request) (*invocation.Answer, error) {
	var in struct{ Records []record }
	if err := json.Unmarshal(r.Payload, &in); err != nil {
		w.t.Errorf("%v: %s", err, r.Payload)
	}
	out, err := w.handle(ctx, in.Records)
	w.batches <- in.Records
	a := &invocation.Answer{StatusCode: http.StatusOK, ExecutedVersion: "$LATEST", Payload: []byte(out),
		RequestID: "request"}
	var failed failure
	if errors.As(err, &failed) {
		a.FunctionError, a.Payload = "Unhandled", []byte(`{"errorMessage":"no"}`)
		return a, nil
	}
	return a, err
}

// next returns the bodies of the next handled batch.
func (w *world) next() []string {
	w.t.Helper()
	select {
	case b := <-w.batches:
		return bodies(b)
	case <-w.t.Context().Done():
		w.t.Fatal("no batch has come")
		return nil
	}
}

// queue creates a queue and returns its URL and ARN.
func (w *world) queue(name string, attributes map[string]string) (url, arn string) {
	w.t.Helper()
	out, err := w.sqs.CreateQueue(w.t.Context(), &awssqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		w.t.Fatal(err)
	}
	return *out.QueueUrl, home.ARN("sqs", name)
}

func (w *world) send(url string, texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		if _, err := w.sqs.SendMessage(w.t.Context(), &awssqs.SendMessageInput{QueueUrl: &url,
			MessageBody: sdk.String(text)}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// left returns the number of messages in a queue, visible or not.
func (w *world) left(url string) int {
	w.t.Helper()
	out, err := w.sqs.GetQueueAttributes(w.t.Context(), &awssqs.GetQueueAttributesInput{QueueUrl: &url,
		AttributeNames: []sqsAttribute{"All"}})
	if err != nil {
		w.t.Fatal(err)
	}
	n := 0
	for _, name := range []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"} {
		var one int
		if json.Unmarshal([]byte(out.Attributes[name]), &one) == nil {
			n += one
		}
	}
	return n
}

// table creates the table tab with a stream and returns the stream's ARN.
func (w *world) table() string {
	w.t.Helper()
	name := "tab"
	out, err := w.dynamodb.CreateTable(w.t.Context(), &awsdynamodb.CreateTableInput{TableName: &name,
		BillingMode: dynamotypes.BillingModePayPerRequest,
		KeySchema:   []dynamotypes.KeySchemaElement{{AttributeName: sdk.String("k"), KeyType: dynamotypes.KeyTypeHash}},
		AttributeDefinitions: []dynamotypes.AttributeDefinition{{AttributeName: sdk.String("k"),
			AttributeType: dynamotypes.ScalarAttributeTypeS}},
		StreamSpecification: &dynamotypes.StreamSpecification{StreamEnabled: sdk.Bool(true),
			StreamViewType: dynamotypes.StreamViewTypeNewAndOldImages}})
	if err != nil {
		w.t.Fatal(err)
	}
	return *out.TableDescription.LatestStreamArn
}

// put puts items into the table.
func (w *world) put(keys ...string) {
	w.t.Helper()
	table := "tab"
	for _, k := range keys {
		if _, err := w.dynamodb.PutItem(w.t.Context(), &awsdynamodb.PutItemInput{TableName: &table,
			Item: map[string]dynamotypes.AttributeValue{"k": &dynamotypes.AttributeValueMemberS{Value: k}}}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// create creates a mapping to F and returns its UUID.
func (w *world) create(arn string, in eventsource.CreateInput) string {
	w.t.Helper()
	in.EventSourceArn, in.FunctionName = arn, "F"
	c, err := w.mappings.Create(w.t.Context(), home, &in)
	if err != nil {
		w.t.Fatal(err)
	}
	return c.UUID
}

// settled waits until a queue has want messages. It polls the queue as a client would.
func (w *world) settled(url string, want int) {
	w.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for w.left(url) != want {
		if time.Now().After(deadline) {
			w.t.Fatalf("the queue has %d messages, want %d", w.left(url), want)
		}
	}
}
