package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/scheduler"
	"github.com/aws/aws-sdk-go-v2/service/scheduler/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/aws/model"
	"stepback/engine/clock"
	"stepback/jsonvalue"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/scheduler"
)

var epoch = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)

const (
	account = "111111111111"
	region  = "eu-west-1"
	role    = "arn:aws:iam::111111111111:role/scheduler"
	queue   = "arn:aws:sqs:eu-west-1:111111111111:q"
	dead    = "arn:aws:sqs:eu-west-1:111111111111:dead"
)

// got is a message that a target received, or a call of an action.
type got struct {
	to string
	delivery.Message
	at time.Time
}

// bench is a service in virtual time over an in-memory disk, with an AWS client for it.
type bench struct {
	*client.Client
	t       *testing.T
	clock   *clock.Clock
	disk    *vfs.MemFS
	store   *documents.Store
	service *scheduler.Service

	mu     sync.Mutex
	taken  []got
	refuse error // for all targets except the dead-letter queue
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
	if b.store, err = documents.Open("/documents", b.disk); err != nil {
		b.t.Fatal(err)
	}
	targets := &delivery.Targets{}
	for _, service := range []string{"sqs", "states", "events"} {
		targets.Register(service, delivery.TargetFunc(func(_ context.Context, to aws.ARN, m *delivery.Message) error {
			return b.take(to.Resource, *m)
		}))
	}
	if b.service, err = scheduler.Open(scheduler.Options{Store: b.store, Clock: b.clock, Targets: targets,
		Check: model.CheckAction,
		Call: func(_ context.Context, scope aws.Scope, service, action string, input jsonvalue.Value) error {
			return b.take(scope.Account+" "+service+":"+action, delivery.Message{Body: input.JSON()})
		}}); err != nil {
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

// stop ends the process, keeping only what was synced, lets d pass without it, and starts another one.
func (b *bench) stop(d time.Duration) {
	b.t.Helper()
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	b.close()
	b.pass(d)
	b.disk = after
	b.open()
}

func (b *bench) take(to string, m delivery.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuse != nil && to != "dead" {
		return b.refuse
	}
	b.taken = append(b.taken, got{to, m, b.clock.Now()})
	return nil
}

func (b *bench) all() []got {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.taken
	b.taken = nil
	return all
}

// times returns when targets were called, in order.
func (b *bench) times() (at []string) {
	for _, m := range b.all() {
		at = append(at, m.at.Format("02T15:04"))
	}
	return at
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

// make creates a schedule. The virtual clock is held in the meantime.
func (b *bench) make(in *client.CreateScheduleInput) {
	b.t.Helper()
	if in.FlexibleTimeWindow == nil {
		in.FlexibleTimeWindow = &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff}
	}
	if in.Target == nil {
		in.Target = &types.Target{Arn: sdkaws.String(queue), RoleArn: sdkaws.String(role)}
	}
	if _, err := b.CreateSchedule(b.t.Context(), in); err != nil {
		b.t.Fatal(err)
	}
}

func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || e.ErrorMessage() != message {
		t.Errorf("got  %v\nwant %s: %s", err, code, message)
	}
}

func TestSchedulesStartAtTheirTimes(t *testing.T) {
	t.Parallel()
	text := sdkaws.String
	for _, c := range []struct {
		in   client.CreateScheduleInput
		want []string
	}{
		{client.CreateScheduleInput{ScheduleExpression: text("rate(4 hours)")},
			[]string{"22T08:00", "22T12:00", "22T16:00", "22T20:00", "23T00:00", "23T04:00"}},
		{client.CreateScheduleInput{ScheduleExpression: text("rate(4 hours)"), StartDate: sdkaws.Time(epoch.Add(time.Hour)),
			EndDate: sdkaws.Time(epoch.Add(9 * time.Hour))}, []string{"22T09:00", "22T13:00"}},
		{client.CreateScheduleInput{ScheduleExpression: text("cron(0 18 ? * SUN *)"), ScheduleExpressionTimezone: text("Asia/Tokyo")},
			[]string{"22T09:00"}},
		{client.CreateScheduleInput{ScheduleExpression: text("cron(0/30 10 * * ? *)"), StartDate: sdkaws.Time(epoch.Add(150 * time.Minute))},
			[]string{"22T10:30"}},
		{client.CreateScheduleInput{ScheduleExpression: text("at(2026-11-22T04:30:00)"), ScheduleExpressionTimezone: text("America/New_York")},
			[]string{"22T09:30"}},
		{client.CreateScheduleInput{ScheduleExpression: text("at(2026-11-22T07:00:00)")}, nil},
		{client.CreateScheduleInput{ScheduleExpression: text("rate(1 hours)"), State: types.ScheduleStateDisabled}, nil},
	} {
		b := newBench(t)
		b.clock.Hold()
		c.in.Name = text("s")
		b.make(&c.in)
		b.clock.Release()
		b.pass(23*time.Hour + time.Second)
		if got := b.times(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", *c.in.ScheduleExpression, got, c.want)
		}
	}
}

func TestCompletedSchedulesAreDeletedIfAskedFor(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.clock.Hold()
	for name, action := range map[string]types.ActionAfterCompletion{"kept": types.ActionAfterCompletionNone,
		"once": types.ActionAfterCompletionDelete} {
		b.make(&client.CreateScheduleInput{Name: &name, ScheduleExpression: sdkaws.String("at(2026-11-22T09:00:00)"),
			ActionAfterCompletion: action})
	}
	b.clock.Release()
	b.pass(2 * time.Hour)
	list, err := b.ListSchedules(t.Context(), &client.ListSchedulesInput{})
	if err != nil || len(list.Schedules) != 1 || *list.Schedules[0].Name != "kept" || len(b.all()) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestFlexibleWindows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.make(&client.CreateScheduleInput{Name: sdkaws.String("s"), ScheduleExpression: sdkaws.String("cron(0 * * * ? *)"),
		FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeFlexible,
			MaximumWindowInMinutes: sdkaws.Int32(15)}})
	b.pass(12 * time.Hour)
	all := b.all()
	spread := map[int]bool{}
	for _, m := range all {
		if m.at.Minute() >= 15 {
			t.Errorf("started at %v", m.at)
		}
		spread[m.at.Minute()] = true
	}
	if len(all) < 11 || len(spread) < 3 {
		t.Errorf("%d starts in %d minutes", len(all), len(spread))
	}
}

