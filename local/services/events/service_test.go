package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/engine/clock"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/events"
	"stepback/local/services/kms"
	"stepback/local/services/lanes"
	"stepback/local/services/secretsmanager"
)

var epoch = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)

const (
	account = "111111111111"
	region  = "eu-west-1"
	role    = "arn:aws:iam::111111111111:role/events"
)

func arnOf(service, resource string) string {
	return aws.Scope{Account: account, Region: region}.ARN(service, resource)
}

// got is a message that a target received.
type got struct {
	to string
	delivery.Message
	at time.Time
}

// bench runs a service in virtual time over an in-memory disk, with an AWS client for it and targets that record what
// they receive.
type bench struct {
	*client.Client
	t       *testing.T
	clock   *clock.Clock
	disk    *vfs.MemFS
	keys    string // the data directory of KMS
	store   *documents.Store
	service *events.Service
	secrets *secretsmanager.Service

	mu     sync.Mutex
	taken  []got
	refuse func(to string) error // nil if targets accept everything

	perTarget lanes.Bound
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clock: clock.Virtual(epoch), disk: vfs.NewCrashableMem(), keys: t.TempDir()}
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
	if b.store, err = documents.Open("/documents", b.disk); err != nil {
		b.t.Fatal(err)
	}
	targets := &delivery.Targets{}
	for _, service := range []string{"sqs", "sns", "lambda", "states", "logs"} {
		targets.Register(service, delivery.TargetFunc(b.take))
	}
	keys := kms.Secrets{Service: kms.New(kms.Options{Dir: b.keys, Documents: b.store, Clock: b.clock}), Context: "SecretARN"}
	b.secrets = secretsmanager.New(secretsmanager.Options{Documents: b.store, Clock: b.clock, Secrets: keys})
	if b.service, err = events.Open(events.Options{Store: b.store, Clock: b.clock, Targets: targets,
		PerTarget: b.perTarget, Secrets: keys, Vault: b.secrets.Managed("events")}); err != nil {
		b.t.Fatal(err)
	}
	if err := b.service.Resume(); err != nil {
		b.t.Fatal(err)
	}
	b.Client = client.New(client.Options{BaseEndpoint: sdkaws.String(loopback.URL), Region: region, RetryMaxAttempts: 1,
		HTTPClient:  loopback.Client(b.service.Handler()),
		Credentials: credentials.NewStaticCredentialsProvider(account, "secret", "")})
}

