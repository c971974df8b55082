package sns_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	sqsclient "github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	stepaws "stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/sns"
	"stepback/local/services/sqs"
)

var epoch = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var home = stepaws.Scope{Account: "111111111111", Region: "eu-west-1"}

// functions receives messages for Lambda.
type functions struct {
	mu     sync.Mutex
	fail   []error // of the next invocations
	events []string
	at     time.Time // of the last event
	clock  *clock.Clock
	hangs  string      // the ARN of a function that never answers
	told   chan string // receives the ARNs of the others, if it is not nil
}

func (f *functions) Deliver(ctx context.Context, arn string, m *delivery.Message) error {
	if arn == f.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.told != nil {
		defer func() { f.told <- arn }()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.fail) > 0 {
		err := f.fail[0]
		f.fail = f.fail[1:]
		return err
	}
	f.events, f.at = append(f.events, arn+" "+m.Body), f.clock.Now()
	return nil
}

// bench is SNS and SQS over an in-memory disk in virtual time, behind HTTP, with AWS clients for both.
type bench struct {
	*client.Client
	t         testing.TB
	clock     *clock.Clock
	disk      *vfs.MemFS
	dir       string
	functions *functions
	around    func(sns.Queues) sns.Queues // wraps the queues that the service delivers to; may be nil
	principal func(context.Context, stepaws.Scope) (string, error)

	documents *documents.Store
	queues    *sqs.Service
	service   *sns.Service
	server    *httptest.Server
	queueAt   *httptest.Server
	sqs       *sqsclient.Client
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, clock: clock.Virtual(epoch), disk: vfs.NewCrashableMem(), dir: t.TempDir(),
		functions: &functions{}}
	b.functions.clock = b.clock
	b.open()
	t.Cleanup(func() {
		b.close()
		b.clock.Close()
	})
	return b
}

func must[T any](t testing.TB, made T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (b *bench) open() {
	b.t.Helper()
	b.server = httptest.NewUnstartedServer(nil)
	b.server.Start()
	made, err := documents.Open("/documents", b.disk)
	b.documents = must(b.t, made, err)
	queues, err := sqs.Open(sqs.Options{Dir: "/sqs", Clock: b.clock, Disk: documents.Disk{FS: b.disk}})
	b.queues = must(b.t, queues, err)
	b.queueAt = httptest.NewServer(b.queues.Handler())
	var to sns.Queues = b.queues
	if b.around != nil {
		to = b.around(to)
	}
	service, err := sns.Open(sns.Options{Dir: b.dir, Store: b.documents, Clock: b.clock, Endpoint: b.server.URL,
		Queues: to, Targets: b.functions, Principal: b.principal})
	b.service = must(b.t, service, err)
	sns.UseTestKey(b.service)
	b.server.Config.Handler = b.service.Handler()
	access := credentials.NewStaticCredentialsProvider("111111111111", "secret", "")
	b.Client = client.New(client.Options{BaseEndpoint: &b.server.URL, Region: "eu-west-1", RetryMaxAttempts: 1,
		Credentials: access})
	b.sqs = sqsclient.New(sqsclient.Options{BaseEndpoint: &b.queueAt.URL, Region: "eu-west-1", RetryMaxAttempts: 1,
		Credentials: access})
}

func (b *bench) close() {
	b.service.StopPolls()
	b.server.Close()
	b.queueAt.Close()
	for _, c := range []func() error{b.service.Close, b.queues.Close, b.documents.Close} {
		if err := c(); err != nil {
			b.t.Error(err)
		}
	}
}

// crash reopens the services on the disk as a crash would leave it: everything that was not synced is lost.
func (b *bench) crash() {
	b.t.Helper()
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	b.close()
	b.disk = after
	b.open()
}

// reopen opens the services again with other queues.
func (b *bench) reopen(around func(sns.Queues) sns.Queues) {
	b.t.Helper()
	b.close()
	b.around = around
	b.open()
}

// pass advances virtual time by d.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	b.clock.Hold()
	defer b.clock.Release()
	if err := b.clock.Sleep(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) topic(name string, attributes map[string]string) string {
	b.t.Helper()
	out, err := b.CreateTopic(b.t.Context(), &client.CreateTopicInput{Name: &name, Attributes: attributes})
	return *must(b.t, out, err).TopicArn
}

// queue creates a queue and returns its ARN.
func (b *bench) queue(name string) string {
	b.t.Helper()
	attributes := map[string]string{}
	if strings.HasSuffix(name, ".fifo") {
		attributes["FifoQueue"] = "true"
	}
	out, err := b.sqs.CreateQueue(b.t.Context(), &sqsclient.CreateQueueInput{QueueName: &name, Attributes: attributes})
	must(b.t, out, err)
	return "arn:aws:sqs:eu-west-1:111111111111:" + name
}

func (b *bench) subscribe(topic, protocol, endpoint string, attributes map[string]string) string {
	b.t.Helper()
	out, err := b.Subscribe(b.t.Context(), &client.SubscribeInput{TopicArn: &topic, Protocol: &protocol,
		Endpoint: &endpoint, Attributes: attributes, ReturnSubscriptionArn: true})
	return *must(b.t, out, err).SubscriptionArn
}

func (b *bench) publish(topic, body string, attributes map[string]types.MessageAttributeValue) string {
	b.t.Helper()
	out, err := b.Publish(b.t.Context(), &client.PublishInput{TopicArn: &topic, Message: &body,
		MessageAttributes: attributes})
	return *must(b.t, out, err).MessageId
}

func text(value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: sdkaws.String("String"), StringValue: &value}
}