func TestWhatTargetsGet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := sdkaws.String
	b.clock.Hold()
	for name, target := range map[string]*types.Target{
		"plain": {Arn: text(queue)},
		"input": {Arn: text("arn:aws:states:eu-west-1:111111111111:stateMachine:m"),
			Input: text(`{"at":"<aws.scheduler.scheduled-time>","n":<aws.scheduler.attempt-number>,"s":"<aws.scheduler.schedule-arn>"}`)},
		"bus": {Arn: text("arn:aws:events:eu-west-1:111111111111:event-bus/default"), Input: text(`{"a":1}`),
			EventBridgeParameters: &types.EventBridgeParameters{DetailType: text("d"), Source: text("jobs")}},
		"call": {Arn: text("arn:aws:scheduler:::aws-sdk:sqs:purgeQueue"), Input: text(`{"QueueUrl":"u"}`)},
	} {
		target.RoleArn = text(role)
		b.make(&client.CreateScheduleInput{Name: &name, ScheduleExpression: text("at(2026-11-22T09:00:00)"), Target: target})
	}
	b.clock.Release()
	b.pass(2 * time.Hour)
	const schedule = "arn:aws:scheduler:eu-west-1:111111111111:schedule/default/"
	found := map[string]got{}
	for _, m := range b.all() {
		found[m.to] = m
	}
	if m := found["stateMachine:m"]; m.Body != `{"at":"2026-11-22T09:00:00Z","n":1,"s":"`+schedule+`input"}` || len(m.Name) != 36 {
		t.Errorf("%+v", m)
	}
	if m := found["event-bus/default"]; m.Body != `{"a":1}` || m.Source != "jobs" || m.DetailType != "d" ||
		!slices.Equal(m.Resources, []string{schedule + "bus"}) {
		t.Errorf("%+v", m)
	}
	if m := found[account+" sqs:purgeQueue"]; m.Body != `{"QueueUrl":"u"}` {
		t.Errorf("%+v", found)
	}
	if m := found["q"]; !strings.Contains(m.Body, `"detail-type":"Scheduled Event","source":"aws.scheduler","account":"111111111111",`+
		`"time":"2026-11-22T09:00:00Z","region":"eu-west-1","resources":["`+schedule+`plain"],"detail":"{}"}`) {
		t.Errorf("%+v", m)
	}
}