func (b *bench) close() {
	b.t.Helper()
	if err := errors.Join(b.service.Close(), b.store.Close()); err != nil {
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

func (b *bench) take(_ context.Context, to aws.ARN, m *delivery.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse != nil {
		if err := b.refuse(to.Resource); err != nil {
			return err
		}
	}
	b.taken = append(b.taken, got{to.Resource, *m, b.clock.Now()})
	return nil
}

// refusing sets the function that decides which deliveries targets refuse.
func (b *bench) refusing(f func(to string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refuse = f
}

// all returns the messages that targets have received since the last call, in order of arrival.
func (b *bench) all() []got {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.taken
	b.taken = nil
	return all
}

// pass advances virtual time by d; everything due in the meantime happens.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	b.clock.Hold()
	defer b.clock.Release()
	if err := b.clock.Sleep(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) rule(name, bus, pattern string, targets ...types.Target) {
	b.t.Helper()
	in := &client.PutRuleInput{Name: &name, EventPattern: &pattern}
	if bus != "" {
		in.EventBusName = &bus
	}
	if _, err := b.PutRule(b.t.Context(), in); err != nil {
		b.t.Fatal(err)
	}
	if len(targets) > 0 {
		b.targets(name, bus, targets...)
	}
}

func (b *bench) targets(rule, bus string, targets ...types.Target) {
	b.t.Helper()
	in := &client.PutTargetsInput{Rule: &rule, Targets: targets}
	if bus != "" {
		in.EventBusName = &bus
	}
	if _, err := b.PutTargets(b.t.Context(), in); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) put(source, detail string) string {
	b.t.Helper()
	out, err := b.PutEvents(b.t.Context(), &client.PutEventsInput{Entries: []types.PutEventsRequestEntry{{
		Source: &source, DetailType: sdkaws.String("made"), Detail: &detail}}})
	if err != nil || out.FailedEntryCount != 0 {
		b.t.Fatalf("%+v, %v", out, err)
	}
	return *out.Entries[0].EventId
}

func queue(id string) types.Target {
	return types.Target{Id: &id, Arn: sdkaws.String(arnOf("sqs", id))}
}

func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || e.ErrorMessage() != message {
		t.Errorf("got  %v\nwant %s: %s", err, code, message)
	}
}

func TestAnEventReachesTheTargetsOfItsRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rule("orders", "", `{"source":["shop"],"detail":{"total":[{"numeric":[">",10]}]}}`, queue("big"), types.Target{
		Id: sdkaws.String("fn"), Arn: sdkaws.String(arnOf("lambda", "function:f")), InputPath: sdkaws.String("$.detail")})
	b.rule("all", "", `{"source":[{"prefix":""}]}`, queue("audit"))
	b.rule("other", "", `{"source":["bank"]}`, queue("bank"))
	id := b.put("shop", `{"total": 12.50, "list": [ "a" ]}`)
	b.put("shop", `{"total":10}`)
	b.pass(time.Second)
	want := `{"version":"0","id":"` + id + `","detail-type":"made","source":"shop","account":"111111111111",` +
		`"time":"2026-11-22T08:00:00Z","region":"eu-west-1","resources":[],"detail":{"total":12.50,"list":["a"]}}`
	var bodies []string
	for _, m := range b.all() {
		bodies = append(bodies, m.to+" "+m.Body)
	}
	slices.Sort(bodies)
	if len(bodies) != 4 || !slices.Contains(bodies, "big "+want) || !slices.Contains(bodies, "audit "+want) ||
		!slices.Contains(bodies, `function:f {"total":12.50,"list":["a"]}`) {
		t.Errorf("%q", bodies)
	}
	if _, err := b.DisableRule(t.Context(), &client.DisableRuleInput{Name: sdkaws.String("all")}); err != nil {
		t.Fatal(err)
	}
	b.put("shop", `{}`)
	if all := b.all(); len(all) != 0 {
		t.Errorf("%d messages, the first %+v", len(all), all[:min(1, len(all))])
	}
}

func TestEntriesAreRefusedOneByOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := sdkaws.String
	out, err := b.PutEvents(t.Context(), &client.PutEventsInput{Entries: []types.PutEventsRequestEntry{
		{DetailType: text("d"), Detail: text("{}")}, {Source: text("s"), Detail: text("{}")},
		{Source: text("s"), DetailType: text("d")}, {Source: text("s"), DetailType: text("d"), Detail: text("[1]")},
		{Source: text("aws.s3"), DetailType: text("d"), Detail: text("{}")},
		{Source: text("s"), DetailType: text("d"), Detail: text("{}"), EventBusName: text("nowhere")},
	}})
	if err != nil || out.FailedEntryCount != 5 || out.Entries[5].EventId == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, want := range []string{
		"InvalidArgument: Parameter Source is not valid. Reason: Source is a required argument.",
		"InvalidArgument: Parameter DetailType is not valid. Reason: DetailType is a required argument.",
		"InvalidArgument: Parameter Detail is not valid. Reason: Detail is a required argument.",
		"MalformedDetail: Detail is malformed.", "NotAuthorizedForSource: Not authorized for the source.",
	} {
		if e := out.Entries[i]; *e.ErrorCode+": "+*e.ErrorMessage != want {
			t.Errorf("%s: %s", *e.ErrorCode, *e.ErrorMessage)
		}
	}
	_, err = b.PutEvents(t.Context(), &client.PutEventsInput{Entries: []types.PutEventsRequestEntry{
		{Source: text("s"), DetailType: text("d"), Detail: text(`{"a":"` + strings.Repeat("x", events.MaxEntryBytes) + `"}`)}}})
	refused(t, err, "ValidationException", "Total size of the entries in the request is over the limit.")
	_, err = b.PutEvents(t.Context(), &client.PutEventsInput{Entries: []types.PutEventsRequestEntry{
		{Source: text("s"), DetailType: text("d"), Detail: text(`{"a":"` + strings.Repeat(`\u0001`, 2*events.MaxEntryBytes) + `"}`)}}})
	refused(t, err, "ValidationException", "Total size of the entries in the request is over the limit.")
	largest, err := b.PutEvents(t.Context(), &client.PutEventsInput{Entries: []types.PutEventsRequestEntry{
		{Source: text("s"), DetailType: text("d"), Detail: text(`{"a":"b",` + strings.Repeat(" ", events.MaxEntryBytes-30) + `"c":"d"}`)},
		{Source: text("s"), DetailType: text("d"), Detail: text("{}")}}})
	if err != nil || largest.FailedEntryCount != 0 {
		t.Errorf("%+v, %v", largest, err)
	}
	if _, err = b.PutEvents(t.Context(), &client.PutEventsInput{Entries: []types.PutEventsRequestEntry{
		{Source: text("s"), DetailType: text("d"), Detail: text("{" + strings.Repeat("\n", events.MaxEntryBytes-10) + "}")}}}); err != nil {
		t.Errorf("an entry whose JSON is twice as large: %v", err)
	}
	_, err = b.PutPartnerEvents(t.Context(), &client.PutPartnerEventsInput{
		Entries: []types.PutPartnerEventsRequestEntry{
			{Source: text("aws.partner/a/b"), DetailType: text("d"), Detail: text("{}")}}})
	refused(t, err, "NotImplemented", "The operation PutPartnerEvents of EventBridge is not served here. Those that are: stepback services eventbridge, docs/services.md.")
}

