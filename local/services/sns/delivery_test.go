package sns_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	stepaws "stepback/aws"
	"stepback/local/services/sns"
)

func TestQueues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	topic, plain, raw := b.topic("news", nil), b.queue("plain"), b.queue("raw")
	sub := b.subscribe(topic, "sqs", plain, nil)
	b.subscribe(topic, "sqs", raw, map[string]string{"RawMessageDelivery": "True"})
	if again := b.subscribe(topic, "sqs", plain, nil); again != sub {
		t.Errorf("again %s, first %s", again, sub)
	}
	out, err := b.Publish(ctx, &client.PublishInput{TopicArn: &topic, Subject: sdkaws.String("完了"),
		Message: sdkaws.String("two\nlines \"<&"), MessageAttributes: map[string]types.MessageAttributeValue{
			"n": number("99.12"), "b": {DataType: sdkaws.String("Binary"), BinaryValue: []byte{2, 3, 4}}}})
	must(t, out, err)
	got := b.messages(plain)
	if len(got) != 1 || len(got[0].MessageAttributes) != 0 {
		t.Fatalf("messages %v", got)
	}
	var e struct{ Signature, SigningCertURL string }
	must(t, 0, json.Unmarshal([]byte(*got[0].Body), &e))
	want := fmt.Sprintf(`{
  "Type" : "Notification",
  "MessageId" : %q,
  "TopicArn" : %q,
  "Subject" : "完了",
  "Message" : "two\nlines \"<&",
  "Timestamp" : "2026-11-22T12:00:00.000Z",
  "SignatureVersion" : "1",
  "Signature" : %q,
  "SigningCertURL" : %q,
  "UnsubscribeURL" : "%s/?Action=Unsubscribe&SubscriptionArn=%s",
  "MessageAttributes" : {
    "b" : {"Type":"Binary","Value":"AgME"},
    "n" : {"Type":"Number","Value":"99.12"}
  }
}`, *out.MessageId, topic, e.Signature, e.SigningCertURL, b.server.URL, sub)
	if *got[0].Body != want {
		t.Errorf("envelope %s\nwant %s", *got[0].Body, want)
	}
	got = b.messages(raw)
	if len(got) != 1 || *got[0].Body != "two\nlines \"<&" || *got[0].MessageAttributes["n"].StringValue != "99.12" ||
		string(got[0].MessageAttributes["b"].BinaryValue) != "\x02\x03\x04" {
		t.Errorf("raw %v", got)
	}
	attributes, err := b.GetSubscriptionAttributes(ctx, &client.GetSubscriptionAttributesInput{SubscriptionArn: &sub})
	if text := fmt.Sprint(must(t, attributes, err).Attributes); text != "map[ConfirmationWasAuthenticated:true Endpoint:"+
		plain+" Owner:111111111111 PendingConfirmation:false Protocol:sqs RawMessageDelivery:false SubscriptionArn:"+sub+
		" SubscriptionPrincipal:arn:aws:iam::111111111111:root TopicArn:"+topic+"]" {
		t.Errorf("attributes %s", text)
	}
	_, err = b.Unsubscribe(ctx, &client.UnsubscribeInput{SubscriptionArn: &sub})
	must(t, 0, err)
	_, err = b.Unsubscribe(ctx, &client.UnsubscribeInput{SubscriptionArn: &sub})
	must(t, 0, err)
	b.publish(topic, "after", nil)
	if p, r := b.bodies(plain), b.bodies(raw); p != "" || r != "after" {
		t.Errorf("after the end of a subscription %q, %q", p, r)
	}
}

func TestSubscribeRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	standard, fifo := b.topic("news", nil), b.topic("news.fifo", map[string]string{"FifoTopic": "true"})
	const queue = "arn:aws:sqs:eu-west-1:111111111111:q"
	for _, c := range []struct{ topic, protocol, endpoint, attribute, value, message string }{
		{standard, "pigeon", "coop", "", "", "Amazon SNS does not support this protocol string: pigeon"},
		{standard, "sqs", "http://localhost/q", "", "", "SQS endpoint ARN"},
		{standard, "http", "https://example.com", "", "", "Endpoint must match the specified protocol"},
		{standard, "email", "nobody", "", "", "Email address"},
		{standard, "sqs", queue + ".fifo", "", "",
			"Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics"},
		{fifo, "http", "http://example.com", "", "",
			"Invalid parameter: Endpoint Reason: FIFO topics deliver to SQS queues only, not to the protocol http"},
		{standard, "sqs", queue, "RawMessageDelivery", "maybe",
			"Attributes Reason: RawMessageDelivery: Invalid value [maybe]. Must be true or false."},
		{standard, "email", "a@example.com", "RawMessageDelivery", "true",
			"Attributes Reason: Delivery protocol [email] does not support raw message delivery."},
		{standard, "sqs", queue, "Colour", "red", "Attributes Reason: AttributeName"},
		{standard, "sqs", queue, "RedrivePolicy", `{"deadLetterTargetArn":"q"}`,
			"Attributes Reason: RedrivePolicy: deadLetterTargetArn is an invalid arn"},
		{fifo, "sqs", queue + ".fifo", "RedrivePolicy", `{"deadLetterTargetArn":"` + queue + `"}`, "Attributes Reason: " +
			"RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic."},
		{standard, "sqs", queue, "FilterPolicy", `{"key":[["value"]]}`, "Attributes Reason: FilterPolicy: Match value must " +
			"be String, number, true, false, or null\n at [Source: (String)\"{\"key\":[[\"value\"]]}\"; line: 1, column: 10]"},
		{standard, "sqs", queue, "FilterPolicy", `{"a":{"b":["c"]}}`,
			"Attributes Reason: Filter policy scope MessageAttributes does not support nested filter policy"},
		{standard, "sqs", queue, "FilterPolicy", `{"a":[1],"b":[1],"c":[1],"d":[1],"e":[1],"f":[1]}`,
			"Attributes Reason: FilterPolicy: Filter policy can not have more than 5 keys"},
		{standard, "sqs", queue, "FilterPolicy", `{"a":[1,2,3,4,5,6],"b":[1,2,3,4,5],"c":[1,2,3,4,5,6]}`,
			"Attributes Reason: FilterPolicy: Filter policy is too complex"},
		{standard, "sqs", queue, "FilterPolicy", `{i}`, "Attributes Reason: FilterPolicy: failed to parse JSON. Unexpected " +
			"character ('i' (code 105)): was expecting double-quote to start field name\n at [Source: REDACTED " +
			"(`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 2]"},
		{standard, "sqs", queue, "FilterPolicyScope", "Message", "Attributes Reason: FilterPolicyScope: Invalid value " +
			"[Message]. Please use either MessageBody or MessageAttributes"},
	} {
		in := &client.SubscribeInput{TopicArn: &c.topic, Protocol: &c.protocol, Endpoint: &c.endpoint}
		if c.attribute != "" {
			in.Attributes = map[string]string{c.attribute: c.value}
		}
		_, err := b.Subscribe(t.Context(), in)
		refused(t, err, "InvalidParameter", "Invalid parameter: "+c.message)
	}
}