func number(value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: sdkaws.String("Number"), StringValue: &value}
}

// messages receives and deletes the messages of a queue.
func (b *bench) messages(queue string) (all []sqstypes.Message) {
	b.t.Helper()
	url := b.queueAt.URL + "/111111111111/" + queue[strings.LastIndex(queue, ":")+1:]
	for {
		out, err := b.sqs.ReceiveMessage(b.t.Context(), &sqsclient.ReceiveMessageInput{QueueUrl: &url,
			MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"All"}})
		must(b.t, out, err)
		if len(out.Messages) == 0 {
			return all
		}
		for _, m := range out.Messages {
			all = append(all, m)
			_, err := b.sqs.DeleteMessage(b.t.Context(), &sqsclient.DeleteMessageInput{QueueUrl: &url,
				ReceiptHandle: m.ReceiptHandle})
			must(b.t, 0, err)
		}
	}
}

// bodies returns the bodies of the messages in a queue; for an envelope, its Message.
func (b *bench) bodies(queue string) string {
	b.t.Helper()
	words := []string{}
	for _, m := range b.messages(queue) {
		var e struct{ Type, Message string }
		if json.Unmarshal([]byte(*m.Body), &e) == nil && e.Type != "" {
			words = append(words, e.Message)
		} else {
			words = append(words, *m.Body)
		}
	}
	return strings.Join(words, " ")
}

// refused checks that an error has a code and a message.
func refused(t testing.TB, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || e.ErrorMessage() != message {
		t.Errorf("%v\nwant %s: %s", err, code, message)
	}
}

