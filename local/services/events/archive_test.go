package events_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"stepback/jsonvalue"
)

func (b *bench) archive(name, pattern string, days int32) {
	b.t.Helper()
	in := &client.CreateArchiveInput{ArchiveName: &name, EventSourceArn: sdkaws.String(arnOf("events", "event-bus/default")),
		RetentionDays: &days}
	if pattern != "" {
		in.EventPattern = &pattern
	}
	if _, err := b.CreateArchive(b.t.Context(), in); err != nil {
		b.t.Fatal(err)
	}
}

// replay replays the events of an archive between two times.
func (b *bench) replay(name, archive string, from, to time.Time, filters ...string) error {
	_, err := b.StartReplay(b.t.Context(), &client.StartReplayInput{ReplayName: &name, EventStartTime: &from,
		EventEndTime: &to, EventSourceArn: sdkaws.String(arnOf("events", "archive/"+archive)),
		Destination: &types.ReplayDestination{Arn: sdkaws.String(arnOf("events", "event-bus/default")), FilterArns: filters}})
	return err
}

// replayed waits until a replay has ended, and returns its description.
func (b *bench) replayed(name string) *client.DescribeReplayOutput {
	b.t.Helper()
	for {
		b.pass(time.Second)
		r, err := b.DescribeReplay(b.t.Context(), &client.DescribeReplayInput{ReplayName: &name})
		if err != nil {
			b.t.Fatal(err)
		}
		if r.ReplayEndTime != nil {
			return r
		}
	}
}

func member(t *testing.T, body, name string) string {
	t.Helper()
	v, err := jsonvalue.Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := v.Get(name)
	return m.Text()
}

// TestArchivedEventsAreReplayed archives matching events, through a crash, and replays those of one hour to one of
// two rules. Replayed events are not archived again.
func TestArchivedEventsAreReplayed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.archive("all", `{"source":["shop"]}`, 0)
	b.rule("first", "", `{"source":["shop"]}`, queue("q1"))
	b.rule("second", "", `{"source":["shop"]}`, queue("q2"), types.Target{Id: sdkaws.String("m"),
		Arn: sdkaws.String(arnOf("states", "stateMachine:m")), RoleArn: sdkaws.String(role)})
	ids := make([]string, 3)
	for i := range ids {
		ids[i] = b.put("shop", `{"n":1}`)
		b.put("else", `{}`)
		b.pass(time.Hour)
	}
	before := b.all()
	b.crash()
	a, err := b.DescribeArchive(t.Context(), &client.DescribeArchiveInput{ArchiveName: sdkaws.String("all")})
	if err != nil || a.EventCount != 3 || a.SizeBytes < 300 || a.State != types.ArchiveStateEnabled {
		t.Fatalf("%+v, %v", a, err)
	}
	if err := b.replay("again", "all", epoch.Add(30*time.Minute), epoch.Add(90*time.Minute),
		arnOf("events", "rule/second")); err != nil {
		t.Fatal(err)
	}
	r := b.replayed("again")
	if r.State != types.ReplayStateCompleted || !r.EventLastReplayedTime.Equal(epoch.Add(time.Hour)) ||
		*r.ReplayArn != arnOf("events", "replay/again") || *r.EventSourceArn != arnOf("events", "archive/all") {
		t.Errorf("%+v", r)
	}
	again := b.all()
	if len(again) != 2 {
		t.Fatalf("%+v", again)
	}
	started := ""
	for _, g := range before {
		if strings.HasPrefix(g.to, "stateMachine:") && member(t, g.Body, "id") == ids[1] {
			started = g.Name
		}
	}
	for _, g := range again {
		if member(t, g.Body, "id") != ids[1] || member(t, g.Body, "replay-name") != "again" {
			t.Errorf("%+v", g)
		}
		if strings.HasPrefix(g.to, "stateMachine:") && (g.Name == started || started == "") {
			t.Errorf("the execution of the replay has the name %s of the first one", g.Name)
		}
	}
	if a, err := b.DescribeArchive(t.Context(), &client.DescribeArchiveInput{ArchiveName: sdkaws.String("all")}); err != nil ||
		a.EventCount != 3 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestEventsInArchivesAreCounted counts the events of many archives while the first ones arrive, in new archives and