func TestFilterPolicies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic := b.topic("news", nil)
	queues := map[string]string{}
	for name, policy := range map[string]string{
		"exact": `{"store":["a","b"]}`, "number": `{"price":[{"numeric":[">",0,"<=",100]}]}`,
		"prefix": `{"store":[{"prefix":"a"}]}`, "but": `{"store":[{"anything-but":["a"]}]}`,
		"absent": `{"store":[{"exists":false}]}`, "array": `{"tags":["x"]}`,
		"or":   `{"$or":[{"store":["b"]},{"price":[{"numeric":["=",5]}]}]}`,
		"cidr": `{"store":[{"cidr":"10.0.0.0/24"}]}`, "suffix": `{"store":[{"suffix":"z"}]}`,
		"case": `{"store":[{"equals-ignore-case":"A"}]}`, "wildcard": `{"store":[{"wildcard":"a*z"}]}`,
	} {
		queues[name] = b.queue(name)
		b.subscribe(topic, "sqs", queues[name], map[string]string{"FilterPolicy": policy, "RawMessageDelivery": "true"})
	}
	queues["body"] = b.queue("body")
	b.subscribe(topic, "sqs", queues["body"], map[string]string{"RawMessageDelivery": "true",
		"FilterPolicyScope": "MessageBody", "FilterPolicy": `{"order":{"total":[{"numeric":[">",10]}]}}`})
	tags := types.MessageAttributeValue{DataType: sdkaws.String("String.Array"), StringValue: sdkaws.String(`["x",1]`)}
	for body, attributes := range map[string]map[string]types.MessageAttributeValue{
		"1": {"store": text("a"), "price": number("5.0")}, "2": {"store": text("b"), "price": number("100.5")},
		"3": {"tags": tags}, `{"order":{"total":11}}`: {"store": text("10.0.0.7")}, "4": {"store": text("abz")},
	} {
		b.publish(topic, body, attributes)
	}
	for name, want := range map[string][]string{
		"exact": {"1", "2"}, "number": {"1"}, "prefix": {"1", "4"}, "but": {"2", "4", `{"order":{"total":11}}`},
		"absent": {"3"}, "array": {"3"}, "or": {"1", "2"}, "cidr": {`{"order":{"total":11}}`}, "suffix": {"4"},
		"case": {"1"}, "wildcard": {"4"}, "body": {`{"order":{"total":11}}`},
	} {
		got := b.bodies(queues[name])
		for _, word := range want {
			if !strings.Contains(" "+got+" ", " "+word+" ") {
				t.Errorf("%s has not got %s but %s", name, word, got)
			}
		}
		if n := len(strings.Fields(got)); n != len(want) {
			t.Errorf("%s has got %s", name, got)
		}
	}
	// A policy can be set and removed.
	sub := b.subscribe(topic, "sqs", b.queue("later"), nil)
	set := func(name, value string) error {
		_, err := b.SetSubscriptionAttributes(t.Context(), &client.SetSubscriptionAttributesInput{SubscriptionArn: &sub,
			AttributeName: &name, AttributeValue: &value})
		return err
	}
	must(t, 0, set("FilterPolicy", `{"a":["b"]}`))
	b.publish(topic, "no", nil)
	must(t, 0, set("FilterPolicy", ""))
	b.publish(topic, "yes", nil)
	if got := b.bodies("later"); got != "yes" {
		t.Errorf("got %s", got)
	}
	refused(t, set("FilterPolicyScope", "x"), "InvalidParameter",
		"Invalid parameter: FilterPolicyScope: Invalid value [x]. Please use either MessageBody or MessageAttributes")
	refused(t, set("FilterPolicy", `[]`), "InvalidParameter", "Invalid parameter: FilterPolicy: "+
		"Filter is not an object\n at [Source: (String)\"[]\"; line: 1, column: 2]")
	refused(t, set("RedrivePolicy", `[]`), "InvalidParameter",
		"Invalid parameter: RedrivePolicy: failed to parse JSON. A value has another type than expected")
	refused(t, set("FilterPolicy", `{"a":[{"b":"c"}]}`), "InvalidParameter", "Invalid parameter: FilterPolicy: "+
		"Unrecognized match type b\n at [Source: (String)\"{\"a\":[{\"b\":\"c\"}]}\"; line: 1, column: 13]")
}

func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic := b.topic("news", nil)
	b.subscribe(topic, "sqs", b.queue("q"), nil)
	value := func(kind, value string) types.MessageAttributeValue {
		return types.MessageAttributeValue{DataType: &kind, StringValue: &value}
	}
	const invalid, wrong = "InvalidParameter", "ParameterValueInvalid"
	for _, c := range []struct {
		in            client.PublishInput
		code, message string
	}{
		{client.PublishInput{TopicArn: sdkaws.String(topic + "x"), Message: sdkaws.String("m")}, "NotFound",
			"Topic does not exist"},
		{client.PublishInput{TopicArn: sdkaws.String("a:b"), Message: sdkaws.String("m")}, invalid,
			"Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 2"},
		{client.PublishInput{Message: sdkaws.String("")}, invalid, "Invalid parameter: Empty message"},
		{client.PublishInput{Message: sdkaws.String(strings.Repeat("x", 256<<10+1))}, invalid,
			"Invalid parameter: Message too long"},
		{client.PublishInput{Message: sdkaws.String("m"), Subject: sdkaws.String("")}, invalid,
			"Invalid parameter: Subject"},
		{client.PublishInput{Message: sdkaws.String("m"), Subject: sdkaws.String("a\nb")}, invalid,
			"Invalid parameter: Subject"},
		{client.PublishInput{Message: sdkaws.String("m"), Subject: sdkaws.String(strings.Repeat("長", 101))}, invalid,
			"Invalid parameter: Subject"},
		{client.PublishInput{Message: sdkaws.String(`{"sqs":"x"}`), MessageStructure: sdkaws.String("json")}, invalid,
			"Invalid parameter: Message Structure - No default entry in JSON message body"},
		{client.PublishInput{Message: sdkaws.String(`{`), MessageStructure: sdkaws.String("json")}, invalid,
			"Invalid parameter: Message Structure - JSON message body failed to parse"},
		{client.PublishInput{Message: sdkaws.String("m"), MessageDeduplicationId: sdkaws.String("d")}, invalid,
			"Invalid parameter: MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that " +
				"is not valid for this topic type"},
		{client.PublishInput{TargetArn: sdkaws.String("arn:aws:sns:eu-west-1:111111111111:endpoint/GCM/a/b"),
			Message: sdkaws.String("m")}, invalid,
			"Invalid parameter: TargetArn Reason: No endpoint found for the target arn specified"},
		{attributed("a", value("String", "")), wrong, "The message attribute 'a' must contain non-empty message attribute " +
			"value for message attribute type 'String'."},
		{attributed("a", value("Binary", "x")), wrong,
			"The message attribute 'a' with type 'Binary' must use field 'Binary'."},
		{attributed("a", value("Stringy", "x")), wrong, "The message attribute 'a' has an invalid message attribute type, " +
			"the set of supported type prefixes is Binary, Number, and String."},
		{attributed("a^", value("String", "x")), wrong, "Invalid non-alphanumeric character '#x5E' was found in the " +
			"message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots."},
		{attributed("", value("String", "x")), wrong, "Length of message attribute name must be at least 1."},
		{attributed(".a", value("String", "x")), wrong,
			"Invalid message attribute name starting with character '.' was found."},
		{attributed("a..b", value("String", "x")), wrong,
			"Message attribute name can not have successive '.' character."},
	} {
		if c.in.TopicArn == nil && c.in.TargetArn == nil {
			c.in.TopicArn = &topic
		}
		_, err := b.Publish(t.Context(), &c.in)
		refused(t, err, c.code, c.message)
	}
	if got := b.bodies("q"); got != "" {
		t.Errorf("delivered %s", got)
	}
	_, err := b.Publish(t.Context(), &client.PublishInput{TopicArn: &topic, Message: sdkaws.String(strings.Repeat("x",
		256<<10)), Subject: sdkaws.String(strings.Repeat("長", 100))})
	must(t, 0, err)
	must(t, 0, func() error {
		_, err := b.Publish(t.Context(), &client.PublishInput{TargetArn: &topic, MessageStructure: sdkaws.String("json"),
			Message: sdkaws.String(`{"default":"d","sqs":"for queues","email":7}`)})
		return err
	}())
	if got := b.bodies("q"); !strings.HasSuffix(got, "xx for queues") {
		t.Errorf("delivered %.100s", got)
	}
}