func TestFailuresAreTriedAgainAndThenGivenUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.refuse = &aws.Error{Code: "ServiceUnavailable", Message: "not now", Status: 503}
	b.clock.Hold()
	b.make(&client.CreateScheduleInput{Name: sdkaws.String("s"), ScheduleExpression: sdkaws.String("at(2026-11-22T09:00:00)"),
		Target: &types.Target{Arn: sdkaws.String(queue), RoleArn: sdkaws.String(role), Input: sdkaws.String("{}"),
			RetryPolicy:      &types.RetryPolicy{MaximumRetryAttempts: sdkaws.Int32(2)},
			DeadLetterConfig: &types.DeadLetterConfig{Arn: sdkaws.String(dead)}}})
	b.clock.Release()
	b.pass(2 * time.Hour)
	all := b.all()
	if len(all) != 1 || all[0].to != "dead" || all[0].Body != "{}" || all[0].Attributes["RETRY_ATTEMPTS"].String != "2" ||
		all[0].Attributes["SCHEDULE_ARN"].String != "arn:aws:scheduler:eu-west-1:111111111111:schedule/default/s" ||
		all[0].Attributes["ERROR_CODE"].String != "ServiceUnavailable" {
		t.Errorf("%+v", all)
	}
}

// TestAttributesOfDeadLetters has those of the user guide's example.
func TestAttributesOfDeadLetters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		refuse                             error
		code, message, attempts, condition string
	}{
		{&aws.Error{Code: "AWS.SimpleQueueService.NonExistentQueue", Message: "The specified queue does not exist.", Status: 400},
			"AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist.", "0", ""},
		{&aws.Error{Code: "TooManyRequestsException", Message: "Rate exceeded", Status: 429}, "TooManyRequestsException", "Rate exceeded",
			"1", "MaximumRetryAttempts"},
		{errors.New("broken"), "AWS.Scheduler.InternalServerError", "Unexpected error occurred while processing the request", "1",
			"MaximumRetryAttempts"},
	} {
		b := newBench(t)
		b.refuse = c.refuse
		b.clock.Hold()
		b.make(&client.CreateScheduleInput{Name: sdkaws.String("s"), ScheduleExpression: sdkaws.String("at(2026-11-22T09:00:00)"),
			Target: &types.Target{Arn: sdkaws.String(queue), RoleArn: sdkaws.String(role), Input: sdkaws.String("{}"),
				RetryPolicy:      &types.RetryPolicy{MaximumRetryAttempts: sdkaws.Int32(1)},
				DeadLetterConfig: &types.DeadLetterConfig{Arn: sdkaws.String(dead)}}})
		b.clock.Release()
		b.pass(2 * time.Hour)
		all := b.all()
		if len(all) != 1 {
			t.Fatalf("%s: %+v", c.code, all)
		}
		if all[0].Attributes["EXECUTION_ID"].String == "" {
			t.Errorf("%s: no execution ID", c.code)
		}
		for name, want := range map[string]string{"ERROR_CODE": c.code, "ERROR_MESSAGE": c.message, "RETRY_ATTEMPTS": c.attempts,
			"EXHAUSTED_RETRY_CONDITION": c.condition, "IS_PAYLOAD_TRUNCATED": "false", "SCHEDULED_TIME": "2026-11-22T09:00:00Z",
			"SCHEDULE_ARN": "arn:aws:scheduler:eu-west-1:111111111111:schedule/default/s", "TARGET_ARN": queue} {
			if got := all[0].Attributes[name]; got.String != want || want != "" && got.Type != "String" {
				t.Errorf("%s: %s is %+v, want %s", c.code, name, got, want)
			}
		}
	}
}

func TestTimesThatPassWhileNothingRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.make(&client.CreateScheduleInput{Name: sdkaws.String("hourly"), ScheduleExpression: sdkaws.String("cron(0 * * * ? *)")})
	b.pass(90 * time.Minute)
	b.clock.Hold()
	b.make(&client.CreateScheduleInput{Name: sdkaws.String("once"), ScheduleExpression: sdkaws.String("at(2026-11-22T10:30:00)")})
	if got := b.times(); !slices.Equal(got, []string{"22T09:00"}) {
		t.Errorf("%v", got)
	}
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	b.close()
	if err := b.clock.Sleep(t.Context(), 3*time.Hour); err != nil {
		t.Fatal(err)
	}
	b.disk = after
	b.open()
	b.clock.Release()
	b.pass(40 * time.Minute)
	var at []string
	for _, m := range b.all() {
		_, rest, _ := strings.Cut(m.Body, `"time":"`)
		at = append(at, rest[:16])
	}
	slices.Sort(at)
	if !slices.Equal(at, []string{"2026-11-22T10:30", "2026-11-22T12:00", "2026-11-22T13:00"}) {
		t.Errorf("%v", at)
	}
}

func TestGroupsAndRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, text := t.Context(), sdkaws.String
	if _, err := b.CreateScheduleGroup(ctx, &client.CreateScheduleGroupInput{Name: text("jobs"),
		Tags: []types.Tag{{Key: text("a"), Value: text("1")}}}); err != nil {
		t.Fatal(err)
	}
	b.make(&client.CreateScheduleInput{Name: text("s"), GroupName: text("jobs"), ScheduleExpression: text("rate(1 day)"),
		StartDate: sdkaws.Time(epoch.Add(time.Hour)), Description: text("d")})
	b.stop(0)
	s, err := b.GetSchedule(ctx, &client.GetScheduleInput{Name: text("s"), GroupName: text("jobs")})
	if err != nil || *s.Arn != "arn:aws:scheduler:eu-west-1:111111111111:schedule/jobs/s" || !s.StartDate.Equal(epoch.Add(time.Hour)) ||
		*s.Target.Arn != queue || *s.ScheduleExpressionTimezone != "UTC" || s.FlexibleTimeWindow.Mode != "OFF" {
		t.Errorf("%+v, %v", s, err)
	}
	groups, err := b.ListScheduleGroups(ctx, &client.ListScheduleGroupsInput{})
	if err != nil || len(groups.ScheduleGroups) != 2 {
		t.Errorf("%+v, %v", groups, err)
	}
	tags, err := b.ListTagsForResource(ctx, &client.ListTagsForResourceInput{ResourceArn: groups.ScheduleGroups[1].Arn})
	if err != nil || len(tags.Tags) != 1 {
		t.Errorf("%+v, %v", tags, err)
	}
	off := &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff}
	for _, c := range []struct{ expression, zone, arn, want string }{
		{"rate(5 seconds)", "", queue, "Invalid Schedule Expression rate(5 seconds)."},
		{"at(2026-11-23T08:00:00.5)", "", queue, "Invalid Schedule Expression at(2026-11-23T08:00:00.5)."},
		{"at(2026-11-23T8:00:00)", "", queue, "Invalid Schedule Expression at(2026-11-23T8:00:00)."},
		{"at(2026-11-23T08:00:00Z)", "", queue, "Invalid Schedule Expression at(2026-11-23T08:00:00Z)."},
		{"at(2026-11-23 08:00:00)", "", queue, "Invalid Schedule Expression at(2026-11-23 08:00:00)."},
		{"rate(5 minutes)", "Mars/Olympus", queue, "Invalid ScheduleExpressionTimezone Mars/Olympus."},
		{"rate(5 minutes)", "", "q", "Provided Arn is not in correct format."},
		{"rate(5 minutes)", "", "arn:aws:kinesis:eu-west-1:111111111111:stream/s", "Target arn:aws:kinesis:eu-west-1:111111111111:stream/s " +
			"is not supported here: schedules can send to events, sqs, states, and to universal targets (arn:aws:scheduler:::aws-sdk:SERVICE:ACTION)."},
		{"rate(5 minutes)", "", "arn:aws:scheduler:::aws-sdk:sqs:receiveMessage",
			"arn:aws:scheduler:::aws-sdk:sqs:receiveMessage is not a supported target action: it only reads."},
	} {
		in := &client.CreateScheduleInput{Name: text("x"), ScheduleExpression: &c.expression, FlexibleTimeWindow: off,
			Target: &types.Target{Arn: &c.arn, RoleArn: text(role)}}
		if c.zone != "" {
			in.ScheduleExpressionTimezone = &c.zone
		}
		_, err := b.CreateSchedule(ctx, in)
		refused(t, err, "ValidationException", c.want)
	}
	for _, c := range []struct {
		expression string
		start      time.Duration // from now
		want       string
	}{
		{"rate(1 day)", -6 * time.Minute, "The StartDate you specify cannot be earlier than 5 minutes ago."},
		{"cron(0 8 * * ? *)", -24 * time.Hour, "The StartDate you specify cannot be earlier than 5 minutes ago."},
		{"rate(1 day)", -4 * time.Minute, ""},
		{"at(2026-12-24T08:00:00)", -24 * time.Hour, ""}, // which ignores it
	} {
		_, err := b.CreateSchedule(ctx, &client.CreateScheduleInput{Name: text("start" + c.expression[:2]),
			ScheduleExpression: &c.expression, StartDate: sdkaws.Time(epoch.Add(c.start)), FlexibleTimeWindow: off,
			Target: &types.Target{Arn: text(queue), RoleArn: text(role)}})
		if c.want == "" && err != nil {
			t.Errorf("%s: %v", c.expression, err)
		} else if c.want != "" {
			refused(t, err, "ValidationException", c.want)
		}
	}
	for _, c := range []struct{ input, want string }{
		{"x", "Invalid RequestJson provided. Reason: the Input of the target has to be JSON."},
		{`{"n":<aws.scheduler.attempt-number>}`, ""},
	} {
		_, err := b.CreateSchedule(ctx, &client.CreateScheduleInput{Name: text("json"), ScheduleExpression: text("rate(1 day)"),
			FlexibleTimeWindow: off, Target: &types.Target{RoleArn: text(role), Input: &c.input,
				Arn: text("arn:aws:states:eu-west-1:111111111111:stateMachine:m")}})
		if c.want == "" && err != nil {
			t.Errorf("%s: %v", c.input, err)
		} else if c.want != "" {
			refused(t, err, "ValidationException", c.want)
		}
	}
	_, err = b.CreateSchedule(ctx, &client.CreateScheduleInput{Name: text("x"), ScheduleExpression: text("rate(1 day)"),
		FlexibleTimeWindow: off, Target: &types.Target{RoleArn: text(role), Arn: text("arn:aws:scheduler:::aws-sdk:sqs:sendMesage")}})
	var e smithy.APIError
	if !errors.As(err, &e) || !strings.HasPrefix(e.ErrorMessage(), "Provided Arn is not in correct format: ") {
		t.Errorf("%v", err)
	}
	_, err = b.GetSchedule(ctx, &client.GetScheduleInput{Name: text("gone")})
	refused(t, err, "ResourceNotFoundException", "Schedule gone does not exist.")
	_, err = b.CreateScheduleGroup(ctx, &client.CreateScheduleGroupInput{Name: text("jobs")})
	refused(t, err, "ConflictException", "Schedule group jobs already exists.")
	if _, err = b.DeleteScheduleGroup(ctx, &client.DeleteScheduleGroupInput{Name: text("jobs")}); err != nil {
		t.Error(err)
	}
	_, err = b.GetSchedule(ctx, &client.GetScheduleInput{Name: text("s"), GroupName: text("jobs")})
	refused(t, err, "ResourceNotFoundException", "Schedule group jobs does not exist.")
}

