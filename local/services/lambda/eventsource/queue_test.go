package eventsource_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/local/services/lambda/eventsource"
)

type sqsAttribute = sqstypes.QueueAttributeName

func fine(context.Context, []record) (string, error) { return "null", nil }

// all collects the bodies of batches until it has n.
func (w *world) all(n int) (list []string) {
	w.t.Helper()
	for len(list) < n {
		list = append(list, w.next()...)
	}
	slices.Sort(list)
	return list
}

func TestMessagesAreHandledAndDeleted(t *testing.T) {
	t.Parallel()
	w := open(t, vfs.NewMem(), func(_ context.Context, records []record) (string, error) {
		for _, r := range records {
			if r.Source != "aws:sqs" || r.ARN != "arn:aws:sqs:us-east-1:000000000000:q" || r.MessageID == "" ||
				r.Attributes["ApproximateReceiveCount"] != "1" || r.Attributes["SentTimestamp"] == "" {
				t.Errorf("%+v", r)
			}
		}
		return "null", nil
	})
	url, arn := w.queue("q", nil)
	w.send(url, "a", "b", "c")
	w.create(arn, eventsource.CreateInput{})
	if got := w.next(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the first batch is %v", got)
	}
	w.send(url, "d")
	if got := w.next(); !slices.Equal(got, []string{"d"}) {
		t.Errorf("the second batch is %v", got)
	}
	w.settled(url, 0)
}

func TestMessagesOfABatchThatFailedComeAgain(t *testing.T) {
	t.Parallel()
	var w *world
	var at []string
	w = open(t, vfs.NewMem(), func(_ context.Context, records []record) (string, error) {
		at = append(at, fmt.Sprint(w.clock.Now().Sub(epoch), bodies(records)))
		return "", failure("no")
	})
	dead, deadARN := w.queue("dead", nil)
	url, arn := w.queue("q", map[string]string{"VisibilityTimeout": "10",
		"RedrivePolicy": `{"maxReceiveCount":2,"deadLetterTargetArn":"` + deadARN + `"}`})
	w.send(url, "a", "b")
	w.create(arn, eventsource.CreateInput{})
	w.settled(dead, 2)
	w.settled(url, 0)
	w.close()
	if got := strings.Join(at, ", "); got != "0s [a b], 10s [a b]" {
		t.Errorf("attempts %s", got)
	}
}

func TestItemsThatAreReportedComeAgain(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	w := open(t, vfs.NewMem(), func(_ context.Context, records []record) (string, error) {
		if attempts.Add(1) > 1 {
			return "", nil
		}
		return `{"batchItemFailures":[{"itemIdentifier":"` + records[1].MessageID + `"}]}`, nil
	})
	url, arn := w.queue("q", nil)
	w.send(url, "a", "b", "c")
	w.create(arn, eventsource.CreateInput{Settings: eventsource.Settings{
		FunctionResponseTypes: []string{"ReportBatchItemFailures"}}})
	if first, second := w.next(), w.next(); !slices.Equal(first, []string{"a", "b", "c"}) ||
		!slices.Equal(second, []string{"b"}) {
		t.Errorf("batches %v, %v", first, second)
	}
	w.settled(url, 0)
}

// TestReportsThatAreWrong checks which malformed reports fail a whole batch and which count as success.
func TestReportsThatAreWrong(t *testing.T) {
	t.Parallel()
	for report, again := range map[string]bool{
		`{"batchItemFailures":[{"itemIdentifier":"stranger"}]}`: true,
		`{"batchItemFailures":[{"itemIdentifier":""}]}`:         true,
		`{"batchItemFailures":[{"itemIdentifier":null}]}`:       true,
		`{"batchItemFailures":[{"bad":"x"}]}`:                   true,
		`not JSON`:                                              true,
		`{"batchItemFailures":[]}`:                              false,
		`{"batchItemFailures":null}`:                            false,
		`{}`:                                                    false,
		`null`:                                                  false,
	} {
		t.Run(report, func(t *testing.T) {
			t.Parallel()
			var attempts atomic.Int32
			w := open(t, vfs.NewMem(), func(context.Context, []record) (string, error) {
				if attempts.Add(1) > 1 {
					return "{}", nil
				}
				return report, nil
			})
			url, arn := w.queue("q", nil)
			w.send(url, "a")
			w.create(arn, eventsource.CreateInput{Settings: eventsource.Settings{
				FunctionResponseTypes: []string{"ReportBatchItemFailures"}}})
			w.settled(url, 0)
			if got := attempts.Load() == 2; got != again {
				t.Errorf("%d attempts", attempts.Load())
			}
		})
	}
}