func attributed(name string, value types.MessageAttributeValue) client.PublishInput {
	return client.PublishInput{Message: sdkaws.String("m"),
		MessageAttributes: map[string]types.MessageAttributeValue{name: value}}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic := b.topic("news", nil)
	b.subscribe(topic, "sqs", b.queue("q"), nil)
	entries := func(ids ...string) *client.PublishBatchInput {
		in := &client.PublishBatchInput{TopicArn: &topic}
		for _, id := range ids {
			in.PublishBatchRequestEntries = append(in.PublishBatchRequestEntries, types.PublishBatchRequestEntry{
				Id: &id, Message: sdkaws.String("m" + id)})
		}
		return in
	}
	out, err := b.PublishBatch(t.Context(), entries("1", "2", "3"))
	if got := b.bodies("q"); len(must(t, out, err).Successful) != 3 || len(out.Failed) != 0 || got != "m1 m2 m3" {
		t.Errorf("%v, delivered %s", out, got)
	}
	_, err = b.PublishBatch(t.Context(), entries("1", "1"))
	refused(t, err, "BatchEntryIdsNotDistinct", "Two or more batch entries in the request have the same Id.")
	_, err = b.PublishBatch(t.Context(), entries(strings.Split("abcdefghijk", "")...))
	refused(t, err, "TooManyEntriesInBatchRequest", "The batch request contains more entries than permissible.")
	_, err = b.PublishBatch(t.Context(), entries("a b"))
	refused(t, err, "InvalidBatchEntryId", "The Id of a batch entry in the batch request contains an impermissible "+
		"character: a b")
	large := entries("1", "2")
	for i := range large.PublishBatchRequestEntries {
		large.PublishBatchRequestEntries[i].Message = sdkaws.String(strings.Repeat("x", 128<<10+1))
	}
	_, err = b.PublishBatch(t.Context(), large)
	refused(t, err, "BatchRequestTooLong", "The length of all the messages put together is more than the limit.")
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	topic := b.topic("news.fifo", map[string]string{"FifoTopic": "true"})
	b.subscribe(topic, "sqs", b.queue("one.fifo"), nil)
	b.subscribe(topic, "sqs", b.queue("two.fifo"), map[string]string{"RawMessageDelivery": "true"})
	b.subscribe(topic, "sqs", b.queue("standard"), map[string]string{"RawMessageDelivery": "true"})
	send := func(body, group, id string) (*client.PublishOutput, error) {
		in := &client.PublishInput{TopicArn: &topic, Message: &body}
		if group != "" {
			in.MessageGroupId = &group
		}
		if id != "" {
			in.MessageDeduplicationId = &id
		}
		return b.Publish(ctx, in)
	}
	_, err := send("m", "", "1")
	refused(t, err, "InvalidParameter", "Invalid parameter: The MessageGroupId parameter is required for FIFO topics")
	_, err = send("m", "g", "")
	refused(t, err, "InvalidParameter", "Invalid parameter: The topic should either have ContentBasedDeduplication "+
		"enabled or MessageDeduplicationId provided explicitly")
	first, err := send("a", "g", "1")
	must(t, first, err)
	b.crash()
	again, err := send("b", "g", "1")
	if *must(t, again, err).MessageId != *first.MessageId || *again.SequenceNumber != *first.SequenceNumber {
		t.Errorf("again %v, first %v", again, first)
	}
	second, err := send("c", "g", "2")
	if must(t, second, err); *second.SequenceNumber <= *first.SequenceNumber || len(*second.SequenceNumber) != 20 {
		t.Errorf("sequence numbers %s, %s", *first.SequenceNumber, *second.SequenceNumber)
	}
	got := b.messages("one.fifo")
	if len(got) != 2 || !strings.Contains(*got[0].Body, "\"MessageId\" : \""+*first.MessageId+"\",\n  \"SequenceNumber\" "+
		": \""+*first.SequenceNumber+"\",\n  \"TopicArn\"") || strings.Contains(*got[0].Body, "Signature") ||
		got[0].Attributes["MessageGroupId"] != "g" || got[1].Attributes["MessageDeduplicationId"] != "2" {
		t.Errorf("messages %v", got)
	}
	if two, standard := b.bodies("two.fifo"), b.bodies("standard"); two != "a c" || standard != "a c" {
		t.Errorf("delivered %s; %s", two, standard)
	}
	b.pass(5 * time.Minute)
	_, err = send("d", "g", "1")
	must(t, 0, err)
	if got := b.bodies("two.fifo"); got != "d" {
		t.Errorf("after five minutes %s", got)
	}
	content := b.topic("content.fifo", map[string]string{"FifoTopic": "true", "ContentBasedDeduplication": "true"})
	b.subscribe(content, "sqs", b.queue("three.fifo"), nil)
	topic = content
	for range 2 {
		_, err = send("Test", "g", "")
		must(t, 0, err)
	}
	got = b.messages("three.fifo")
	if len(got) != 1 || got[0].Attributes["MessageDeduplicationId"] !=
		"532eaabd9574880dbf76b9b8cc00832c20a6ec113d682299550d7a6e0f345e25" {
		t.Errorf("by content %v", got)
	}
}

