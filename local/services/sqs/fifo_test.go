package sqs_test

import (
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// fifo creates a FIFO queue with a visibility timeout of a second.
func (b *bench) fifo(name string) string {
	return b.create(name, map[string]string{"FifoQueue": "True", "ContentBasedDeduplication": "True",
		"VisibilityTimeout": "1"})
}

func (b *bench) hide(url string, m types.Message, seconds int32) {
	b.t.Helper()
	if _, err := b.ChangeMessageVisibility(b.t.Context(), &client.ChangeMessageVisibilityInput{QueueUrl: &url,
		ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds}); err != nil {
		b.t.Fatal(err)
	}
}

// A message in flight blocks only the messages behind it in its group.
func TestMessageBeforeOneInFlight(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.fifo("q.fifo")
	for _, body := range []string{"a", "b", "c"} {
		b.send(url, body, "g")
	}
	b.hide(url, b.receive(url, 10)[1], 8)
	b.pass(1500 * time.Millisecond)
	if got := b.bodies(url, 10); got != "a" {
		t.Errorf("while b is in flight: %q", got)
	}
	b.pass(7 * time.Second)
	if got := b.bodies(url, 10); got != "a b c" {
		t.Errorf("afterwards: %q", got)
	}
}

// Groups whose messages were received follow the groups whose messages were not, in the order in which they were
// received: when the visibility timeout is 0, when it ends, and when it is changed.
func TestReceivedGroupsFollow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.create("q.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true",
		"VisibilityTimeout": "0"}) // which the client does not send
	for _, m := range [][2]string{{"x1", "x"}, {"y1", "y"}, {"y2", "y"}, {"z1", "z"}, {"x2", "x"}} {
		b.send(url, m[0], m[1])
	}
	take := func(n, seconds int32) []types.Message {
		out, err := b.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: n,
			VisibilityTimeout: seconds})
		if err != nil {
			t.Fatal(err)
		}
		return out.Messages
	}
	if got := bodies(take(3, 0)); got != "x1 x2 y1" {
		t.Errorf("first: %q", got)
	}
	if got := bodies(take(10, 0)); got != "z1 x1 x2 y1 y2" {
		t.Errorf("second: %q", got)
	}
	z := take(1, 20)
	b.hide(url, z[0], 0)
	if got := bodies(take(10, 1)); bodies(z) != "z1" || got != "x1 x2 y1 y2 z1" {
		t.Errorf("after %q: %q", bodies(z), got)
	}
	b.send(url, "n1", "n") // later than all receives
	b.pass(2 * time.Second)
	if got := b.bodies(url, 10); got != "x1 x2 y1 y2 z1 n1" {
		t.Errorf("after the timeout: %q", got)
	}
}

func TestPurgeForgetsDuplicates(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.fifo("q.fifo")
	first := b.send(url, "m", "g")
	if _, err := b.PurgeQueue(t.Context(), &client.PurgeQueueInput{QueueUrl: &url}); err != nil {
		t.Fatal(err)
	}
	b.crash()
	if second := b.send(url, "m", "g"); *second.MessageId == *first.MessageId || b.bodies(url, 10) != "m" {
		t.Error("a message counts as a duplicate of one that was purged")
	}
}

// An entry without a group or a deduplication ID fails the whole batch.
func TestIncompleteEntries(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.create("q.fifo", map[string]string{"FifoQueue": "true"})
	s := sdkaws.String
	whole := types.SendMessageBatchRequestEntry{Id: s("1"), MessageBody: s("a"), MessageGroupId: s("g"),
		MessageDeduplicationId: s("1")}
	send := func(e types.SendMessageBatchRequestEntry) error {
		_, err := b.SendMessageBatch(t.Context(), &client.SendMessageBatchInput{QueueUrl: &url,
			Entries: []types.SendMessageBatchRequestEntry{whole, e}})
		return err
	}
	refused(t, send(types.SendMessageBatchRequestEntry{Id: s("2"), MessageBody: s("b"), MessageDeduplicationId: s("2")}),
		"MissingParameter", "The request must contain the parameter MessageGroupId.")
	refused(t, send(types.SendMessageBatchRequestEntry{Id: s("2"), MessageBody: s("b"), MessageGroupId: s("g")}),
		"InvalidParameterValue", "The queue should either have ContentBasedDeduplication enabled or "+
			"MessageDeduplicationId provided explicitly")
	if got := b.bodies(url, 10); got != "" {
		t.Errorf("a part of the batches was accepted: %q", got)
	}
	_, err := b.SendMessage(t.Context(), &client.SendMessageInput{QueueUrl: &url, MessageBody: s("a"), MessageGroupId: s("g"),
		MessageDeduplicationId: s("")})
	refused(t, err, "InvalidParameterValue", "Value  for parameter MessageDeduplicationId is invalid. Reason: "+
		"MessageDeduplicationId can only include alphanumeric and punctuation characters. 1 to 128 in length.")
}

// The trace header of a request becomes the message's AWSTraceHeader, unless the message has its own.
func TestTraceHeader(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.create("q", nil)
	const trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
	traced := client.WithAPIOptions(smithyhttp.AddHeaderValue("X-Amzn-Trace-Id", trace))
	s := sdkaws.String
	own := map[string]types.MessageSystemAttributeValue{"AWSTraceHeader": {DataType: s("String"), StringValue: s("Root=own")}}
	if _, err := b.SendMessage(t.Context(), &client.SendMessageInput{QueueUrl: &url, MessageBody: s("m")}, traced); err != nil {
		t.Fatal(err)
	}
	if _, err := b.SendMessageBatch(t.Context(), &client.SendMessageBatchInput{QueueUrl: &url,
		Entries: []types.SendMessageBatchRequestEntry{{Id: s("1"), MessageBody: s("m")},
			{Id: s("2"), MessageBody: s("m"), MessageSystemAttributes: own}}}, traced); err != nil {
		t.Fatal(err)
	}
	for i, m := range b.receive(url, 10) {
		if want := []string{trace, trace, "Root=own"}[i]; m.Attributes["AWSTraceHeader"] != want {
			t.Errorf("message %d has the trace %q, not %q", i, m.Attributes["AWSTraceHeader"], want)
		}
	}
}

// A message of a standard queue whose timeout is over can be hidden again by its last receiver.
func TestHideAfterTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.create("q", map[string]string{"VisibilityTimeout": "1"})
	b.send(url, "m", "")
	m := b.receive(url, 1)
	b.pass(2 * time.Second)
	b.hide(url, m[0], 10)
	if got := b.counts(url); got != "0 1 0" {
		t.Errorf("counts %s", got)
	}
	b.pass(10 * time.Second)
	b.hide(url, m[0], 0)
	if got := b.bodies(url, 1); got != "m" {
		t.Errorf("received %q", got)
	}
}
