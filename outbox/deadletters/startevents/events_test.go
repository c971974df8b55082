package startevents_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/aws/objects"
	"stepback/internal/objectevent"
	"stepback/local"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/s3documents"
	"stepback/outbox/deadletters/startevents"
)

// TestAnEventIsRedrivenByStartingItsExecution stores an event whose state machine is missing, and redrives it.
func TestAnEventIsRedrivenByStartingItsExecution(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p, err := local.Open(ctx, local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	settings := aws.Config{Region: "us-east-1", BaseEndpoint: &p.Endpoint, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	if err := p.Objects.CreateBucket("results"); err != nil {
		t.Fatal(err)
	}
	inbox := &startevents.Bucket{Store: objects.Local(p.Endpoint, "us-east-1"), Name: "results"}
	event := objectevent.Event{Source: objectevent.Source, DetailType: objectevent.DetailType,
		Detail: objectevent.Detail{Bucket: objectevent.Bucket{Name: "in"},
			Object: objectevent.Object{Key: "a.csv", ETag: "e1"}}}
	for range 2 { // delivered twice
		if err := inbox.Keep(ctx, startevents.Undelivered{Event: event, Error: "E", Cause: "no machine", Attempts: 1,
			At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	states := sfn.NewFromConfig(settings)
	machine := "arn:aws:states:us-east-1:000000000000:stateMachine:import"
	store := &deadletters.SourceStore{Documents: &s3documents.Documents{Store: objects.Local(p.Endpoint, "us-east-1"), Bucket: "results", Prefix: "r/"},
		Source: &startevents.Events{Inbox: inbox, Client: states, Machine: machine}}
	page, err := store.List(ctx, deadletters.Query{Limit: 10})
	if err != nil || len(page.Letters) != 1 || page.Letters[0].Subject != "s3://in/a.csv" || page.Letters[0].Error != "E" {
		t.Fatalf("%+v, %v", page.Letters, err)
	}
	id, ann := page.Letters[0].ID, deadletters.By{Who: "ann"}
	err = store.Redrive(ctx, id, ann)
	if _, refused := errors.AsType[*deadletters.BadActError](err); !refused ||
		!strings.Contains(err.Error(), "deploy it first") {
		t.Fatalf("redriven without a machine: %v", err)
	}
	if _, err := states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: aws.String("import"),
		RoleArn:    aws.String("arn:aws:iam::000000000000:role/r"),
		Definition: aws.String(`{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`)}); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(page.Letters[0].Payload), "e1", "e2", 1)
	if err := store.Edit(ctx, id, []byte(other), ann); err == nil || !strings.Contains(err.Error(), "another object") {
		t.Errorf("an edit to another object: %v", err)
	}
	if err := store.Redrive(ctx, id, ann); err != nil {
		t.Fatal(err)
	}
	l, err := store.Show(ctx, id)
	if err != nil || l.State != deadletters.Delivered || !strings.HasSuffix(l.Execution, event.ExecutionName()) {
		t.Errorf("%+v, %v", l, err)
	}
	if page, err := store.List(ctx, deadletters.Query{Limit: 10}); err != nil || len(page.Letters) > 0 {
		t.Errorf("%+v, %v", page.Letters, err)
	}
	// Equal objects of two buckets are two letters, and start two executions.
	started := map[string]bool{l.Execution: true}
	for _, bucket := range []string{"in-2", "in-3"} {
		event.Detail.Bucket.Name = bucket
		if err := inbox.Keep(ctx, startevents.Undelivered{Event: event, Error: "E", Attempts: 1, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	page, err = store.List(ctx, deadletters.Query{Limit: 10})
	if err != nil || len(page.Letters) != 2 {
		t.Fatalf("%+v, %v", page.Letters, err)
	}
	for _, dead := range page.Letters {
		if err := store.Redrive(ctx, dead.ID, ann); err != nil {
			t.Fatal(err)
		}
		l, err := store.Show(ctx, dead.ID)
		if err != nil || l.State != deadletters.Delivered || started[l.Execution] {
			t.Errorf("%+v, %v", l, err)
		}
		started[l.Execution] = true
	}
}