func TestAWindowGathersMessages(t *testing.T) {
	t.Parallel()
	var w *world
	var at string
	w = open(t, vfs.NewMem(), func(context.Context, []record) (string, error) {
		at = w.clock.Now().Sub(epoch).String()
		return "", nil
	})
	url, arn := w.queue("q", nil)
	for i := range 12 {
		w.send(url, fmt.Sprintf("%02d", i))
	}
	w.create(arn, eventsource.CreateInput{Settings: eventsource.Settings{BatchSize: sdk.Int(100),
		MaximumBatchingWindowInSeconds: sdk.Int(5)}})
	if got := w.next(); len(got) != 12 || at != "5s" {
		t.Errorf("%v after %s", got, at)
	}
	w.settled(url, 0)
}

func TestFiltersKeepMessagesAway(t *testing.T) {
	t.Parallel()
	w := open(t, vfs.NewMem(), fine)
	url, arn := w.queue("q", nil)
	w.send(url, `{"kind":"a","n":1}`, `{"kind":"b"}`, `text`, `{"kind":"a","n":7}`)
	w.create(arn, eventsource.CreateInput{Settings: eventsource.Settings{FilterCriteria: &eventsource.FilterCriteria{
		Filters: []eventsource.Filter{{Pattern: `{"body":{"kind":["a"],"n":[{"numeric":["<",5]}]}}`},
			{Pattern: `{"body":["text"]}`}}}}})
	if got := w.all(2); !slices.Equal(got, []string{`text`, `{"kind":"a","n":1}`}) {
		t.Errorf("handled %v", got)
	}
	w.settled(url, 0)
}

func TestBatchesAtATimeAreBounded(t *testing.T) {
	t.Parallel()
	var active, most atomic.Int32
	var w *world
	both := make(chan struct{}, 100)
	release := make(chan struct{})
	w = open(t, vfs.NewMem(), func(context.Context, []record) (string, error) {
		if n := active.Add(1); n > most.Load() {
			most.Store(n)
		}
		both <- struct{}{}
		<-release
		active.Add(-1)
		return "", nil
	})
	url, arn := w.queue("q", nil)
	for i := range 20 {
		w.send(url, fmt.Sprint(i))
	}
	w.create(arn, eventsource.CreateInput{Settings: eventsource.Settings{BatchSize: sdk.Int(1),
		ScalingConfig: &eventsource.ScalingConfig{MaximumConcurrency: 2}}})
	<-both
	<-both
	close(release)
	w.settled(url, 0)
	if most.Load() != 2 {
		t.Errorf("%d batches at a time, want 2", most.Load())
	}
}

// Message groups keep their order if every third batch of a FIFO queue fails.
func TestGroupsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	handled, calls := map[string][]string{}, 0
	w := open(t, vfs.NewMem(), func(_ context.Context, records []record) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls%3 == 0 {
			return "", failure("no")
		}
		for _, r := range records {
			group := r.Attributes["MessageGroupId"]
			handled[group] = append(handled[group], r.Body)
		}
		return "", nil
	})
	url, arn := w.queue("q.fifo", map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"})
	w.create(arn, eventsource.CreateInput{Settings: eventsource.Settings{BatchSize: sdk.Int(3)}})
	want := map[string][]string{}
	for i := range 30 {
		group, body := fmt.Sprint("g", i%3), fmt.Sprintf("%02d", i)
		want[group] = append(want[group], body)
		if _, err := w.sqs.SendMessage(t.Context(), &awssqs.SendMessageInput{QueueUrl: &url, MessageBody: &body,
			MessageGroupId: &group}); err != nil {
			t.Fatal(err)
		}
	}
	w.settled(url, 0)
	w.close()
	for group, list := range want {
		if !slices.Equal(handled[group], list) {
			t.Errorf("%s was handled as %v", group, handled[group])
		}
	}
}