// TestInputTransformers checks the examples of AWS's documentation, and values of other types.
func TestInputTransformers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	paths := map[string]string{"instance": "$.detail.instance", "state": "$.detail.state", "n": "$.detail.n",
		"list": "$.detail.list", "o": "$.detail.o", "none": "$.detail.none", "null": "$.detail.null", "when": "$.time"}
	b.rule("r", "", `{"source":["ec2"]}`)
	for template, want := range map[string]string{
		`"instance <instance> is in <state>"`: `"instance i-0123 is in RUNNING"`,
		`{"instance": <instance>, "state": "<state>", "status": "instance \"<instance>\" is in <state>"}`: `{"instance":"i-0123",` +
			`"state":"RUNNING","status":"instance \"i-0123\" is in RUNNING"}`,
		`{"n": <n>, "list": <list>, "o": <o>, "null": <null>, "none": <none>}`: `{"n":1.50,"list":["a","b"],"o":{"k":"v"},"null":null,"none":""}`,
		`[<instance>, "<n>"]`:    `["i-0123","1.50"]`,
		`{"text": "<list> <o>"}`: `{"text":"[a,b] {k:v}"}`,
		`"<when> <none>."`:       `"2026-11-22T08:00:00Z ."`,
		`{"r": <aws.events.rule-name>, "a": "<aws.events.rule-arn>", "t": <aws.events.event.ingestion-time>}`: `{"r":"r","a":"` +
			arnOf("events", "rule/r") + `","t":"2026-11-22T08:00:00Z"}`,
	} {
		b.targets("r", "", types.Target{Id: sdkaws.String("t"), Arn: sdkaws.String(arnOf("sqs", "q")),
			InputTransformer: &types.InputTransformer{InputPathsMap: paths, InputTemplate: &template}})
		b.put("ec2", `{"instance":"i-0123","state":"RUNNING","n":1.50,"list":["a","b"],"o":{"k":"v"},"null":null}`)
		if all := b.all(); len(all) != 1 || all[0].Body != want {
			t.Errorf("%s:\ngot  %+v\nwant %s", template, all, want)
		}
	}
	template := `{"e": <aws.events.event>, "whole": <aws.events.event.json>}`
	b.targets("r", "", types.Target{Id: sdkaws.String("t"), Arn: sdkaws.String(arnOf("sqs", "q")),
		InputTransformer: &types.InputTransformer{InputTemplate: &template}})
	b.put("ec2", `{"n":1}`)
	var rendered struct{ E, Whole map[string]any }
	if all := b.all(); len(all) != 1 || json.Unmarshal([]byte(all[0].Body), &rendered) != nil ||
		rendered.E["source"] != "ec2" || rendered.E["detail"] != nil || rendered.E["detailType"] == nil || rendered.Whole["detail"] == nil {
		t.Errorf("%d messages, the first %+v", len(all), all[:min(1, len(all))])
	}
	template = `{"a": <n><n>}` // not valid JSON with these values: the target is not called
	b.targets("r", "", types.Target{Id: sdkaws.String("t"), Arn: sdkaws.String(arnOf("sqs", "q")),
		InputTransformer: &types.InputTransformer{InputPathsMap: paths, InputTemplate: &template}})
	b.put("ec2", `{"n":"x"}`)
	if all := b.all(); len(all) != 0 {
		t.Errorf("%d messages, the first %+v", len(all), all[:min(1, len(all))])
	}
}

