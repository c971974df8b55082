package sinks_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"stepback/outbox"
	"stepback/outbox/sinks"
	"stepback/tasks/mototest"
)

func message(n string, key string, payload string) *outbox.Message {
	return &outbox.Message{
		ID: "00000000-0000-7000-8000-00000000000" + n, Topic: "import.finished", Key: key, ContentType: outbox.JSON,
		Payload: []byte(payload),
		Headers: map[string]string{
			"Execution": "e",
		}, TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
}

// cloud is an AWS with a queue that receives the messages of a topic and an event bus.
type cloud struct {
	endpoint string
	queues   *sqs.Client
	topics   *sns.Client
	buses    *eventbridge.Client
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	endpoint := mototest.Start(t)
	if endpoint == "" {
		t.Skip("moto_server is not installed")
	}
	cfg := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(endpoint),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	}
	return &cloud{endpoint, sqs.NewFromConfig(cfg), sns.NewFromConfig(cfg), eventbridge.NewFromConfig(cfg)}
}

func (c *cloud) queue(t *testing.T, name string) (url, arn string) {
	t.Helper()
	in := &sqs.CreateQueueInput{QueueName: aws.String(name)}
	if strings.HasSuffix(name, ".fifo") {
		in.Attributes = map[string]string{"FifoQueue": "true"}
	}
	q, err := c.queues.CreateQueue(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(q.QueueUrl), "arn:aws:sqs:us-east-1:123456789012:" + name
}

// received returns the bodies in a queue, by message ID if the sink's attributes were delivered.
func (c *cloud) received(t *testing.T, url string, n int) map[string]string {
	t.Helper()
	all := map[string]string{}
	for range 10 {
		out, err := c.queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: aws.String(url), MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range out.Messages {
			id := aws.ToString(m.MessageId)
			if a, ok := m.MessageAttributes["Message-Id"]; ok {
				id = aws.ToString(a.StringValue)
				if got := aws.ToString(m.MessageAttributes["Execution"].StringValue); got != "e" {
					t.Errorf("the header Execution is %q", got)
				}
			}
			all[id] = aws.ToString(m.Body)
		}
		if len(all) >= n {
			break
		}
	}
	return all
}

func (c *cloud) open(t *testing.T, arn string) outbox.BatchSink {
	t.Helper()
	sink, err := sinks.Open(t.Context(), arn, sinks.Config{Endpoint: c.endpoint})
	if err != nil {
		t.Fatal(err)
	}
	return sink.(outbox.BatchSink)
}

// TestAWS sends to SQS, SNS and EventBridge with the SDK's clients.
func TestAWS(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	two := []*outbox.Message{message("1", "k", `{"n":1}`), message("2", "", `{"n":2}`)}
	check := func(what string, errs []error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	for _, name := range []string{"q", "q.fifo"} {
		url, arn := c.queue(t, name)
		sink := c.open(t, arn)
		check(name, sink.SendBatch(t.Context(), two))
		got := c.received(t, url, 2)
		if len(got) != 2 || got[two[0].ID] != `{"n":1}` || got[two[1].ID] != `{"n":2}` {
			t.Errorf("%s has %v", name, got)
		}
		if name != "q" {
			check("again", sink.SendBatch(t.Context(), two))
			if got := c.received(t, url, 1); len(got) != 0 {
				t.Errorf("a FIFO queue has repeats: %v", got)
			}
		}
	}

	topic, err := c.topics.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("t")})
	if err != nil {
		t.Fatal(err)
	}
	url, arn := c.queue(t, "of-topic")
	if _, err := c.topics.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(arn),
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	}); err != nil {
		t.Fatal(err)
	}
	check("SNS", c.open(t, aws.ToString(topic.TopicArn)).SendBatch(t.Context(), two))
	if got := c.received(t, url, 2); len(got) != 2 || got[two[1].ID] != `{"n":2}` {
		t.Errorf("the topic's queue has %v", got)
	}

	url, arn = c.queue(t, "of-bus")
	if _, err := c.buses.PutRule(t.Context(), &eventbridge.PutRuleInput{
		Name: aws.String("r"), EventPattern: aws.String(`{"source":["stepback"],"detail-type":["import.finished"]}`),
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.buses.PutTargets(t.Context(), &eventbridge.PutTargetsInput{
		Rule: aws.String("r"), Targets: []ebtypes.Target{{Id: aws.String("q"), Arn: aws.String(arn)}},
	}); err != nil {
		t.Fatal(err)
	}
	bus := c.open(t, "arn:aws:events:us-east-1:123456789012:event-bus/default")
	list := message("3", "", `[1]`)
	errs := bus.SendBatch(t.Context(), append(two[:1:1], list))
	if errs[0] != nil || outbox.FailureOf(errs[1]).Reason != outbox.ReasonInvalidPayload {
		t.Errorf("EventBridge: %v", errs)
	}
	for _, body := range c.received(t, url, 1) {
		var event struct {
			Resources []string
			Detail    struct{ N int }
		}
		if err := json.Unmarshal([]byte(body), &event); err != nil || event.Detail.N != 1 ||
			event.Resources[0] != "urn:uuid:"+two[0].ID {
			t.Errorf("event %s, %v", body, err)
		}
	}
}

// TestEntriesFailOneByOne sends a message that is too large among others.
func TestEntriesFailOneByOne(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	_, arn := c.queue(t, "missing-soon")
	sink := c.open(t, arn)
	large := message("4", "", strings.Repeat(" ", 1<<20)+"1")
	errs := sink.SendBatch(t.Context(), []*outbox.Message{message("1", "", "1"), large})
	if errs[0] != nil || outbox.FailureOf(errs[1]).Reason != outbox.ReasonTooLarge {
		t.Errorf("errors are %v", errs)
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "-", "ftp://host", "https://", "arn:aws:s3:::bucket",
		"arn:aws:events:us-east-1:123456789012:rule/r"} {
		if _, err := sinks.Open(t.Context(), address, sinks.Config{}); err == nil {
			t.Errorf("%q is a sink", address)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	sink, err := sinks.Open(t.Context(), "-", sinks.Config{Out: &out, Header: http.Header{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Send(context.Background(), message("1", "k", `{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	want := `{"id":"00000000-0000-7000-8000-000000000001","topic":"import.finished","key":"k","contentType":"application/json",` +
		`"headers":{"Execution":"e"},"payload":{"n":1}}` + "\n"
	if out.String() != want {
		t.Errorf("line is %s, want %s", out.String(), want)
	}
}
