package queues_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	awsclient "stepback/aws/client"
	"stepback/aws/objects"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/queues"
	"stepback/outbox/deadletters/s3documents"
	"stepback/tasks/mototest"
)

// TestQueueOfMoto manages a dead-letter queue, with the record in a bucket, of another implementation of AWS.
func TestQueueOfMoto(t *testing.T) {
	t.Parallel()
	endpoint := mototest.Start(t)
	if endpoint == "" {
		t.Skip("moto_server is not installed")
	}
	ctx := t.Context()
	settings := aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, RetryMaxAttempts: 3,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	client := sqs.NewFromConfig(settings)
	sdk := s3.NewFromConfig(settings, func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := sdk.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("record")}); err != nil {
		t.Fatal(err)
	}
	create := func(name string, attributes map[string]string) string {
		out, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err != nil {
			t.Fatal(err)
		}
		return aws.ToString(out.QueueUrl)
	}
	dead := create("orders-dlq", nil)
	caller, err := awsclient.NewNamed(ctx, settings, "sqs")
	if err != nil {
		t.Fatal(err)
	}
	q, err := queues.Open(ctx, caller, dead)
	if err != nil {
		t.Fatal(err)
	}
	policy, _ := json.Marshal(map[string]any{"deadLetterTargetArn": q.ARN, "maxReceiveCount": 1})
	work := create("orders", map[string]string{"RedrivePolicy": string(policy), "VisibilityTimeout": "0"})
	receive := func() []string {
		out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &work, MaxNumberOfMessages: 10,
			MessageAttributeNames: []string{"All"}})
		if err != nil {
			t.Fatal(err)
		}
		var bodies []string
		for _, m := range out.Messages {
			bodies = append(bodies, aws.ToString(m.Body))
		}
		return bodies
	}
	for _, body := range []string{`{"n":1}`, `{"n":2}`, `{"n":3}`} {
		if _, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &work, MessageBody: &body}); err != nil {
			t.Fatal(err)
		}
	}
	receive()
	if again := receive(); len(again) > 0 { // this receive moves them to the dead-letter queue
		t.Fatalf("received again: %v", again)
	}
	store := &deadletters.SourceStore{Source: q, Documents: &s3documents.Documents{Store: objects.Local(endpoint, "us-east-1"), Bucket: "record"}}
	o := &deadletters.Operator{Store: store, Who: "ann"}
	page, err := store.List(ctx, deadletters.Query{Limit: 10})
	if err != nil || len(page.Letters) != 3 {
		t.Fatalf("%+v, %v", page.Letters, err)
	}
	by := map[string]string{}
	for _, l := range page.Letters {
		by[string(l.Payload)] = l.ID
	}
	if err := o.Edit(ctx, by[`{"n":1}`], []byte(`{"n":`), ""); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("an edit that is no JSON: %v", err)
	}
	if err := o.Edit(ctx, by[`{"n":1}`], []byte(`{"n":10}`), "mended"); err != nil {
		t.Fatal(err)
	}
	if err := store.Redrive(ctx, by[`{"n":1}`], deadletters.By{Who: "ann"}); err != nil {
		t.Fatal(err)
	}
	err = store.Redrive(ctx, by[`{"n":1}`], deadletters.By{Who: "bob"})
	if _, gone := errors.AsType[*deadletters.NotDeadError](err); !gone {
		t.Errorf("redriven twice: %v", err)
	}
	if got := receive(); len(got) != 1 || got[0] != `{"n":10}` {
		t.Fatalf("the queue has %v", got)
	}
	receive() // it dies again, as a different message of the same letter
	fresh := &deadletters.SourceStore{Documents: store.Documents,
		Source: &queues.Queue{Client: caller, URL: q.URL, ARN: q.ARN}}
	l, err := fresh.Show(ctx, by[`{"n":1}`])
	if err != nil || l.State != deadletters.Dead || l.Redrives != 1 {
		t.Fatalf("%+v, %v", l, err)
	}
	if err := fresh.Discard(ctx, by[`{"n":2}`], deadletters.By{Who: "ann", Reason: "a test"}); err != nil {
		t.Fatal(err)
	}
	page, err = fresh.List(ctx, deadletters.Query{Limit: 10})
	if err != nil || len(page.Letters) != 2 {
		t.Fatalf("%+v, %v", page.Letters, err)
	}
	var ids []string
	for _, l := range page.Letters {
		ids = append(ids, l.ID)
	}
	if err := errors.Join(fresh.RedriveAll(ctx, ids, deadletters.By{Who: "ann"})...); err != nil {
		t.Fatal(err)
	}
	again := &deadletters.Operator{Store: &deadletters.SourceStore{
		Source: &queues.Queue{Client: caller, URL: q.URL, ARN: q.ARN}, Documents: store.Documents}}
	if err := again.Follow(ctx, ids, 10*time.Millisecond, func(l deadletters.Letter) error {
		if l.State != deadletters.Delivered {
			t.Errorf("%s is %s", l.ID, l.State)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := receive(); len(got) != 2 {
		t.Errorf("the queue has %v", got)
	}
}