func TestTargetsAreRefusedByName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rule("r", "", `{"source":["x"]}`, queue("q"))
	text := sdkaws.String
	for _, c := range []struct {
		target types.Target
		want   string
	}{
		{types.Target{Arn: text("q")}, "Parameter q is not valid. Reason: Provided Arn is not in correct format."},
		{types.Target{Arn: text(arnOf("kinesis", "stream/s"))}, "Target " + arnOf("kinesis", "stream/s") +
			" is not supported here: rules can send to event buses, API destinations and lambda, logs, sns, sqs, states."},
		{types.Target{Arn: text(arnOf("states", "stateMachine:m"))}, "RoleArn is required for target " +
			arnOf("states", "stateMachine:m") + "."},
		{types.Target{Arn: text(arnOf("sqs", "q.fifo"))}, "Parameter(s) SqsParameters must be specified for target: id."},
		{types.Target{Arn: text(arnOf("sqs", "q")), Input: text("{}"), InputPath: text("$.a")},
			"Only one of Input, InputPath, or InputTransformer must be provided for target id."},
		{types.Target{Arn: text(arnOf("sqs", "q")), InputTransformer: &types.InputTransformer{InputTemplate: text(`"<x>"`)}},
			"InputTemplate for target id contains invalid placeholder x."},
	} {
		c.target.Id = text("id")
		_, err := b.PutTargets(t.Context(), &client.PutTargetsInput{Rule: text("r"), Targets: []types.Target{c.target}})
		refused(t, err, "ValidationException", c.want)
	}
	kinesis := types.Target{Id: text("id"), Arn: text(arnOf("sqs", "q")),
		KinesisParameters: &types.KinesisParameters{PartitionKeyPath: text("$")}}
	_, err := b.PutTargets(t.Context(), &client.PutTargetsInput{Rule: text("r"), Targets: []types.Target{kinesis}})
	refused(t, err, "NotImplemented", "PutTargets: the member Targets[0].KinesisParameters is not supported; "+
		"docs/services.md lists what this server supports")
	_, err = b.PutTargets(t.Context(), &client.PutTargetsInput{Rule: text("nobody"), Targets: []types.Target{queue("q")}})
	refused(t, err, "ResourceNotFoundException", "Rule nobody does not exist on EventBus default.")
	out, err := b.RemoveTargets(t.Context(), &client.RemoveTargetsInput{Rule: text("r"), Ids: []string{"q", "z"}})
	if err != nil || out.FailedEntryCount != 1 || *out.FailedEntries[0].ErrorMessage !=
		"Rule 'r' does not have a target with the Id 'z'." {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestRulesAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, text := t.Context(), sdkaws.String
	bus, err := b.CreateEventBus(ctx, &client.CreateEventBusInput{Name: text("jobs"), Description: text("d"),
		Tags: []types.Tag{{Key: text("a"), Value: text("1")}}})
	if err != nil || *bus.EventBusArn != arnOf("events", "event-bus/jobs") {
		t.Fatalf("%+v, %v", bus, err)
	}
	b.rule("r", "jobs", `{"source":["x"]}`, queue("q"))
	if _, err := b.PutRule(ctx, &client.PutRuleInput{Name: text("s"), ScheduleExpression: text("rate(1 hour)"),
		Tags: []types.Tag{{Key: text("k"), Value: text("v")}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PutPermission(ctx, &client.PutPermissionInput{EventBusName: text("jobs"), Action: text("events:PutEvents"),
		Principal: text("222222222222"), StatementId: text("other")}); err != nil {
		t.Fatal(err)
	}
	b.crash()
	rule, err := b.DescribeRule(ctx, &client.DescribeRuleInput{Name: text("r"), EventBusName: bus.EventBusArn})
	if err != nil || *rule.Arn != arnOf("events", "rule/jobs/r") || *rule.EventPattern != `{"source":["x"]}` ||
		rule.State != types.RuleStateEnabled || *rule.CreatedBy != account || *rule.EventBusName != "jobs" {
		t.Errorf("%+v, %v", rule, err)
	}
	described, err := b.DescribeEventBus(ctx, &client.DescribeEventBusInput{Name: text("jobs")})
	if err != nil || *described.Policy != `{"Version":"2012-10-17","Statement":[{"Sid":"other","Effect":"Allow","Principal":`+
		`{"AWS":"arn:aws:iam::222222222222:root"},"Action":"events:PutEvents","Resource":"`+*bus.EventBusArn+`"}]}` {
		t.Errorf("%+v, %v", described, err)
	}
	names, err := b.ListRuleNamesByTarget(ctx, &client.ListRuleNamesByTargetInput{EventBusName: text("jobs"),
		TargetArn: text(arnOf("sqs", "q"))})
	if err != nil || !slices.Equal(names.RuleNames, []string{"r"}) {
		t.Errorf("%+v, %v", names, err)
	}
	buses, err := b.ListEventBuses(ctx, &client.ListEventBusesInput{})
	if err != nil || len(buses.EventBuses) != 2 || *buses.EventBuses[1].Name != "jobs" {
		t.Errorf("%+v, %v", buses, err)
	}
	tags, err := b.ListTagsForResource(ctx, &client.ListTagsForResourceInput{ResourceARN: text(arnOf("events", "rule/s"))})
	if err != nil || len(tags.Tags) != 1 || *tags.Tags[0].Value != "v" {
		t.Errorf("%+v, %v", tags, err)
	}
	targets, err := b.ListTargetsByRule(ctx, &client.ListTargetsByRuleInput{Rule: text("r"), EventBusName: text("jobs")})
	if err != nil || len(targets.Targets) != 1 || *targets.Targets[0].Arn != arnOf("sqs", "q") {
		t.Errorf("%+v, %v", targets, err)
	}
	_, err = b.DeleteEventBus(ctx, &client.DeleteEventBusInput{Name: text("jobs")})
	refused(t, err, "ValidationException", "Event bus jobs cannot be deleted since it has rules.")
	_, err = b.DeleteRule(ctx, &client.DeleteRuleInput{Name: text("r"), EventBusName: text("jobs")})
	refused(t, err, "ValidationException", "Rule can't be deleted since it has targets.")
	_, err = b.PutPermission(ctx, &client.PutPermissionInput{StatementId: text("s"), Action: text("events:PutRule"),
		Principal: text("222222222222")})
	refused(t, err, "ValidationException", "Provided value in parameter 'action' is not supported.")
	_, err = b.PutRule(ctx, &client.PutRuleInput{Name: text("x")})
	refused(t, err, "ValidationException", "Parameter(s) EventPattern or ScheduleExpression must be specified.")
	_, err = b.PutRule(ctx, &client.PutRuleInput{Name: text("x"), ScheduleExpression: text("rate(1 hours)")})
	refused(t, err, "ValidationException", "Parameter ScheduleExpression is not valid.")
	_, err = b.PutRule(ctx, &client.PutRuleInput{Name: text("x"), EventPattern: text(`{"source": "x"}`)})
	refused(t, err, "InvalidEventPatternException", "Event pattern is not valid. Reason: \"source\" must be an object or "+
		"an array\n at [Source: (String)\"{\"source\": \"x\"}\"; line: 1, column: 13]")
	_, err = b.DescribeEventBus(ctx, &client.DescribeEventBusInput{Name: text("gone")})
	refused(t, err, "ResourceNotFoundException", "Event bus gone does not exist.")
}

func TestSchedulesFollowTheClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, text := t.Context(), sdkaws.String
	for name, expression := range map[string]string{"often": "rate(5 minutes)", "daily": "cron(30 9 * * ? *)"} {
		if _, err := b.PutRule(ctx, &client.PutRuleInput{Name: &name, ScheduleExpression: &expression}); err != nil {
			t.Fatal(err)
		}
		b.targets(name, "", queue(name))
	}
	b.pass(2*time.Hour + time.Second)
	times := map[string][]string{}
	for _, m := range b.all() {
		times[m.to] = append(times[m.to], m.at.Format("15:04"))
		if m.to == "daily" && !strings.HasSuffix(m.Body, `"detail-type":"Scheduled Event","source":"aws.events",`+
			`"account":"111111111111","time":"2026-11-22T09:30:00Z","region":"eu-west-1","resources":["`+
			arnOf("events", "rule/daily")+`"],"detail":{}}`) {
			t.Error(m.Body)
		}
	}
	if len(times["often"]) != 24 || times["often"][0] != "08:05" || !slices.Equal(times["daily"], []string{"09:30"}) {
		t.Errorf("%v", times)
	}
	if _, err := b.DisableRule(ctx, &client.DisableRuleInput{Name: text("often")}); err != nil {
		t.Fatal(err)
	}
	b.crash()
	b.pass(24 * time.Hour)
	if all := b.all(); len(all) != 1 || all[0].to != "daily" || all[0].at.Format("02T15:04") != "23T09:30" {
		t.Errorf("%d messages, the first %+v", len(all), all[:min(1, len(all))])
	}
}

func TestATimeThatPassedWhileNothingRanIsMadeUpForOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.PutRule(t.Context(), &client.PutRuleInput{Name: sdkaws.String("often"),
		ScheduleExpression: sdkaws.String("rate(5 minutes)")}); err != nil {
		t.Fatal(err)
	}
	b.targets("often", "", queue("q"))
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	b.close()
	b.pass(23 * time.Minute)
	b.disk = after
	b.open()
	b.pass(3 * time.Minute)
	var at []string
	for _, m := range b.all() {
		at = append(at, m.Body[strings.Index(m.Body, `"time":"`)+8:][:20])
	}
	if !slices.Equal(at, []string{"2026-11-22T08:20:00Z", "2026-11-22T08:25:00Z"}) {
		t.Errorf("%v", at)
	}
}

func TestTargetsAreTriedAgainAndThenGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	number := func(n int32) *int32 { return &n }
	failing := types.Target{Id: sdkaws.String("t"), Arn: sdkaws.String(arnOf("lambda", "function:f")),
		InputPath:        sdkaws.String("$.detail"),
		RetryPolicy:      &types.RetryPolicy{MaximumRetryAttempts: number(3), MaximumEventAgeInSeconds: number(3600)},
		DeadLetterConfig: &types.DeadLetterConfig{Arn: sdkaws.String(arnOf("sqs", "dead"))}}
	b.rule("r", "", `{"source":["x"]}`, failing)
	tries := 0
	b.refusing(func(to string) error {
		if to == "dead" {
			return nil
		}
		tries++
		return &aws.Error{Code: "ServiceException", Message: "not now", Status: 500}
	})
	id := b.put("x", `{"a":1}`)
	b.pass(time.Minute)
	all := b.all()
	if tries != 4 || len(all) != 1 || !strings.Contains(all[0].Body, `"id":"`+id) {
		t.Fatalf("%d tries, %+v", tries, all)
	}
	for name, want := range map[string]string{"RULE_ARN": arnOf("events", "rule/r"), "TARGET_ARN": arnOf("lambda", "function:f"),
		"ERROR_CODE": "INTERNAL_ERROR", "ERROR_MESSAGE": "not now", "EXHAUSTED_RETRY_CONDITION": "MaximumRetryAttempts",
		"RETRY_ATTEMPTS": "3"} {
		if all[0].Attributes[name].String != want {
			t.Errorf("%s is %q", name, all[0].Attributes[name].String)
		}
	}
	// Limited by age.
	failing.RetryPolicy = &types.RetryPolicy{MaximumRetryAttempts: number(100), MaximumEventAgeInSeconds: number(60)}
	b.targets("r", "", failing)
	b.put("x", `{"a":1}`)
	b.pass(10 * time.Minute)
	if all = b.all(); len(all) != 1 || all[0].Attributes["EXHAUSTED_RETRY_CONDITION"].String != "MaximumEventAgeInSeconds" ||
		all[0].at.Sub(epoch) > 3*time.Minute {
		t.Errorf("%d messages, the first %+v", len(all), all[:min(1, len(all))])
	}
	// Permanent errors are not retried.
	tries = 0
	b.refusing(func(to string) error {
		if to == "dead" {
			return nil
		}
		tries++
		return &aws.Error{Code: "ResourceNotFoundException", Message: "Function not found", Status: 404}
	})
	b.put("x", `{"a":1}`)
	b.pass(10 * time.Minute)
	if all = b.all(); tries != 1 || len(all) != 1 || all[0].Attributes["ERROR_CODE"].String != "NO_RESOURCE" ||
		all[0].Attributes["EXHAUSTED_RETRY_CONDITION"].String != "" {
		t.Errorf("%d tries, %+v", tries, all)
	}
	// Then it works.
	b.refusing(nil)
	b.put("x", `{"a":1}`)
	b.pass(time.Second)
	if all = b.all(); len(all) != 1 || all[0].to != "function:f" {
		t.Errorf("%d messages, the first %+v", len(all), all[:min(1, len(all))])
	}
}

func TestBusesSendToEachOtherOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"a", "b"} {
		if _, err := b.CreateEventBus(t.Context(), &client.CreateEventBusInput{Name: &name}); err != nil {
			t.Fatal(err)
		}
	}
	to := func(bus string) types.Target {
		return types.Target{Id: sdkaws.String("to-" + bus), Arn: sdkaws.String(arnOf("events", "event-bus/"+bus)), RoleArn: sdkaws.String(role)}
	}
	const pattern = `{"source":["x"]}`
	b.rule("r", "", pattern, to("a"))
	b.rule("r", "a", pattern, to("b"), to("a"), to("default"), queue("at-a"))
	b.rule("r", "b", pattern, queue("at-b"))
	id := b.put("x", `{}`)
	b.pass(time.Minute)
	if all := b.all(); len(all) != 1 || all[0].to != "at-a" || !strings.Contains(all[0].Body, id) {
		t.Errorf("%d messages, the first %+v", len(all), all[:min(1, len(all))])
	}
}

func TestFifoQueuesAndExecutions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rule("r", "", `{"source":["x"]}`, types.Target{Id: sdkaws.String("q"), Arn: sdkaws.String(arnOf("sqs", "q.fifo")),
		SqsParameters: &types.SqsParameters{MessageGroupId: sdkaws.String("g")}},
		types.Target{Id: sdkaws.String("m"), Arn: sdkaws.String(arnOf("states", "stateMachine:m")), RoleArn: sdkaws.String(role)})
	id := b.put("x", `{}`)
	b.pass(time.Second)
	all := b.all()
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	for _, m := range all {
		if m.to == "q.fifo" && (m.Group != "g" || m.Deduplication == "") ||
			m.to != "q.fifo" && (!strings.HasPrefix(m.Name, id+"_") || len(m.Name) != 73) {
			t.Errorf("%+v", m)
		}
	}
}