func TestTopics(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	if _, err := b.disk.Stat("/documents"); err == nil {
		t.Error("an unused SNS has a directory")
	}
	arn := b.topic("news", map[string]string{"DisplayName": "News"})
	if arn != "arn:aws:sns:eu-west-1:111111111111:news" {
		t.Errorf("ARN %s", arn)
	}
	if again := b.topic("news", nil); again != arn {
		t.Errorf("again %s", again)
	}
	_, err := b.CreateTopic(ctx, &client.CreateTopicInput{Name: sdkaws.String("news"),
		Attributes: map[string]string{"DisplayName": "Olds"}})
	refused(t, err, "InvalidParameter",
		"Invalid parameter: Attributes Reason: Topic already exists with different attributes")
	_, err = b.CreateTopic(ctx, &client.CreateTopicInput{Name: sdkaws.String("news"),
		Tags: []types.Tag{{Key: sdkaws.String("a"), Value: sdkaws.String("b")}}})
	refused(t, err, "InvalidParameter", "Invalid parameter: Tags Reason: Topic already exists with different tags")
	for _, name := range []string{"", "a.b", "a:b", strings.Repeat("a", 257), "x.fifo"} {
		_, err := b.CreateTopic(ctx, &client.CreateTopicInput{Name: &name})
		refused(t, err, "InvalidParameter", "Invalid parameter: Topic Name")
	}
	out, err := b.GetTopicAttributes(ctx, &client.GetTopicAttributesInput{TopicArn: &arn})
	must(t, out, err)
	for name, want := range map[string]string{
		"DisplayName": "News", "Owner": "111111111111", "TopicArn": arn, "SubscriptionsConfirmed": "0",
		"SubscriptionsPending": "0", "SubscriptionsDeleted": "0",
		"EffectiveDeliveryPolicy": `{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,` +
			`"numRetries":3,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,` +
			`"backoffFunction":"linear"},"disableSubscriptionOverrides":false,` +
			`"defaultRequestPolicy":{"headerContentType":"text/plain; charset=UTF-8"}}}`,
		"Policy": `{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID",` +
			`"Effect":"Allow","Principal":{"AWS":"*"},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes",` +
			`"SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe",` +
			`"SNS:ListSubscriptionsByTopic","SNS:Publish"],"Resource":"` + arn +
			`","Condition":{"StringEquals":{"AWS:SourceOwner":"111111111111"}}}]}`,
	} {
		if got := out.Attributes[name]; got != want {
			t.Errorf("%s %s\nwant %s", name, got, want)
		}
	}
	if len(out.Attributes) != 8 {
		t.Errorf("attributes %v", out.Attributes)
	}
	for _, c := range []struct{ name, value, message string }{
		{"FifoTopic", "true", "Invalid parameter: AttributeName"},
		{"Colour", "red", "Invalid parameter: AttributeName"},
		{"ContentBasedDeduplication", "true", "Invalid parameter: ContentBasedDeduplication: only FIFO topics have this " +
			"attribute"},
		{"SignatureVersion", "3", "Invalid parameter: SignatureVersion: Invalid value [3]. Must be one of 1, 2."},
		{"DeliveryPolicy", `{"http":{"defaultHealthyRetryPolicy":{"numRetries":101}}}`, "Invalid parameter: " +
			"DeliveryPolicy: http.defaultHealthyRetryPolicy.numRetries must be between 0 and 100"},
		{"Policy", "{", "Invalid parameter: Policy Error: null"},
	} {
		_, err := b.SetTopicAttributes(ctx, &client.SetTopicAttributesInput{TopicArn: &arn, AttributeName: &c.name,
			AttributeValue: &c.value})
		refused(t, err, "InvalidParameter", c.message)
	}
	_, err = b.SetTopicAttributes(ctx, &client.SetTopicAttributesInput{TopicArn: &arn,
		AttributeName: sdkaws.String("ArchivePolicy"), AttributeValue: sdkaws.String("{}")})
	refused(t, err, "NotImplemented", "Archives of messages (ArchivePolicy, ReplayPolicy) are not served here.")
	b.crash()
	out, err = b.GetTopicAttributes(ctx, &client.GetTopicAttributesInput{TopicArn: &arn})
	if must(t, out, err).Attributes["DisplayName"] != "News" {
		t.Errorf("after a crash %v", out.Attributes)
	}
	_, err = b.GetTopicAttributes(ctx, &client.GetTopicAttributesInput{TopicArn: sdkaws.String(arn + "x")})
	refused(t, err, "NotFound", "Topic does not exist")
	_, err = b.GetTopicAttributes(ctx, &client.GetTopicAttributesInput{TopicArn: sdkaws.String("news")})
	refused(t, err, "InvalidParameter",
		"Invalid parameter: TopicArn Reason: An ARN must have at least 6 elements, not 1")
	_, err = b.GetTopicAttributes(ctx, &client.GetTopicAttributesInput{
		TopicArn: sdkaws.String("arn:aws:sns:us-east-1:111111111111:news")})
	refused(t, err, "InvalidParameter", "Invalid parameter: TopicArn")
	for range 2 {
		_, err := b.DeleteTopic(ctx, &client.DeleteTopicInput{TopicArn: &arn})
		must(t, 0, err)
	}
	list, err := b.ListTopics(ctx, &client.ListTopicsInput{})
	if len(must(t, list, err).Topics) != 0 {
		t.Errorf("topics %v", list.Topics)
	}
}