// TestOrder publishes concurrently to a FIFO topic: every queue receives the messages in the order of their sequence
// numbers.
func TestOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic := b.topic("news.fifo", map[string]string{"FifoTopic": "true"})
	for _, name := range []string{"a.fifo", "b.fifo", "c.fifo"} {
		b.subscribe(topic, "sqs", b.queue(name), map[string]string{"RawMessageDelivery": "true"})
	}
	var mu sync.Mutex
	bySequence := map[string]string{}
	var clients sync.WaitGroup
	for n := range 4 {
		clients.Go(func() {
			for i := range 10 {
				body := fmt.Sprint(n, "-", i)
				out, err := b.Publish(t.Context(), &client.PublishInput{TopicArn: &topic, Message: &body,
					MessageGroupId: sdkaws.String("g"), MessageDeduplicationId: &body})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				bySequence[*out.SequenceNumber] = body
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	b.crash()
	want := strings.Join(sorted(bySequence), " ")
	for _, name := range []string{"a.fifo", "b.fifo", "c.fifo"} {
		if got := b.bodies(name); got != want {
			t.Errorf("%s has %s\nwant %s", name, got, want)
		}
	}
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic, letters := b.topic("news", nil), b.queue("letters")
	redrive := map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"` + letters + `"}`}
	b.subscribe(topic, "sqs", "arn:aws:sqs:eu-west-1:111111111111:nowhere", redrive)
	id := b.publish(topic, "lost", nil)
	got := b.messages(letters)
	if len(got) != 1 || !strings.Contains(*got[0].Body, id) {
		t.Errorf("dead letters %v", got)
	}
	other := b.topic("functions", nil)
	b.subscribe(other, "lambda", "arn:aws:lambda:eu-west-1:111111111111:function:f", redrive)
	b.functions.fail = []error{&stepaws.Error{Code: "ResourceNotFoundException", Message: "Function not found",
		Status: 404}}
	b.publish(other, "no function", nil)
	b.pass(time.Second)
	if got := b.bodies(letters); got != "no function" {
		t.Errorf("dead letters %s", got)
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic := b.topic("news", nil)
	const function = "arn:aws:lambda:eu-west-1:111111111111:function:f"
	sub := b.subscribe(topic, "lambda", function, nil)
	busy := errors.New("busy")
	b.functions.fail = []error{busy, busy, busy, busy}
	id := b.publish(topic, "hello", map[string]types.MessageAttributeValue{"n": number("1")})
	b.pass(10 * time.Second)
	b.functions.mu.Lock()
	defer b.functions.mu.Unlock()
	if len(b.functions.events) != 1 || b.functions.at.Sub(epoch) != time.Second { // three immediate retries
		t.Fatalf("events %v at %s", b.functions.events, b.functions.at)
	}
	arn, event, _ := strings.Cut(b.functions.events[0], " ")
	var e struct {
		Records []struct {
			Sns struct{ Signature, SigningCertURL string }
		}
	}
	must(t, 0, json.Unmarshal([]byte(event), &e))
	want := fmt.Sprintf(`{"Records":[{"EventSource":"aws:sns","EventVersion":"1.0","EventSubscriptionArn":%q,"Sns":{`+
		`"Type":"Notification","MessageId":%q,"TopicArn":%q,"Subject":null,"Message":"hello",`+
		`"Timestamp":"2026-11-22T12:00:00.000Z","SignatureVersion":"1","Signature":%q,"SigningCertUrl":%q,`+
		`"UnsubscribeUrl":"%s/?Action=Unsubscribe&SubscriptionArn=%s","MessageAttributes":{"n":{"Type":"Number",`+
		`"Value":"1"}}}}]}`, sub, id, topic, e.Records[0].Sns.Signature, e.Records[0].Sns.SigningCertURL, b.server.URL, sub)
	if arn != function || event != want {
		t.Errorf("%s %s\nwant %s", arn, event, want)
	}
}

// endpoint is an HTTP endpoint that records what it receives.
type endpoint struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int // of the next responses
	requests []*http.Request
	bodies   []string
	times    []time.Time
}

func newEndpoint(b *bench) *endpoint {
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.requests, e.bodies = append(e.requests, r), append(e.bodies, string(body))
		e.times = append(e.times, b.clock.Now())
		if len(e.statuses) > 0 {
			w.WriteHeader(e.statuses[0])
			e.statuses = e.statuses[1:]
		}
	}))
	b.t.Cleanup(e.Close)
	return e
}

// last returns the members of the last message received.
func (e *endpoint) last(t *testing.T, count int) map[string]string {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.bodies) != count {
		t.Fatalf("%d messages: %v", len(e.bodies), e.bodies)
	}
	members := map[string]string{}
	must(t, 0, json.Unmarshal([]byte(e.bodies[count-1]), &members))
	return members
}

// verify checks that a message is signed with the key of the certificate it names.
func verify(t *testing.T, m map[string]string, names ...string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m["SigningCertURL"], nil)
	must(t, r, err)
	a, err := http.DefaultClient.Do(r)
	must(t, a, err) //nolint:bodyclose // it has none
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	block, _ := pem.Decode(must(t, text, err))
	certificate, err := x509.ParseCertificate(block.Bytes)
	must(t, certificate, err)
	signed := ""
	for _, name := range names {
		signed += name + "\n" + m[name] + "\n"
	}
	short := sha1.Sum([]byte(signed))
	hash, sum := crypto.SHA1, short[:]
	if m["SignatureVersion"] == "2" {
		wide := sha256.Sum256([]byte(signed))
		hash, sum = crypto.SHA256, wide[:]
	}
	signature, err := base64.StdEncoding.DecodeString(m["Signature"])
	must(t, 0, errors.Join(err, rsa.VerifyPKCS1v15(certificate.PublicKey.(*rsa.PublicKey), hash, sum, signature)))
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, r, err)
	a, err := http.DefaultClient.Do(r)
	must(t, a, err) //nolint:bodyclose // it has none
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return fmt.Sprint(a.StatusCode, " ", string(must(t, text, err)))
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1", "2"} {
		b := newBench(t)
		e := newEndpoint(b)
		topic := b.topic("news", map[string]string{"SignatureVersion": version})
		out, err := b.Subscribe(t.Context(), &client.SubscribeInput{TopicArn: &topic, Protocol: sdkaws.String("http"),
			Endpoint: sdkaws.String(e.URL + "/hook")})
		if *must(t, out, err).SubscriptionArn != "pending confirmation" {
			t.Errorf("subscribed %s", *out.SubscriptionArn)
		}
		b.pass(time.Second)
		m := e.last(t, 1)
		sub := e.requests[0].Header.Get("X-Amz-Sns-Subscription-Arn")
		if m["Type"] != "SubscriptionConfirmation" || m["Message"] != "You have chosen to subscribe to the topic "+topic+
			".\nTo confirm the subscription, visit the SubscribeURL included in this message." ||
			e.requests[0].Header.Get("X-Amz-Sns-Message-Type") != "SubscriptionConfirmation" {
			t.Errorf("confirmation %v", m)
		}
		verify(t, m, "Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")
		b.publish(topic, "too early", nil)
		if answer := get(t, m["SubscribeURL"]); !strings.HasPrefix(answer, "200 ") || !strings.Contains(answer,
			"<ConfirmSubscriptionResult><SubscriptionArn>"+sub+"</SubscriptionArn></ConfirmSubscriptionResult>") {
			t.Errorf("confirmed: %s", answer)
		}
		id := b.publish(topic, "hello", nil)
		b.pass(time.Second)
		m = e.last(t, 2)
		if m["MessageId"] != id || m["Message"] != "hello" {
			t.Errorf("message %v", m)
		}
		verify(t, m, "Message", "MessageId", "Timestamp", "TopicArn", "Type")
		h := e.requests[1].Header
		for name, want := range map[string]string{
			"Content-Type": "text/plain; charset=UTF-8", "User-Agent": "Amazon Simple Notification Service Agent",
			"X-Amz-Sns-Message-Type": "Notification", "X-Amz-Sns-Message-Id": id, "X-Amz-Sns-Topic-Arn": topic,
			"X-Amz-Sns-Subscription-Arn": sub, "X-Amz-Sns-Rawdelivery": "",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		if answer := get(t, m["UnsubscribeURL"]); !strings.HasPrefix(answer, "200 ") {
			t.Errorf("ended: %s", answer)
		}
		b.pass(time.Second)
		if m := e.last(t, 3); m["Type"] != "UnsubscribeConfirmation" {
			t.Errorf("farewell %v", m)
		}
	}
}

func TestConfirmRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic := b.topic("news", nil)
	for _, c := range []struct{ topic, token, message string }{
		{topic, "short", "Invalid token"}, {topic, strings.Repeat("ab", 144), "Invalid parameter: Token"},
		{topic + "x", strings.Repeat("ab", 144), "Invalid parameter: Token"},
	} {
		_, err := b.ConfirmSubscription(t.Context(), &client.ConfirmSubscriptionInput{TopicArn: &c.topic,
			Token: &c.token})
		refused(t, err, "InvalidParameter", c.message)
	}
}

// TestRetries follows a delivery policy on the clock until the message goes to the dead-letter queue.
func TestRetries(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	e := newEndpoint(b)
	topic, letters := b.topic("news", nil), b.queue("letters")
	sub := b.subscribe(topic, "http", e.URL, map[string]string{
		"RedrivePolicy": `{"deadLetterTargetArn":"` + letters + `"}`, "RawMessageDelivery": "true",
		"DeliveryPolicy": `{"healthyRetryPolicy":{"numRetries":4,"numNoDelayRetries":1,"minDelayTarget":2,` +
			`"maxDelayTarget":8,"backoffFunction":"linear"},"requestPolicy":{"headerContentType":"application/json"}}`})
	b.pass(time.Second)
	get(t, e.last(t, 1)["SubscribeURL"])
	attributes, err := b.GetSubscriptionAttributes(t.Context(), &client.GetSubscriptionAttributesInput{
		SubscriptionArn: &sub})
	if got := must(t, attributes, err).Attributes["EffectiveDeliveryPolicy"]; got != `{"healthyRetryPolicy":{`+
		`"minDelayTarget":2,"maxDelayTarget":8,"numRetries":4,"numMaxDelayRetries":0,"numNoDelayRetries":1,`+
		`"numMinDelayRetries":0,"backoffFunction":"linear"},"requestPolicy":{"headerContentType":"application/json"}}` {
		t.Errorf("policy %s", got)
	}
	e.statuses = []int{500, 503, 429, 500, 500}
	start := b.clock.Now()
	b.publish(topic, `{"a":1}`, nil)
	b.pass(time.Minute)
	e.mu.Lock()
	waits := []string{}
	for _, at := range e.times[1:] {
		waits = append(waits, at.Sub(start).Round(time.Second).String())
	}
	if got := strings.Join(waits, " "); got != "0s 0s 2s 7s 15s" || e.bodies[5] != `{"a":1}` ||
		e.requests[5].Header.Get("X-Amz-Sns-Rawdelivery") != "true" ||
		e.requests[5].Header.Get("Content-Type") != "application/json" {
		t.Errorf("attempts after %s: %v", got, e.bodies)
	}
	e.statuses = []int{404}
	e.mu.Unlock()
	if got := b.bodies(letters); got != `{"a":1}` {
		t.Errorf("dead letters %s", got)
	}
	b.publish(topic, "refused for good", nil)
	b.pass(time.Second)
	if got := b.bodies(letters); got != "refused for good" {
		t.Errorf("dead letters %s", got)
	}
}

func TestInbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	topic := b.topic("alarms", map[string]string{"DisplayName": "Alarms"})
	out, err := b.Subscribe(t.Context(), &client.SubscribeInput{TopicArn: &topic, Protocol: sdkaws.String("email"),
		Endpoint: sdkaws.String("ops@example.com")})
	if *must(t, out, err).SubscriptionArn != "pending confirmation" {
		t.Errorf("subscribed %s", *out.SubscriptionArn)
	}
	_, err = b.Publish(t.Context(), &client.PublishInput{TopicArn: &topic, Subject: sdkaws.String("ALARM"),
		Message: sdkaws.String("too many retries")})
	must(t, 0, err)
	list, err := b.ListSubscriptions(t.Context(), &client.ListSubscriptionsInput{})
	if got := *must(t, list, err).Subscriptions[0].SubscriptionArn; got != "PendingConfirmation" {
		t.Errorf("listed as %s", got)
	}
	b.crash()
	mails, err := b.service.Inbox().Latest("", 10)
	if len(must(t, mails, err)) != 2 {
		t.Fatalf("mails %v", mails)
	}
	ask, told := mails[0], mails[1]
	if all, err := b.service.Inbox().After(0, "", 0); len(must(t, all, err)) != 2 {
		t.Errorf("from the beginning %v", all)
	}
	if ask.Subject != "AWS Notification - Subscription Confirmation" || ask.Type != "SubscriptionConfirmation" ||
		ask.From != "Alarms <no-reply@sns.amazonaws.com>" || told.Subject != "ALARM" || told.Confirmed ||
		!strings.HasPrefix(told.Body, "too many retries\n\n--\n") || told.To != "ops@example.com" {
		t.Errorf("mails %+v", mails)
	}
	_, link, _ := strings.Cut(ask.Body, "/?")
	link = b.server.URL + "/?" + strings.TrimSpace(link) // the server has a new address
	if answer := get(t, link); !strings.HasPrefix(answer, "200 ") {
		t.Errorf("confirmed: %s", answer)
	}
	waited := make(chan string)
	go func() {
		waited <- get(t, fmt.Sprintf("%s%s?after=%d&wait=20&to=OPS@example.com", b.server.URL, sns.InboxPath, told.Number))
	}()
	b.subscribe(topic, "email-json", "json@example.com", nil)
	b.publish(topic, "again", nil)
	answer := <-waited
	if !strings.Contains(answer, `"confirmed":true`) || !strings.Contains(answer, `again\n\n--`) ||
		strings.Contains(answer, "json@") {
		t.Errorf("waited for %s", answer)
	}
	mails, err = b.service.Inbox().Latest("json@example.com", 1)
	var e struct{ Message string }
	if must(t, mails, err); len(mails) != 1 || json.Unmarshal([]byte(mails[0].Body), &e) != nil || e.Message != "again" {
		t.Errorf("email-json %v", mails)
	}
	if one := get(t, fmt.Sprintf("%s%s/%d", b.server.URL, sns.InboxPath, told.Number)); !strings.Contains(one,
		`"subject":"ALARM"`) {
		t.Errorf("one mail: %s", one)
	}
}

// TestADeadEndpointDelaysNoOther publishes 200 messages to a subscription that never answers. Another subscription of
// the same topic, and one of another topic, get theirs.
func TestADeadEndpointDelaysNoOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const function = "arn:aws:lambda:eu-west-1:111111111111:function:"
	b.functions.hangs, b.functions.told = function+"dead", make(chan string, 1000)
	first, second := b.topic("first", nil), b.topic("second", nil)
	b.subscribe(first, "lambda", function+"dead", nil)
	for range 200 {
		b.publish(first, "x", nil)
	}
	b.subscribe(first, "lambda", function+"live", nil)
	b.subscribe(second, "lambda", function+"other", nil)
	for topic, want := range map[string]string{first: function + "live", second: function + "other"} {
		b.publish(topic, "y", nil)
		if got := <-b.functions.told; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
