package sns_test

import (
	"context"
	"testing"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	stepaws "stepback/aws"
	"stepback/aws/server"
)

// A subscription that exists is returned again if the request's attributes are its own or their defaults.
func TestSubscribeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic, queue := b.topic("news", nil), b.queue("q")
	first := b.subscribe(topic, "sqs", queue, map[string]string{"RawMessageDelivery": "True"})
	for _, same := range []map[string]string{nil, {"RawMessageDelivery": "true"}, {"RawMessageDelivery": "TRUE"},
		{"FilterPolicyScope": "MessageAttributes"}} {
		if again := b.subscribe(topic, "sqs", queue, same); again != first {
			t.Errorf("%v: %s, not %s", same, again, first)
		}
	}
	protocol := "sqs"
	for name, value := range map[string]string{"RawMessageDelivery": "false", "FilterPolicyScope": "MessageBody"} {
		_, err := b.Subscribe(t.Context(), &client.SubscribeInput{TopicArn: &topic, Protocol: &protocol,
			Endpoint:   &queue,
			Attributes: map[string]string{name: value}})
		refused(t, err, "InvalidParameter",
			"Invalid parameter: Attributes Reason: Subscription already exists with different attributes")
	}
}

func TestEmptyARN(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.Unsubscribe(t.Context(), &client.UnsubscribeInput{SubscriptionArn: sdkaws.String("")})
	refused(t, err, "InvalidParameter", "Invalid parameter: SubscriptionArn Reason: no value for required parameter")
}

func TestFIFOTopicName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.CreateTopic(t.Context(), &client.CreateTopicInput{Name: sdkaws.String("news"),
		Attributes: map[string]string{"FifoTopic": "True"}})
	refused(t, err, "InvalidParameter", "Invalid parameter: Topic Name")
	b.topic("news.fifo", map[string]string{"FifoTopic": "True", "ContentBasedDeduplication": "True"})
}

// A standard queue gets the message group of a standard topic's message, and not that of a FIFO topic's.
func TestGroupsInStandardQueues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for topic, want := range map[string]string{
		b.topic("news", nil): "g",
		b.topic("news.fifo", map[string]string{"FifoTopic": "true", "ContentBasedDeduplication": "true"}): "",
	} {
		queue := b.queue("q" + want)
		b.subscribe(topic, "sqs", queue, nil)
		_, err := b.Publish(t.Context(), &client.PublishInput{TopicArn: &topic, Message: sdkaws.String("m"),
			MessageGroupId: sdkaws.String("g")})
		must(t, 0, err)
		if got := b.messages(queue); len(got) != 1 || got[0].Attributes["MessageGroupId"] != want {
			t.Errorf("%s: %v", topic, got)
		}
	}
}

// The trace header of a request reaches the queues.
func TestTraceHeader(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic, queue := b.topic("news", nil), b.queue("q")
	b.subscribe(topic, "sqs", queue, nil)
	const trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"
	traced := client.WithAPIOptions(smithyhttp.AddHeaderValue("X-Amzn-Trace-Id", trace))
	_, err := b.Publish(t.Context(), &client.PublishInput{TopicArn: &topic, Message: sdkaws.String("m")}, traced)
	must(t, 0, err)
	_, err = b.PublishBatch(t.Context(), &client.PublishBatchInput{TopicArn: &topic,
		PublishBatchRequestEntries: []types.PublishBatchRequestEntry{{Id: sdkaws.String("1"), Message: sdkaws.String("m")}}},
		traced)
	must(t, 0, err)
	got := b.messages(queue)
	for _, m := range got {
		if m.Attributes["AWSTraceHeader"] != trace {
			t.Errorf("trace %q", m.Attributes["AWSTraceHeader"])
		}
	}
	if len(got) != 2 {
		t.Errorf("%d messages", len(got))
	}
}

// Text messages go to the inbox, from topics and to phone numbers.
func TestTextMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic := b.topic("news", map[string]string{"DisplayName": "News"})
	b.subscribe(topic, "sms", "+15551234567", nil)
	b.publish(topic, "hello", nil)
	phone := "+15557654321"
	_, err := b.Publish(t.Context(), &client.PublishInput{PhoneNumber: &phone, Message: sdkaws.String("code 7")})
	must(t, 0, err)
	for to, want := range map[string]string{"+15551234567": "News> hello", phone: "code 7"} {
		mails, err := b.service.Inbox().Latest(to, 0)
		if len(must(t, mails, err)) != 1 || mails[0].Body != want || !mails[0].Confirmed {
			t.Errorf("%s: %+v", to, mails)
		}
	}
	_, err = b.Subscribe(t.Context(), &client.SubscribeInput{TopicArn: &topic, Protocol: sdkaws.String("sms"),
		Endpoint: sdkaws.String("nobody")})
	refused(t, err, "InvalidParameter", "Invalid SMS endpoint: nobody")
}

func TestSubscriptionPrincipal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.principal = func(ctx context.Context, scope stepaws.Scope) (string, error) {
		return scope.GlobalARN("iam", "user/"+server.CallerKey(ctx)), nil
	}
	b.reopen(nil)
	sub := b.subscribe(b.topic("news", nil), "sqs", b.queue("q"), nil)
	b.crash()
	out, err := b.GetSubscriptionAttributes(t.Context(), &client.GetSubscriptionAttributesInput{SubscriptionArn: &sub})
	if got := must(t, out, err).Attributes["SubscriptionPrincipal"]; got != "arn:aws:iam::111111111111:user/111111111111" {
		t.Errorf("principal %s", got)
	}
}