func TestTopicsOfEarlierVersions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.close()
	const arn = "arn:aws:sns:eu-west-1:111111111111:old"
	must(t, 0, os.WriteFile(b.dir+"/"+sns.ListName, []byte(arn+"\n"), 0o600))
	for range 2 {
		b.open()
		list, err := b.ListTopics(t.Context(), &client.ListTopicsInput{})
		if topics := must(t, list, err).Topics; len(topics) != 1 || *topics[0].TopicArn != arn {
			t.Errorf("topics %v", topics)
		}
		b.close()
	}
	b.open()
}

func TestTagsAndPermissions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	arn := b.topic("news", nil)
	tag := func(pairs ...string) (tags []types.Tag) {
		for i := 0; i < len(pairs); i += 2 {
			tags = append(tags, types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
		}
		return tags
	}
	_, err := b.TagResource(ctx, &client.TagResourceInput{ResourceArn: &arn, Tags: tag("a", "1", "a", "2")})
	refused(t, err, "InvalidParameter", "Invalid parameter: Duplicated keys are not allowed.")
	for _, tags := range [][]types.Tag{tag("a", "1", "b", "2"), tag("b", "3")} {
		_, err := b.TagResource(ctx, &client.TagResourceInput{ResourceArn: &arn, Tags: tags})
		must(t, 0, err)
	}
	_, err = b.UntagResource(ctx, &client.UntagResourceInput{ResourceArn: &arn, TagKeys: []string{"a"}})
	must(t, 0, err)
	list, err := b.ListTagsForResource(ctx, &client.ListTagsForResourceInput{ResourceArn: &arn})
	if tags := must(t, list, err).Tags; len(tags) != 1 || *tags[0].Key != "b" || *tags[0].Value != "3" {
		t.Errorf("tags %v", tags)
	}
	_, err = b.ListTagsForResource(ctx, &client.ListTagsForResourceInput{ResourceArn: sdkaws.String(arn + "x")})
	refused(t, err, "ResourceNotFound", "Resource does not exist")
	_, err = b.AddPermission(ctx, &client.AddPermissionInput{TopicArn: &arn, Label: sdkaws.String("theirs"),
		AWSAccountId: []string{"x"}, ActionName: []string{"Publish"}})
	refused(t, err, "InvalidParameter", "Invalid parameter: Policy Error: PrincipalNotFound")
	_, err = b.CreateTopic(ctx, &client.CreateTopicInput{Name: sdkaws.String("t"), Attributes: map[string]string{"FifoTopic": "maybe"}})
	refused(t, err, "InvalidParameter", "Invalid parameter: Attributes Reason: FifoTopic: Invalid value [maybe]. Must be true or false.")
	give := &client.AddPermissionInput{TopicArn: &arn, Label: sdkaws.String("theirs"),
		AWSAccountId: []string{"222222222222"}, ActionName: []string{"Publish"}}
	_, err = b.AddPermission(ctx, give)
	must(t, 0, err)
	_, err = b.AddPermission(ctx, give)
	refused(t, err, "InvalidParameter", "Invalid parameter: Statement already exists")
	out, err := b.GetTopicAttributes(ctx, &client.GetTopicAttributesInput{TopicArn: &arn})
	if p := must(t, out, err).Attributes["Policy"]; !strings.Contains(p, `{"Action":"SNS:Publish","Effect":"Allow",`+
		`"Principal":{"AWS":"arn:aws:iam::222222222222:root"},"Resource":"`+arn+`","Sid":"theirs"}`) {
		t.Errorf("policy %s", p)
	}
	_, err = b.RemovePermission(ctx, &client.RemovePermissionInput{TopicArn: &arn, Label: sdkaws.String("theirs")})
	must(t, 0, err)
	out, err = b.GetTopicAttributes(ctx, &client.GetTopicAttributesInput{TopicArn: &arn})
	if p := must(t, out, err).Attributes["Policy"]; strings.Contains(p, "theirs") {
		t.Errorf("policy %s", p)
	}
}

