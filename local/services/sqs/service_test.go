package sqs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/engine/clock"
	"stepback/local/services/documents"
	"stepback/local/services/sqs"
)

var epoch = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// bench is a service over an in-memory disk in virtual time, behind HTTP, with an AWS client for it.
type bench struct {
	*client.Client
	t       *testing.T
	clock   *clock.Clock
	disk    *vfs.MemFS
	service *sqs.Service
	server  *httptest.Server
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clock: clock.Virtual(epoch), disk: vfs.NewCrashableMem()}
	b.open()
	t.Cleanup(func() {
		b.close()
		b.clock.Close()
	})
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.service, err = sqs.Open(sqs.Options{Dir: "/sqs", Clock: b.clock, Disk: documents.Disk{FS: b.disk}}); err != nil {
		b.t.Fatal(err)
	}
	b.server = httptest.NewServer(b.service.Handler())
	b.Client = newClient(b.server.URL)
}

func newClient(url string) *client.Client {
	return client.New(client.Options{BaseEndpoint: &url, Region: "eu-west-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("111111111111", "secret", "")})
}

func (b *bench) close() {
	b.service.StopPolls()
	b.server.Close()
	if err := b.service.Close(); err != nil {
		b.t.Error(err)
	}
}

// crash reopens the service on the disk as a crash would leave it: everything that was not synced is lost.
func (b *bench) crash() {
	b.t.Helper()
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	b.close()
	b.disk = after
	b.open()
}

// pass lets virtual time pass.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	b.clock.Hold()
	defer b.clock.Release()
	if err := b.clock.Sleep(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) create(name string, attributes map[string]string) string {
	b.t.Helper()
	out, err := b.CreateQueue(b.t.Context(), &client.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		b.t.Fatal(err)
	}
	return *out.QueueUrl
}

func (b *bench) send(url, body, group string) *client.SendMessageOutput {
	b.t.Helper()
	in := &client.SendMessageInput{QueueUrl: &url, MessageBody: &body}
	if group != "" {
		in.MessageGroupId = &group
	}
	out, err := b.SendMessage(b.t.Context(), in)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) receive(url string, n int32) []types.Message {
	b.t.Helper()
	out, err := b.ReceiveMessage(b.t.Context(), &client.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: n,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"}, MessageAttributeNames: []string{"All"}})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.Messages
}

func (b *bench) bodies(url string, n int32) string {
	b.t.Helper()
	return bodies(b.receive(url, n))
}

func bodies(messages []types.Message) string {
	words := []string{}
	for _, m := range messages {
		words = append(words, *m.Body)
	}
	return strings.Join(words, " ")
}

func (b *bench) remove(url string, m types.Message) {
	b.t.Helper()
	if _, err := b.DeleteMessage(b.t.Context(), &client.DeleteMessageInput{QueueUrl: &url,
		ReceiptHandle: m.ReceiptHandle}); err != nil {
		b.t.Fatal(err)
	}
}

// attributes returns attributes of a queue as NAME=VALUE; all of them if no names are given.
func (b *bench) attributes(url string, names ...types.QueueAttributeName) string {
	b.t.Helper()
	if len(names) == 0 {
		names = []types.QueueAttributeName{"All"}
	}
	out, err := b.GetQueueAttributes(b.t.Context(), &client.GetQueueAttributesInput{QueueUrl: &url,
		AttributeNames: names})
	if err != nil {
		b.t.Fatal(err)
	}
	list := []string{}
	for k, v := range out.Attributes {
		list = append(list, k+"="+v)
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// counts returns the numbers of visible, in-flight and delayed messages.
func (b *bench) counts(url string) string {
	b.t.Helper()
	out := b.attributes(url, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible",
		"ApproximateNumberOfMessagesDelayed")
	var visible, delayed, hidden string
	if _, err := fmt.Sscanf(strings.ReplaceAll(out, "=", " "), "ApproximateNumberOfMessages %s\n"+
		"ApproximateNumberOfMessagesDelayed %s\nApproximateNumberOfMessagesNotVisible %s", &visible, &delayed,
		&hidden); err != nil {
		b.t.Fatal(err, out)
	}
	return visible + " " + hidden + " " + delayed
}

// refused checks that an error has the given code for Query clients, and the given message.
func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || e.ErrorMessage() != message {
		t.Errorf("%v\nwant %s: %s", err, code, message)
	}
}

func TestQueues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	if _, err := b.disk.Stat("/sqs"); err == nil {
		t.Error("an unused SQS has a directory")
	}
	url := b.create("plain", map[string]string{"VisibilityTimeout": "45"})
	if want := b.server.URL + "/111111111111/plain"; url != want {
		t.Errorf("URL %s, want %s", url, want)
	}
	if again := b.create("plain", map[string]string{"VisibilityTimeout": "45"}); again != url {
		t.Errorf("again: %s", again)
	}
	_, err := b.CreateQueue(ctx, &client.CreateQueueInput{QueueName: sdkaws.String("plain"),
		Attributes: map[string]string{"VisibilityTimeout": "46"}})
	refused(t, err, "QueueAlreadyExists",
		"A queue already exists with the same name and a different value for attribute VisibilityTimeout")
	if got, want := b.attributes(url), `ApproximateNumberOfMessages=0
ApproximateNumberOfMessagesDelayed=0
ApproximateNumberOfMessagesNotVisible=0
CreatedTimestamp=1795348800
DelaySeconds=0
LastModifiedTimestamp=1795348800
MaximumMessageSize=1048576
MessageRetentionPeriod=345600
QueueArn=arn:aws:sqs:eu-west-1:111111111111:plain
ReceiveMessageWaitTimeSeconds=0
SqsManagedSseEnabled=true
VisibilityTimeout=45`; got != want {
		t.Errorf("attributes:\n%s", got)
	}
	fifo := b.create("first.fifo", map[string]string{"FifoQueue": "true"})
	if got, want := b.attributes(fifo, "FifoQueue", "ContentBasedDeduplication", "DeduplicationScope",
		"FifoThroughputLimit"), "ContentBasedDeduplication=false\nDeduplicationScope=queue\nFifoQueue=true\n"+
		"FifoThroughputLimit=perQueue"; got != want {
		t.Errorf("FIFO attributes:\n%s", got)
	}
	for name, c := range map[string]struct {
		attributes    map[string]string
		code, message string
	}{
		"no/slash": {nil, "InvalidParameterValue",
			"Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"},
		"nofifo": {map[string]string{"FifoQueue": "true"}, "InvalidParameterValue", "The name of a FIFO queue can " +
			"only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in " +
			"length."},
		"a": {map[string]string{"Foo": "1"}, "InvalidAttributeName", "Unknown Attribute Foo."},
		"b": {map[string]string{"FifoQueue": "false"}, "InvalidAttributeName", "Unknown Attribute FifoQueue."},
		"throughput": {map[string]string{"FifoThroughputLimit": "perQueue"}, "InvalidAttributeName",
			"You can specify the FifoThroughputLimit only when FifoQueue is set to true."},
		"content": {map[string]string{"ContentBasedDeduplication": "true"}, "InvalidAttributeName",
			"Unknown Attribute ContentBasedDeduplication."},
		"c": {map[string]string{"VisibilityTimeout": "43201"}, "InvalidAttributeValue",
			"Invalid value for the parameter VisibilityTimeout."},
		"d": {map[string]string{"RedrivePolicy": `{"maxReceiveCount":3}`}, "InvalidParameterValue",
			`Value {"maxReceiveCount":3} for parameter RedrivePolicy is invalid. Reason: Redrive policy does not contain ` +
				`mandatory attribute: deadLetterTargetArn.`},
		"e": {map[string]string{"RedrivePolicy": `{"maxReceiveCount":3,"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:111111111111:x"}`},
			"InvalidParameterValue", `Value {"maxReceiveCount":3,"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:111111111111:x"} ` +
				`for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.`},
	} {
		_, err := b.CreateQueue(ctx, &client.CreateQueueInput{QueueName: &name, Attributes: c.attributes})
		refused(t, err, c.code, c.message)
	}
	for i := range 3 {
		b.create(fmt.Sprint("page-", i), nil)
	}
	var pages []string
	in := &client.ListQueuesInput{QueueNamePrefix: sdkaws.String("page-"), MaxResults: sdkaws.Int32(2)}
	for {
		out, err := b.ListQueues(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, strings.ReplaceAll(strings.Join(out.QueueUrls, " "), b.server.URL, ""))
		if in.NextToken = out.NextToken; in.NextToken == nil {
			break
		}
	}
	if want := []string{"/111111111111/page-0 /111111111111/page-1", "/111111111111/page-2"}; !slices.Equal(pages, want) {
		t.Errorf("pages %q", pages)
	}
	found, err := b.GetQueueUrl(ctx, &client.GetQueueUrlInput{QueueName: sdkaws.String("plain")})
	if err != nil || *found.QueueUrl != url {
		t.Errorf("GetQueueUrl: %v %v", found, err)
	}
	elsewhere := "https://sqs.eu-west-1.amazonaws.com/111111111111/plain"
	b.send(elsewhere, "by AWS's URL", "")
	if got := b.bodies("http://other:1/111111111111/plain", 1); got != "by AWS's URL" {
		t.Errorf("received %q", got)
	}
	if _, err := b.DeleteQueue(ctx, &client.DeleteQueueInput{QueueUrl: &url}); err != nil {
		t.Fatal(err)
	}
	_, err = b.SendMessage(ctx, &client.SendMessageInput{QueueUrl: &url, MessageBody: sdkaws.String("x")})
	refused(t, err, "AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist.")
	var typed *types.QueueDoesNotExist
	if !errors.As(err, &typed) {
		t.Errorf("%T", err)
	}
}

func TestTagsAndPermissions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	url := b.create("q", nil)
	if _, err := b.TagQueue(ctx, &client.TagQueueInput{QueueUrl: &url,
		Tags: map[string]string{"a": "1", "b": "2"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.UntagQueue(ctx, &client.UntagQueueInput{QueueUrl: &url, TagKeys: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	allow := &client.AddPermissionInput{QueueUrl: &url, Label: sdkaws.String("let"),
		AWSAccountIds: []string{"222222222222"}, Actions: []string{"SendMessage"}}
	if _, err := b.AddPermission(ctx, allow); err != nil {
		t.Fatal(err)
	}
	_, err := b.AddPermission(ctx, allow)
	refused(t, err, "InvalidParameterValue", "Value let for parameter Label is invalid. Reason: Already exists.")
	for _, account := range []string{"*", "arn:aws:iam::222222222222:user/u", "22222222222"} {
		_, err = b.AddPermission(ctx, &client.AddPermissionInput{QueueUrl: &url, Label: sdkaws.String("other"),
			AWSAccountIds: []string{account}, Actions: []string{"SendMessage"}})
		refused(t, err, "InvalidParameterValue", "Value ["+account+"] for parameter PrincipalId is invalid. Reason: Unable to verify.")
	}
	b.crash()
	tags, err := b.ListQueueTags(ctx, &client.ListQueueTagsInput{QueueUrl: &url})
	if err != nil || len(tags.Tags) != 1 || tags.Tags["b"] != "2" {
		t.Errorf("tags %v %v", tags, err)
	}
	const arn = "arn:aws:sqs:eu-west-1:111111111111:q"
	if got, want := b.attributes(url, "Policy"), `Policy={"Version":"2008-10-17","Id":"`+arn+`/SQSDefaultPolicy",`+
		`"Statement":[{"Action":"SQS:SendMessage","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::222222222222:root"},`+
		`"Resource":"`+arn+`","Sid":"let"}]}`; got != want {
		t.Errorf("policy %s", got)
	}
	if _, err := b.RemovePermission(ctx, &client.RemovePermissionInput{QueueUrl: &url,
		Label: sdkaws.String("let")}); err != nil {
		t.Fatal(err)
	}
	if got := b.attributes(url, "Policy"); got != "" {
		t.Errorf("policy %s", got)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	url := b.create("q", nil)
	out, err := b.SendMessage(ctx, &client.SendMessageInput{QueueUrl: &url, MessageBody: sdkaws.String("hello"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"city": {DataType: sdkaws.String("String"), StringValue: sdkaws.String("Any City")},
			"no":   {DataType: sdkaws.String("Number.int"), StringValue: sdkaws.String("7")},
			"raw":  {DataType: sdkaws.String("Binary"), BinaryValue: []byte{0, 255}},
		},
		MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
			"AWSTraceHeader": {DataType: sdkaws.String("String"), StringValue: sdkaws.String("Root=1-5759e988-bd862e3fe1be46a994272793")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if *out.MD5OfMessageBody != "5d41402abc4b2a76b9719d911017c592" || out.SequenceNumber != nil {
		t.Errorf("sent %+v", out)
	}
	b.pass(2 * time.Second)
	got := b.receive(url, 10)
	if len(got) != 1 || *got[0].MessageId != *out.MessageId ||
		*got[0].MD5OfMessageAttributes != *out.MD5OfMessageAttributes {
		t.Fatalf("received %+v", got)
	}
	want := map[string]string{"SenderId": "111111111111", "SentTimestamp": "1795348800000",
		"ApproximateReceiveCount": "1", "ApproximateFirstReceiveTimestamp": "1795348802000",
		"AWSTraceHeader": "Root=1-5759e988-bd862e3fe1be46a994272793"}
	if fmt.Sprint(got[0].Attributes) != fmt.Sprint(want) {
		t.Errorf("attributes %v", got[0].Attributes)
	}
	if a := got[0].MessageAttributes; len(a) != 3 || *a["no"].StringValue != "7" || *a["no"].DataType != "Number.int" ||
		string(a["raw"].BinaryValue) != "\x00\xff" {
		t.Errorf("message attributes %v", a)
	}
	if _, err := b.ChangeMessageVisibility(ctx, &client.ChangeMessageVisibilityInput{QueueUrl: &url,
		ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: 0}); err != nil {
		t.Fatal(err)
	}
	some, err := b.ReceiveMessage(ctx, &client.ReceiveMessageInput{QueueUrl: &url, MessageAttributeNames: []string{"ci.*", "n*", "city"}})
	if err != nil || len(some.Messages) != 1 || len(some.Messages[0].MessageAttributes) != 1 ||
		some.Messages[0].Attributes != nil {
		t.Errorf("some %+v %v", some, err)
	}
	b.remove(url, got[0])
	if c := b.counts(url); c != "0 0 0" {
		t.Errorf("counts %s", c)
	}
	_, err = b.ChangeMessageVisibility(ctx, &client.ChangeMessageVisibilityInput{QueueUrl: &url,
		ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: 1})
	refused(t, err, "InvalidParameterValue", "Value "+*got[0].ReceiptHandle+" for parameter ReceiptHandle is invalid. "+
		"Reason: Message does not exist or is not available for visibility timeout change.")
	_, err = b.DeleteMessage(ctx, &client.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: sdkaws.String("garbage")})
	refused(t, err, "ReceiptHandleIsInvalid", `The input receipt handle "garbage" is not a valid receipt handle.`)
}

func TestRefusedMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	plain := b.create("q", map[string]string{"MaximumMessageSize": "1024"})
	fifo := b.create("q.fifo", map[string]string{"FifoQueue": "true"})
	text := func(kind, value string) map[string]types.MessageAttributeValue {
		return map[string]types.MessageAttributeValue{"a": {DataType: &kind, StringValue: &value}}
	}
	s := sdkaws.String
	for _, c := range []struct {
		in            client.SendMessageInput
		code, message string
	}{
		{client.SendMessageInput{QueueUrl: &plain, MessageBody: s("")}, "MissingParameter",
			"The request must contain the parameter MessageBody."},
		{client.SendMessageInput{QueueUrl: &plain, MessageBody: s("\x01")}, "InvalidMessageContents",
			"Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | " +
				"#x10000 to #x10FFFF"},
		{client.SendMessageInput{QueueUrl: &plain, MessageBody: s(strings.Repeat("x", 1025))}, "InvalidParameterValue",
			"One or more parameters are invalid. Reason: Message must be shorter than 1024 bytes."},
		{client.SendMessageInput{QueueUrl: &plain, MessageBody: s("m"), DelaySeconds: 901}, "InvalidParameterValue",
			"Value 901 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900."},
		{client.SendMessageInput{QueueUrl: &plain, MessageBody: s("m"), MessageDeduplicationId: s("d")},
			"InvalidParameterValue", "Value d for parameter MessageDeduplicationId is invalid. Reason: The request include " +
				"parameter that is not valid for this queue type."},
		{client.SendMessageInput{QueueUrl: &fifo, MessageBody: s("m")}, "MissingParameter",
			"The request must contain the parameter MessageGroupId."},
		{client.SendMessageInput{QueueUrl: &fifo, MessageBody: s("m"), MessageGroupId: s("g")}, "InvalidParameterValue",
			"The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly"},
		{client.SendMessageInput{QueueUrl: &plain, MessageBody: s("m"), MessageAttributes: text("Text", "v")},
			"InvalidParameterValue", "The type of message (user) attribute 'a' is invalid. You must use only the following " +
				"supported type prefixes: Binary, Number, String."},
		{client.SendMessageInput{QueueUrl: &plain, MessageBody: s("m"), MessageAttributes: text("Number", "v")},
			"InvalidParameterValue", "Can't cast the value of message (user) attribute 'a' to a number."},
		{client.SendMessageInput{QueueUrl: &plain, MessageBody: s("m"), MessageAttributes: text("String", "")},
			"InvalidParameterValue", "Message (user) attribute 'a' must contain a non-empty value of type 'String'."},
	} {
		_, err := b.SendMessage(t.Context(), &c.in)
		refused(t, err, c.code, c.message)
	}
	_, err := b.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: &plain, MaxNumberOfMessages: 11})
	refused(t, err, "InvalidParameterValue",
		"Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.")
	_, err = b.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: &plain, WaitTimeSeconds: 21})
	refused(t, err, "InvalidParameterValue",
		"Value 21 for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.")
	if c := b.counts(plain); c != "0 0 0" {
		t.Errorf("counts %s", c)
	}
}

func TestTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	url := b.create("q", map[string]string{"DelaySeconds": "10", "MessageRetentionPeriod": "60"})
	b.send(url, "late", "")
	if _, err := b.SendMessage(ctx, &client.SendMessageInput{QueueUrl: &url, MessageBody: sdkaws.String("later"),
		DelaySeconds: 20}); err != nil {
		t.Fatal(err)
	}
	if c := b.counts(url); c != "0 0 2" {
		t.Errorf("counts %s", c)
	}
	// The poll ends when the first message becomes visible, ten seconds from now.
	out, err := b.ReceiveMessage(ctx, &client.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20,
		MaxNumberOfMessages: 10, VisibilityTimeout: 25})
	if err != nil || bodies(out.Messages) != "late" || b.clock.Now().Sub(epoch) != 10*time.Second {
		t.Errorf("received %q at %s: %v", bodies(out.Messages), b.clock.Now().Sub(epoch), err)
	}
	b.pass(10 * time.Second)
	if got := b.bodies(url, 10); got != "later" {
		t.Errorf("received %q", got)
	}
	b.pass(15*time.Second - time.Millisecond)
	if got := b.bodies(url, 10); got != "" {
		t.Errorf("received early: %q", got)
	}
	b.pass(time.Millisecond)
	if got := b.bodies(url, 10); got != "late" {
		t.Errorf("received again: %q", got)
	}
	if c := b.counts(url); c != "0 2 0" {
		t.Errorf("counts %s", c)
	}
	b.pass(25 * time.Second)
	if c := b.counts(url); c != "0 0 0" {
		t.Errorf("counts after retention %s", c)
	}
	before := b.clock.Now()
	out, err = b.ReceiveMessage(ctx, &client.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
	if err != nil || len(out.Messages) != 0 || b.clock.Now().Sub(before) != 20*time.Second {
		t.Errorf("an empty poll: %v %v after %s", out, err, b.clock.Now().Sub(before))
	}
}

// Messages sent while polls wait end one poll each, without virtual time passing.
func TestPollsAreWoken(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	url := b.create("q", nil)
	b.clock.Hold() // stop virtual time
	got := make(chan string)
	const polls = 3
	for range polls {
		go func() {
			out, err := b.ReceiveMessage(context.WithoutCancel(t.Context()), &client.ReceiveMessageInput{QueueUrl: &url,
				WaitTimeSeconds: 20, MaxNumberOfMessages: 1})
			if err != nil {
				got <- err.Error()
				return
			}
			got <- bodies(out.Messages)
		}()
	}
	var all []string
	for i := range polls {
		b.send(url, fmt.Sprint("m", i), "")
		all = append(all, <-got)
	}
	b.clock.Release()
	slices.Sort(all)
	if want := []string{"m0", "m1", "m2"}; !slices.Equal(all, want) {
		t.Errorf("received %q", all)
	}
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	url := b.create("q.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"})
	first := b.send(url, "a1", "a")
	b.send(url, "a2", "a")
	b.send(url, "b1", "b")
	again := b.send(url, "a1", "a")
	if *again.MessageId != *first.MessageId || *again.SequenceNumber != *first.SequenceNumber ||
		len(*first.SequenceNumber) != 20 {
		t.Errorf("a duplicate: %v, the first: %v", again, first)
	}
	one := b.receive(url, 1)
	if bodies(one) != "a1" || one[0].Attributes["MessageGroupId"] != "a" || one[0].Attributes["MessageDeduplicationId"] !=
		"f55ff16f66f43360266b95db6f8fec01d76031054306ae4a4b380598f6cfd114" ||
		one[0].Attributes["SequenceNumber"] != *first.SequenceNumber {
		t.Errorf("received %+v", one)
	}
	b.crash()
	if got := b.bodies(url, 10); got != "b1" {
		t.Errorf("a's group is in flight: %q", got)
	}
	if out := b.send(url, "a1", "a"); *out.MessageId != *first.MessageId {
		t.Error("the duplicate is forgotten after a crash")
	}
	b.remove(url, one[0])
	if got := b.bodies(url, 10); got != "a2" {
		t.Errorf("received %q", got)
	}
	b.pass(30 * time.Second)
	last := b.receive(url, 10)
	if bodies(last) != "b1 a2" {
		t.Errorf("received again %q", bodies(last))
	}
	b.pass(30 * time.Second)
	_, err := b.DeleteMessage(ctx, &client.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: last[0].ReceiptHandle})
	refused(t, err, "InvalidParameterValue", "Value "+*last[0].ReceiptHandle+
		" for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.")
	attempt := &client.ReceiveMessageInput{QueueUrl: &url, ReceiveRequestAttemptId: sdkaws.String("try"),
		MaxNumberOfMessages: 1}
	x, err1 := b.ReceiveMessage(ctx, attempt)
	y, err2 := b.ReceiveMessage(ctx, attempt)
	if err1 != nil || err2 != nil || bodies(x.Messages) != "b1" || *x.Messages[0].ReceiptHandle != *y.Messages[0].ReceiptHandle {
		t.Errorf("attempts: %v %v, %v %v", x, err1, y, err2)
	}
	b.pass(5 * time.Minute)
	if out := b.send(url, "a1", "a"); *out.MessageId == *first.MessageId {
		t.Error("still a duplicate after five minutes")
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	url := b.create("q", nil)
	batch := func(entries ...types.SendMessageBatchRequestEntry) (*client.SendMessageBatchOutput, error) {
		return b.SendMessageBatch(ctx, &client.SendMessageBatchInput{QueueUrl: &url,
			Entries: append([]types.SendMessageBatchRequestEntry{}, entries...)})
	}
	entry := func(id, body string) types.SendMessageBatchRequestEntry {
		return types.SendMessageBatchRequestEntry{Id: &id, MessageBody: &body}
	}
	_, err := batch()
	refused(t, err, "AWS.SimpleQueueService.EmptyBatchRequest",
		"There should be at least one SendMessageBatchRequestEntry in the request.")
	_, err = batch(entry("a", "1"), entry("a", "2"))
	refused(t, err, "AWS.SimpleQueueService.BatchEntryIdsNotDistinct", "Id a repeated.")
	_, err = batch(entry("a b", "1"))
	refused(t, err, "AWS.SimpleQueueService.InvalidBatchEntryId", "A batch entry id can only contain alphanumeric "+
		"characters, hyphens and underscores. It can be at most 80 letters long.")
	_, err = batch(slices.Repeat([]types.SendMessageBatchRequestEntry{entry("a", "1")}, 11)...)
	refused(t, err, "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
		"Maximum number of entries per request are 10. You have sent 11.")
	half := strings.Repeat("\"", 600_000)
	_, err = batch(entry("a", half), entry("b", half))
	refused(t, err, "AWS.SimpleQueueService.BatchRequestTooLong",
		"Batch requests cannot be longer than 1048576 bytes. You have sent 1200000 bytes.")
	out, err := batch(entry("a", "1"), entry("b", "\x02"), entry("c", "3"))
	if err != nil || len(out.Successful) != 2 || *out.Successful[1].Id != "c" || len(out.Failed) != 1 ||
		*out.Failed[0].Id != "b" || *out.Failed[0].Code != "InvalidMessageContents" || !out.Failed[0].SenderFault {
		t.Errorf("%+v %v", out, err)
	}
	got := b.receive(url, 10)
	if bodies(got) != "1 3" {
		t.Fatalf("received %q", bodies(got))
	}
	changed, err := b.ChangeMessageVisibilityBatch(ctx, &client.ChangeMessageVisibilityBatchInput{QueueUrl: &url,
		Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
			{Id: sdkaws.String("x"), ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: 0},
			{Id: sdkaws.String("y"), ReceiptHandle: sdkaws.String("no"), VisibilityTimeout: 0},
		}})
	if err != nil || len(changed.Successful) != 1 || *changed.Failed[0].Code != "ReceiptHandleIsInvalid" {
		t.Errorf("%+v %v", changed, err)
	}
	if c := b.counts(url); c != "1 1 0" {
		t.Errorf("counts %s", c)
	}
	deleted, err := b.DeleteMessageBatch(ctx, &client.DeleteMessageBatchInput{QueueUrl: &url,
		Entries: []types.DeleteMessageBatchRequestEntry{{Id: sdkaws.String("x"), ReceiptHandle: got[0].ReceiptHandle},
			{Id: sdkaws.String("y"), ReceiptHandle: got[1].ReceiptHandle}}})
	if err != nil || len(deleted.Successful) != 2 || b.counts(url) != "0 0 0" {
		t.Errorf("%+v %v", deleted, err)
	}
	b.send(url, "purged", "")
	if _, err := b.PurgeQueue(ctx, &client.PurgeQueueInput{QueueUrl: &url}); err != nil || b.counts(url) != "0 0 0" {
		t.Error(err)
	}
	_, err = b.PurgeQueue(ctx, &client.PurgeQueueInput{QueueUrl: &url})
	refused(t, err, "AWS.SimpleQueueService.PurgeQueueInProgress",
		"Only one PurgeQueue operation on q is allowed every 60 seconds.")
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	const arn = "arn:aws:sqs:eu-west-1:111111111111:"
	dead := b.create("dead", nil)
	url := b.create("q", map[string]string{"VisibilityTimeout": "0",
		"RedrivePolicy": `{"deadLetterTargetArn":"` + arn + `dead","maxReceiveCount":"2"}`})
	sources, err := b.ListDeadLetterSourceQueues(ctx, &client.ListDeadLetterSourceQueuesInput{QueueUrl: &dead})
	if err != nil || !slices.Equal(sources.QueueUrls, []string{url}) {
		t.Errorf("sources %v %v", sources, err)
	}
	out := b.send(url, "poison", "")
	if got := b.bodies(url, 1) + b.bodies(url, 1) + b.bodies(url, 1); got != "poisonpoison" {
		t.Errorf("received %q", got)
	}
	b.crash()
	letters := b.receive(dead, 1)
	if bodies(letters) != "poison" || *letters[0].MessageId != *out.MessageId ||
		letters[0].Attributes["DeadLetterQueueSourceArn"] != arn+"q" ||
		letters[0].Attributes["ApproximateReceiveCount"] != "3" {
		t.Fatalf("dead letters %+v", letters)
	}
	b.pass(30 * time.Second)
	_, err = b.StartMessageMoveTask(ctx, &client.StartMessageMoveTaskInput{SourceArn: sdkaws.String(arn + "q")})
	refused(t, err, "InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
	_, err = b.StartMessageMoveTask(ctx, &client.StartMessageMoveTaskInput{SourceArn: sdkaws.String(arn + "x")})
	refused(t, err, "ResourceNotFoundException",
		"The resource that you specified for the SourceArn parameter doesn't exist.")
	// Two messages per second: virtual time is stopped, so the first second does not end.
	for range 4 {
		b.send(dead, "sent here", "")
	}
	b.clock.Hold()
	other := b.create("other", nil)
	task, err := b.StartMessageMoveTask(ctx, &client.StartMessageMoveTaskInput{SourceArn: sdkaws.String(arn + "dead"),
		DestinationArn: sdkaws.String(arn + "other"), MaxNumberOfMessagesPerSecond: sdkaws.Int32(2)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.StartMessageMoveTask(ctx, &client.StartMessageMoveTaskInput{SourceArn: sdkaws.String(arn + "dead")})
	refused(t, err, "AWS.SimpleQueueService.UnsupportedOperation", "There is already a task running. Only one active "+
		"task is allowed for a source queue arn at a given time.")
	if err := b.clock.Sleep(ctx, 500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if b.counts(other) != "2 0 0" || b.counts(dead) != "3 0 0" {
		t.Errorf("after half a second: %s moved, %s not", b.counts(other), b.counts(dead))
	}
	list, err := b.ListMessageMoveTasks(ctx, &client.ListMessageMoveTasksInput{SourceArn: sdkaws.String(arn + "dead")})
	if err != nil || len(list.Results) != 1 || *list.Results[0].Status != "RUNNING" || *list.Results[0].TaskHandle !=
		*task.TaskHandle || list.Results[0].ApproximateNumberOfMessagesMoved != 2 ||
		*list.Results[0].ApproximateNumberOfMessagesToMove != 5 || list.Results[0].StartedTimestamp != 1795348830000 {
		t.Errorf("tasks %+v %v", list, err)
	}
	b.crash()
	cancel := &client.CancelMessageMoveTaskInput{TaskHandle: task.TaskHandle}
	if _, err := b.CancelMessageMoveTask(ctx, cancel); err != nil {
		t.Error(err)
	}
	_, err = b.CancelMessageMoveTask(ctx, &client.CancelMessageMoveTaskInput{TaskHandle: task.TaskHandle})
	refused(t, err, "AWS.SimpleQueueService.UnsupportedOperation", "Only active tasks can be cancelled.")
	b.clock.Release()
	b.pass(2 * time.Second)
	moved := b.receive(other, 10)
	if !strings.HasPrefix(bodies(moved), "poison sent here") || *moved[0].MessageId == *out.MessageId ||
		moved[0].Attributes["ApproximateReceiveCount"] != "1" || moved[0].Attributes["DeadLetterQueueSourceArn"] != "" {
		t.Errorf("moved %+v", moved)
	}
	// A message that was sent to the dead-letter queue itself has no source.
	if _, err := b.StartMessageMoveTask(ctx, &client.StartMessageMoveTaskInput{SourceArn: sdkaws.String(arn + "dead")}); err != nil {
		t.Fatal(err)
	}
	b.service.WaitForMoves()
	list, err = b.ListMessageMoveTasks(ctx, &client.ListMessageMoveTasksInput{SourceArn: sdkaws.String(arn + "dead"),
		MaxResults: sdkaws.Int32(10)})
	if err != nil || len(list.Results) != 2 || *list.Results[0].Status != "FAILED" ||
		*list.Results[0].FailureReason != "CouldNotDetermineMessageSource" || *list.Results[1].Status != "CANCELLED" {
		t.Errorf("tasks %+v %v", list, err)
	}
}