func TestAMappingIsDisabledAndEnabled(t *testing.T) {
	t.Parallel()
	w := open(t, vfs.NewMem(), fine)
	url, arn := w.queue("q", nil)
	id := w.create(arn, eventsource.CreateInput{})
	set := func(on bool) {
		t.Helper()
		c, err := w.mappings.Update(t.Context(), home, &eventsource.UpdateInput{UUID: id,
			Settings: eventsource.Settings{Enabled: &on}})
		if err != nil || c.State != "Updating" {
			t.Fatalf("%+v, %v", c, err)
		}
	}
	set(false)
	w.send(url, "a")
	if c, err := w.mappings.Get(home, id); err != nil || c.State != "Disabled" || w.left(url) != 1 {
		t.Errorf("%+v, %v; %d messages", c, err, w.left(url))
	}
	set(true)
	if got := w.next(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("handled %v", got)
	}
	w.settled(url, 0)
	if _, err := w.mappings.Delete(t.Context(), home, id); err != nil {
		t.Error(err)
	}
	w.send(url, "b")
	if w.left(url) != 1 {
		t.Error("a mapping that was deleted goes on")
	}
}

// A mapping that is about to read its source is disabled. What is written to the source afterwards is not handled until
// the mapping is enabled again.
func TestADisabledMappingReadsNothingMore(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"queue", "stream"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			w := open(t, vfs.NewMem(), fine)
			reading, read := make(chan struct{}), make(chan struct{})
			var first sync.Once
			off := sdk.Bool(false)
			var id string
			var write func()
			if source == "queue" {
				url, arn := w.queue("q", nil)
				id = w.create(arn, eventsource.CreateInput{Settings: eventsource.Settings{Enabled: off}})
				write = func() { w.send(url, "a") }
			} else {
				id = w.create(w.table(), eventsource.CreateInput{StartingPosition: "TRIM_HORIZON",
					Settings: eventsource.Settings{Enabled: off}})
				write = func() { w.put("a") }
			}
			enable := func(on bool) {
				t.Helper()
				if _, err := w.mappings.Update(t.Context(), home, &eventsource.UpdateInput{UUID: id,
					Settings: eventsource.Settings{Enabled: &on}}); err != nil {
					t.Fatal(err)
				}
			}
			w.mayRead = func() {
				first.Do(func() {
					close(reading)
					<-read
				})
			}
			enable(true)
			<-reading
			enable(false)
			write()
			close(read)
			w.clock.Hold()
			err := w.clock.Sleep(t.Context(), time.Second) // the mapping holds the clock while it works
			w.clock.Release()
			if n := len(w.batches); n != 0 || err != nil {
				t.Errorf("%d batches while the mapping is disabled, %v", n, err)
			}
			enable(true)
			if got := w.next(); !slices.Equal(got, []string{"a"}) {
				t.Errorf("handled %v", got)
			}
		})
	}
}

// TestMessagesSurviveACrash crashes while the function handles some messages and others wait.
func TestMessagesSurviveACrash(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	entered, hang := make(chan struct{}, 10), make(chan struct{})
	w := open(t, disk, func(context.Context, []record) (string, error) {
		entered <- struct{}{}
		<-hang
		return "", nil
	})
	url, arn := w.queue("q", nil)
	for i := range 6 {
		w.send(url, fmt.Sprint(i))
	}
	id := w.create(arn, eventsource.CreateInput{Settings: eventsource.Settings{BatchSize: sdk.Int(2),
		ScalingConfig: &eventsource.ScalingConfig{MaximumConcurrency: 2}}})
	<-entered
	<-entered
	crashed := disk.CrashClone(vfs.CrashCloneCfg{})
	close(hang)
	again := open(t, crashed, fine)
	if c, err := again.mappings.Get(home, id); err != nil || c.State != "Enabled" || c.BatchSize != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	got := slices.Compact(again.all(6))
	if !slices.Equal(got, []string{"0", "1", "2", "3", "4", "5"}) {
		t.Errorf("handled %v", got)
	}
	again.settled(url, 0)
}