// Unsupported features are refused by name.
func TestUnserved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	arn := b.topic("news", nil)
	_, err := b.Publish(ctx, &client.PublishInput{PhoneNumber: sdkaws.String("+4"), Message: sdkaws.String("m")})
	refused(t, err, "InvalidParameter", "Invalid parameter: PhoneNumber Reason: +4 is not valid to publish to")
	_, err = b.Subscribe(ctx, &client.SubscribeInput{TopicArn: &arn, Protocol: sdkaws.String("firehose"),
		Endpoint: sdkaws.String("arn:aws:firehose:eu-west-1:111111111111:deliverystream/s")})
	refused(t, err, "NotImplemented", "Subscriptions of the protocol firehose are not served here; sqs, lambda, http, "+
		"https, email, email-json and sms are.")
	statements := sdkaws.String(`{"Statement":[{"Operation":{"Deny":{}}}]}`)
	_, err = b.CreateTopic(ctx, &client.CreateTopicInput{Name: sdkaws.String("x"), DataProtectionPolicy: statements})
	refused(t, err, "NotImplemented",
		"Data protection policies with statements (DataProtectionPolicy) are not served here.")
	_, err = b.PutDataProtectionPolicy(ctx, &client.PutDataProtectionPolicyInput{ResourceArn: &arn,
		DataProtectionPolicy: statements})
	refused(t, err, "NotImplemented",
		"Data protection policies with statements (DataProtectionPolicy) are not served here.")
	_, err = b.PutDataProtectionPolicy(ctx, &client.PutDataProtectionPolicyInput{ResourceArn: &arn,
		DataProtectionPolicy: sdkaws.String(`{"Name":"none","Statement":[]}`)})
	must(t, 0, err)
	policy, err := b.GetDataProtectionPolicy(ctx, &client.GetDataProtectionPolicyInput{ResourceArn: &arn})
	if text := *must(t, policy, err).DataProtectionPolicy; text != `{"Name":"none","Statement":[]}` {
		t.Errorf("data protection policy %s", text)
	}
	_, err = b.CreatePlatformApplication(ctx, &client.CreatePlatformApplicationInput{Name: sdkaws.String("x"),
		Platform: sdkaws.String("GCM"), Attributes: map[string]string{}})
	refused(t, err, "NotImplemented", "The operation CreatePlatformApplication of SNS is not served here. Those that are: stepback services sns, docs/services.md.")
}

func TestLists(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	arn := b.topic("news", nil)
	for i := range 120 {
		_, err := b.service.CreateTopic(home, "t"+string(rune('a'+i/26))+string(rune('a'+i%26)))
		must(t, 0, err)
	}
	for i := range 103 {
		b.subscribe(arn, "sqs", "arn:aws:sqs:eu-west-1:111111111111:q"+string(rune('a'+i/26))+string(rune('a'+i%26)), nil)
	}
	topics := 0
	for p := client.NewListTopicsPaginator(b, &client.ListTopicsInput{}); p.HasMorePages(); {
		page, err := p.NextPage(ctx)
		topics += len(must(t, page, err).Topics)
	}
	of, all := 0, []string{}
	for p := client.NewListSubscriptionsByTopicPaginator(b, &client.ListSubscriptionsByTopicInput{TopicArn: &arn}); p.
		HasMorePages(); {
		page, err := p.NextPage(ctx)
		of += len(must(t, page, err).Subscriptions)
	}
	for p := client.NewListSubscriptionsPaginator(b, &client.ListSubscriptionsInput{}); p.HasMorePages(); {
		page, err := p.NextPage(ctx)
		for _, sub := range must(t, page, err).Subscriptions {
			all = append(all, *sub.SubscriptionArn)
		}
	}
	slices.Sort(all)
	if topics != 121 || of != 103 || len(slices.Compact(all)) != 103 {
		t.Errorf("%d topics, %d subscriptions of one, %d in all", topics, of, len(all))
	}
	_, err := b.ListTopics(ctx, &client.ListTopicsInput{NextToken: sdkaws.String("7")})
	refused(t, err, "InvalidParameter", "Invalid parameter: NextToken")
}