// TestCreateScheduleIsIdempotent repeats a request whose answer was lost, also after a crash.
func TestCreateScheduleIsIdempotent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := &client.CreateScheduleInput{Name: sdkaws.String("s"), ScheduleExpression: sdkaws.String("rate(1 hours)"),
		ClientToken: sdkaws.String("token"), FlexibleTimeWindow: &types.FlexibleTimeWindow{Mode: types.FlexibleTimeWindowModeOff},
		Target: &types.Target{Arn: sdkaws.String("arn:aws:sqs:us-east-1:123456789012:q"), RoleArn: sdkaws.String("arn:aws:iam::123456789012:role/r")}}
	group := &client.CreateScheduleGroupInput{Name: sdkaws.String("g"), ClientToken: sdkaws.String("token")}
	for range 2 {
		for range 2 {
			if _, err := b.CreateSchedule(t.Context(), in); err != nil {
				t.Error(err)
			}
			if _, err := b.CreateScheduleGroup(t.Context(), group); err != nil {
				t.Error(err)
			}
		}
		b.stop(0)
	}
	in.ScheduleExpression = sdkaws.String("rate(2 hours)")
	_, err := b.CreateSchedule(t.Context(), in)
	refused(t, err, "ConflictException", "Schedule s already exists.")
	in.ScheduleExpression, group.Tags = sdkaws.String("rate(1 hours)"), []types.Tag{{Key: sdkaws.String("a"), Value: sdkaws.String("b")}}
	_, err = b.CreateScheduleGroup(t.Context(), group)
	refused(t, err, "ConflictException", "Schedule group g already exists.")
	in.ClientToken, group.ClientToken = sdkaws.String("other"), sdkaws.String("other")
	_, err = b.CreateSchedule(t.Context(), in)
	var conflict *types.ConflictException
	if !errors.As(err, &conflict) {
		t.Errorf("with another token: %v", err)
	}
	if _, err = b.CreateScheduleGroup(t.Context(), group); !errors.As(err, &conflict) {
		t.Errorf("a group with another token: %v", err)
	}
}