// TestNothingAcceptedIsLost takes the disk away from under eight clients and keeps only what was synced. Every
// accepted event must have reached the function in the end; calls before the crash count as well.
func TestNothingAcceptedIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rule("r", "", `{"source":["x"]}`, types.Target{Id: sdkaws.String("f"), Arn: sdkaws.String(arnOf("lambda", "function:f"))})
	b.refusing(func(string) error { return &aws.Error{Code: "ServiceException", Status: 500} })
	var mu sync.Mutex
	accepted := map[string]bool{}
	var clients sync.WaitGroup
	enough, stop := make(chan struct{}), make(chan struct{})
	for range 8 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				out, err := b.PutEvents(t.Context(), &client.PutEventsInput{Entries: []types.PutEventsRequestEntry{
					{Source: sdkaws.String("x"), DetailType: sdkaws.String("d"), Detail: sdkaws.String("{}")},
					{Source: sdkaws.String("x"), DetailType: sdkaws.String("d"), Detail: sdkaws.String("{}")}}})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, e := range out.Entries {
					accepted[*e.EventId] = true
				}
				if len(accepted) == 200 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	mu.Lock()
	var want []string
	for id := range accepted {
		want = append(want, id)
	}
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	mu.Unlock()
	close(stop)
	clients.Wait()
	b.close()
	b.all()
	b.refusing(nil)
	b.disk = after
	b.open()
	b.pass(10 * time.Minute)
	found := map[string]bool{}
	for _, m := range b.all() {
		var e struct{ ID string }
		if err := json.Unmarshal([]byte(m.Body), &e); err != nil {
			t.Fatal(err)
		}
		found[e.ID] = true
	}
	for _, id := range want {
		if !found[id] {
			t.Errorf("%s is lost", id)
		}
	}
}