// after a crash.
func TestEventsInArchivesAreCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const archives = 40
	for i := range archives {
		b.archive(fmt.Sprintf("all-%d", i), "", 0)
	}
	for want := range int64(3) {
		b.put("shop", `{"n":1}`)
		for i := range archives {
			a, err := b.DescribeArchive(t.Context(), &client.DescribeArchiveInput{ArchiveName: sdkaws.String(fmt.Sprintf("all-%d", i))})
			if err != nil || a.EventCount != want+1 || a.SizeBytes < 100*want+100 {
				t.Fatalf("%d: %d events with %d bytes instead of %d, %v", i, a.EventCount, a.SizeBytes, want+1, err)
			}
		}
		b.crash()
	}
}

// TestAReplayGoesOnAfterACrash ends the process in the middle of a replay of more events than are sent at a time.
func TestAReplayGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.archive("all", "", 0)
	const events = 450
	for range events / 10 {
		entries := make([]types.PutEventsRequestEntry, 10)
		for i := range entries {
			entries[i] = types.PutEventsRequestEntry{Source: sdkaws.String("s"), DetailType: sdkaws.String("t"), Detail: sdkaws.String("{}")}
		}
		if _, err := b.PutEvents(t.Context(), &client.PutEventsInput{Entries: entries}); err != nil {
			t.Fatal(err)
		}
	}
	b.rule("r", "", `{"source":["s"]}`, queue("q"))
	first := make(chan struct{})
	n := 0
	b.refusing(func(string) error {
		if n++; n == events/2 {
			close(first)
		}
		return nil
	})
	if err := b.replay("all", "all", epoch.Add(-time.Hour), epoch.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	<-first
	b.crash()
	if r := b.replayed("all"); r.State != types.ReplayStateCompleted {
		t.Errorf("%+v", r)
	}
	seen := map[string]bool{}
	for _, g := range b.all() {
		seen[member(t, g.Body, "id")] = true
	}
	if len(seen) != events {
		t.Errorf("%d of %d events came", len(seen), events)
	}
}

func TestReplaysAreCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.archive("all", "", 0)
	b.put("s", "{}")
	b.rule("r", "", `{"source":["s"]}`, queue("q"))
	began, goOn := make(chan struct{}), make(chan struct{})
	b.refusing(func(string) error {
		close(began)
		<-goOn
		return nil
	})
	if err := b.replay("one", "all", epoch.Add(-time.Hour), epoch.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	<-began
	out, err := b.CancelReplay(t.Context(), &client.CancelReplayInput{ReplayName: sdkaws.String("one")})
	if err != nil || out.State != types.ReplayStateCancelling {
		t.Errorf("%+v, %v", out, err)
	}
	close(goOn)
	if r := b.replayed("one"); r.State != types.ReplayStateCancelled {
		t.Errorf("%+v", r)
	}
	_, err = b.CancelReplay(t.Context(), &client.CancelReplayInput{ReplayName: sdkaws.String("one")})
	refused(t, err, "IllegalStatusException", "Replay one is not in a valid state for this operation.")
	all, err := b.ListReplays(t.Context(), &client.ListReplaysInput{State: types.ReplayStateCancelled})
	if err != nil || len(all.Replays) != 1 || *all.Replays[0].ReplayName != "one" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestArchivesForgetWhatIsOld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.archive("week", "", 7)
	b.put("s", "{}")
	b.pass(4 * 24 * time.Hour)
	b.put("s", "{}")
	b.pass(4 * 24 * time.Hour)
	all, err := b.ListArchives(t.Context(), &client.ListArchivesInput{})
	if err != nil || len(all.Archives) != 1 || all.Archives[0].EventCount != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	days := int32(1)
	if _, err := b.UpdateArchive(t.Context(), &client.UpdateArchiveInput{ArchiveName: sdkaws.String("week"), RetentionDays: &days,
		EventPattern: sdkaws.String(`{"source":["other"]}`)}); err != nil {
		t.Fatal(err)
	}
	b.put("s", "{}")
	if a, err := b.DescribeArchive(t.Context(), &client.DescribeArchiveInput{ArchiveName: sdkaws.String("week")}); err != nil ||
		a.EventCount != 0 || *a.EventPattern != `{"source":["other"]}` {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := b.DeleteArchive(t.Context(), &client.DeleteArchiveInput{ArchiveName: sdkaws.String("week")}); err != nil {
		t.Error(err)
	}
	_, err = b.DescribeArchive(t.Context(), &client.DescribeArchiveInput{ArchiveName: sdkaws.String("week")})
	refused(t, err, "ResourceNotFoundException", "Archive week does not exist.")
}

func TestArchivesAndReplaysThatAreWrong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.archive("all", "", 0)
	bus := sdkaws.String(arnOf("events", "event-bus/default"))
	_, err := b.CreateArchive(t.Context(), &client.CreateArchiveInput{ArchiveName: sdkaws.String("all"), EventSourceArn: bus})
	refused(t, err, "ResourceAlreadyExistsException", "Archive all already exists.")
	_, err = b.CreateArchive(t.Context(), &client.CreateArchiveInput{ArchiveName: sdkaws.String("x"), EventSourceArn: bus,
		EventPattern: sdkaws.String(`{"source":"s"}`)})
	if err == nil || !strings.Contains(err.Error(), "InvalidEventPatternException") {
		t.Error(err)
	}
	_, err = b.CreateArchive(t.Context(), &client.CreateArchiveInput{ArchiveName: sdkaws.String("x"),
		EventSourceArn: sdkaws.String(arnOf("events", "event-bus/none"))})
	refused(t, err, "ResourceNotFoundException", "Event bus none does not exist.")
	refused(t, b.replay("r", "none", epoch, epoch.Add(1)), "ValidationException",
		"Parameter EventSourceArn is not valid. Reason: Archive none does not exist.")
	_, err = b.ListArchives(t.Context(), &client.ListArchivesInput{EventSourceArn: sdkaws.String(arnOf("events",
		"event-bus/none"))})
	refused(t, err, "ResourceNotFoundException", "Event bus none does not exist.")
	refused(t, b.replay("r", "all", epoch, epoch), "ValidationException",
		"Parameter EventEndTime is not valid. Reason: EventStartTime should be before EventEndTime.")
	err = b.replay("r", "all", epoch, epoch.Add(time.Hour), arnOf("events", "rule/none"))
	if err == nil || !strings.Contains(err.Error(), "FilterArns") {
		t.Error(err)
	}
	_, err = b.ListArchives(t.Context(), &client.ListArchivesInput{NamePrefix: sdkaws.String("a"), EventSourceArn: bus})
	refused(t, err, "ValidationException",
		"At most one filter is allowed for ListArchives. Use either : State, EventSourceArn, or NamePrefix.")
	if err := b.replay("r", "all", epoch, epoch.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	b.replayed("r")
	refused(t, b.replay("r", "all", epoch, epoch.Add(time.Hour)), "ResourceAlreadyExistsException", "Replay r already exists.")
	if _, err := b.CreateEventBus(t.Context(), &client.CreateEventBusInput{Name: sdkaws.String("mine")}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateArchive(t.Context(), &client.CreateArchiveInput{ArchiveName: sdkaws.String("mine"),
		EventSourceArn: sdkaws.String(arnOf("events", "event-bus/mine"))}); err != nil {
		t.Fatal(err)
	}
	refused(t, b.replay("s", "mine", epoch, epoch.Add(time.Hour)), "ValidationException",
		"Parameter Destination.Arn is not valid. Reason: Cross event bus replay is not permitted.")
	_, err = b.DeleteEventBus(t.Context(), &client.DeleteEventBusInput{Name: sdkaws.String("mine")})
	if err == nil || !strings.Contains(err.Error(), "it has archives") {
		t.Error(err)
	}
}
