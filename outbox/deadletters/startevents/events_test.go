package startevents_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/aws/objects"
	"stepback/internal/objectevent"
	"stepback/local"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/s3documents"
	"stepback/outbox/deadletters/startevents"
)

// TestAManifestIsRedrivenToItsOwnStateMachine: the event of a manifest starts the state machine of many files with the
// manifest as its input, through the alias, and no other. If that state machine is not named, the act is refused.
func TestAManifestIsRedrivenToItsOwnStateMachine(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	p, err := local.Open(ctx, local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	states := sfn.NewFromConfig(aws.Config{Region: "us-east-1", BaseEndpoint: &p.Endpoint, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
	if err := p.Objects.CreateBucket("results"); err != nil {
		t.Fatal(err)
	}
	machines := map[string]string{}
	for _, name := range []string{"import", "import-files"} {
		m, err := states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: &name, Publish: true,
			RoleArn:    aws.String("arn:aws:iam::000000000000:role/r"),
			Definition: aws.String(`{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`)})
		if err != nil {
			t.Fatal(err)
		}
		alias, err := states.CreateStateMachineAlias(ctx, &sfn.CreateStateMachineAliasInput{Name: aws.String("live"),
			RoutingConfiguration: []types.RoutingConfigurationListItem{{
				StateMachineVersionArn: m.StateMachineVersionArn, Weight: 100}}})
		if err != nil {
			t.Fatal(err)
		}
		machines[name] = aws.ToString(alias.StateMachineAliasArn)
	}
	inbox := &startevents.Bucket{Store: objects.Local(p.Endpoint, "us-east-1"), Name: "results"}
	for _, key := range []string{"a.csv", "lists/november.manifest"} {
		if err := inbox.Keep(ctx, startevents.Undelivered{Error: "E", Attempts: 1, At: time.Now(), Event: objectevent.Event{
			Source: objectevent.Source, DetailType: objectevent.DetailType, Detail: objectevent.Detail{
				Bucket: objectevent.Bucket{Name: "in"}, Object: objectevent.Object{Key: key, ETag: "e1"}}}}); err != nil {
			t.Fatal(err)
		}
	}
	events := &startevents.Events{Inbox: inbox, Client: states, Machine: machines["import"]}
	store := &deadletters.SourceStore{Source: events, Documents: &s3documents.Documents{
		Store: objects.Local(p.Endpoint, "us-east-1"), Bucket: "results", Prefix: "r/"}}
	file := "event:" + objectevent.ExecutionName("in", "a.csv", "e1")
	manifest := "event:" + objectevent.ExecutionName("in", "lists/november.manifest", "e1")
	ann := deadletters.By{Who: "ann"}
	var refused *deadletters.BadActError
	const why = "lists/november.manifest is a manifest, and the state machine that imports its files as one is not named: " +
		"name it with --files-machine, or import the files with stepback run --files"
	if err := store.Redrive(ctx, manifest, ann); !errors.As(err, &refused) || refused.Why != why {
		t.Errorf("without its state machine: %v", err)
	}
	if l, err := store.Show(ctx, manifest); err != nil || l.State != deadletters.Dead {
		t.Errorf("after the refusal: %+v, %v", l, err)
	}
	events.FilesMachine = machines["import-files"]
	for id, want := range map[string]string{
		file:     `import {"bucket":"in","key":"a.csv","etag":"e1"}`,
		manifest: `import-files {"manifest":"lists/november.manifest","etag":"e1"}`,
	} {
		if err := store.Redrive(ctx, id, ann); err != nil {
			t.Fatal(err)
		}
		l, err := store.Show(ctx, id)
		if err != nil || l.State != deadletters.Delivered {
			t.Fatalf("%+v, %v", l, err)
		}
		x, err := states.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &l.Execution})
		if err != nil {
			t.Fatal(err)
		}
		started, _ := strings.CutPrefix(aws.ToString(x.StateMachineArn), "arn:aws:states:us-east-1:000000000000:stateMachine:")
		if got := started + " " + aws.ToString(x.Input); got != want || !strings.HasSuffix(aws.ToString(x.StateMachineAliasArn), ":live") {
			t.Errorf("started %s by %s, want %s by the alias", got, aws.ToString(x.StateMachineAliasArn), want)
		}
	}
	// An operator who does not name it sees the letter all the same.
	events.FilesMachine = ""
	if l, err := store.Show(ctx, manifest); err != nil || l.ID != manifest {
		t.Errorf("%+v, %v", l, err)
	}
}

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