func TestTestEventPattern(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	event := `{"id":"1","account":"1","source":"x","time":"2026-11-22T08:00:00Z","region":"r","resources":[],"detail-type":"d"%s}`
	for detail, want := range map[string]bool{`,"detail":{"a":1}`: true, ``: false} {
		out, err := b.TestEventPattern(t.Context(), &client.TestEventPatternInput{
			EventPattern: sdkaws.String(`{"detail":{"a":[1]}}`), Event: sdkaws.String(fmt.Sprintf(event, detail))})
		if err != nil || out.Result != want {
			t.Errorf("%s: %+v, %v", detail, out, err)
		}
	}
	// An event may lack resources, but none of the other members.
	for _, lacking := range []string{"resources", "id", "account", "source", "time", "region", "detail-type"} {
		event := map[string]any{"id": "1", "account": "1", "source": "x", "time": "2026-11-22T08:00:00Z", "region": "r",
			"resources": []any{}, "detail-type": "d"}
		delete(event, lacking)
		text, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		out, err := b.TestEventPattern(t.Context(), &client.TestEventPatternInput{
			EventPattern: sdkaws.String(`{"source":["x"]}`), Event: sdkaws.String(string(text))})
		if lacking == "resources" {
			if err != nil || !out.Result {
				t.Errorf("without resources: %+v, %v", out, err)
			}
			continue
		}
		refused(t, err, "ValidationException", "Parameter Event is not valid. Reason: the field "+lacking+" is missing.")
	}
	_, err := b.TestEventPattern(t.Context(), &client.TestEventPatternInput{EventPattern: sdkaws.String(`{}`), Event: sdkaws.String(`{}`)})
	refused(t, err, "InvalidEventPatternException", "Event pattern is not valid. Reason: Empty objects are not allowed\n"+
		" at [Source: (String)\"{}\"; line: 1, column: 3]")
}

// TestEntriesForAFullTargetAreRefused fills the queue of a target that is down. Later entries for it fail one by one,
// and others of the same requests are sent.
func TestEntriesForAFullTargetAreRefused(t *testing.T) {
	t.Parallel()
	text := sdkaws.String
	b := &bench{t: t, clock: clock.Virtual(epoch), disk: vfs.NewCrashableMem(), keys: t.TempDir(),
		perTarget: lanes.Bound{Jobs: 2},
		refuse: func(to string) error {
			if to == "function:down" {
				return errors.New("down")
			}
			return nil
		}}
	b.clock.Hold()
	b.open()
	defer func() {
		b.close()
		b.clock.Release()
		b.clock.Close()
	}()
	for _, name := range []string{"down", "up"} {
		b.rule(name, "", `{"source":["`+name+`"]}`, types.Target{Id: text("1"),
			Arn: text("arn:aws:lambda:" + region + ":" + account + ":function:" + name)})
	}
	entry := func(source string) types.PutEventsRequestEntry {
		return types.PutEventsRequestEntry{Source: text(source), DetailType: text("d"), Detail: text("{}")}
	}
	out, err := b.PutEvents(t.Context(), &client.PutEventsInput{Entries: []types.PutEventsRequestEntry{
		entry("down"), entry("up"), entry("down"), entry("down"), entry("up")}})
	if err != nil || out.FailedEntryCount != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	for i, e := range out.Entries {
		code := sdkaws.ToString(e.ErrorCode)
		if want := i == 3; want != (code == "ThrottlingException") || want == (e.EventId != nil) {
			t.Errorf("entry %d: %s %v", i, code, e.EventId)
		}
	}
}
