package eventsource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/local/services/lambda/eventsource"
)

func TestRecordsAreHandledInOrder(t *testing.T) {
	t.Parallel()
	w := open(t, vfs.NewMem(), func(_ context.Context, records []record) (string, error) {
		for _, r := range records {
			if r.EventName != "INSERT" || r.DynamoDB.NewImage["k"]["S"] == "" || !strings.Contains(r.ARN, "table/tab/stream/") {
				t.Errorf("%+v", r)
			}
		}
		return "", nil
	})
	arn := w.table()
	w.put("a", "b", "c")
	fromStart := w.create(arn, eventsource.CreateInput{StartingPosition: "TRIM_HORIZON",
		Settings: eventsource.Settings{BatchSize: sdk.Int(2)}})
	if first, second := w.next(), w.next(); !slices.Equal(first, []string{"a", "b"}) ||
		!slices.Equal(second, []string{"c"}) {
		t.Errorf("batches %v, %v", first, second)
	}
	if _, err := w.mappings.Delete(t.Context(), home, fromStart); err != nil {
		t.Error(err)
	}
	id := w.create(arn, eventsource.CreateInput{StartingPosition: "LATEST"})
	w.put("d")
	if got := w.next(); !slices.Equal(got, []string{"d"}) {
		t.Errorf("the newest batch is %v", got)
	}
	w.mappings.Close() // the batch has ended by then
	if c, err := w.mappings.Get(home, id); err != nil || c.LastProcessingResult != "OK" || *c.MaximumRetryAttempts != -1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestABatchIsTriedAgainAndGivenUp(t *testing.T) {
	t.Parallel()
	var w *world
	var at []string
	w = open(t, vfs.NewMem(), func(_ context.Context, records []record) (string, error) {
		at = append(at, fmt.Sprint(w.clock.Now().Sub(epoch), bodies(records)))
		if records[0].DynamoDB.Keys["k"]["S"] == "c" {
			return "", nil
		}
		return "", failure("no")
	})
	arn := w.table()
	w.put("a", "b", "c")
	w.create(arn, eventsource.CreateInput{StartingPosition: "TRIM_HORIZON", Settings: eventsource.Settings{
		BatchSize: sdk.Int(2), MaximumRetryAttempts: sdk.Int(2),
		DestinationConfig: &eventsource.DestinationConfig{OnFailure: eventsource.Destination{
			Destination: "arn:aws:sqs:us-east-1:000000000000:dead"}}}})
	m := <-w.sent
	for range 4 {
		w.next()
	}
	w.close()
	if got := strings.Join(at, ", "); got != "0s [a b], 1s [a b], 3s [a b], 3s [c]" {
		t.Errorf("attempts %s", got)
	}
	var told struct {
		RequestContext struct {
			Condition              string
			ApproximateInvokeCount int
			FunctionArn            string
		}
		ResponseContext    struct{ FunctionError string }
		DDBStreamBatchInfo struct {
			ShardID, StreamArn, StartSequenceNumber, EndSequenceNumber string
			BatchSize                                                  int
		}
	}
	if err := json.Unmarshal([]byte(m.Body), &told); err != nil {
		t.Fatal(err)
	}
	info := told.DDBStreamBatchInfo
	if told.RequestContext.Condition != "RetryAttemptsExhausted" || told.RequestContext.ApproximateInvokeCount != 3 ||
		told.ResponseContext.FunctionError != "Unhandled" || info.BatchSize != 2 || info.StreamArn != arn ||
		!strings.HasPrefix(info.ShardID, "shardId-") || info.StartSequenceNumber >= info.EndSequenceNumber {
		t.Errorf("told %s", m.Body)
	}
}

func TestABatchIsBisected(t *testing.T) {
	t.Parallel()
	var got []string
	w := open(t, vfs.NewMem(), func(_ context.Context, records []record) (string, error) {
		got = append(got, strings.Join(bodies(records), ""))
		if slices.Contains(bodies(records), "c") {
			return "", failure("no")
		}
		return "", nil
	})
	arn := w.table()
	w.put("a", "b", "c", "d")
	w.create(arn, eventsource.CreateInput{StartingPosition: "TRIM_HORIZON", Settings: eventsource.Settings{
		MaximumRetryAttempts: sdk.Int(1), BisectBatchOnFunctionError: sdk.Bool(true)}})
	for range 6 {
		w.next()
	}
	w.close()
	if text := strings.Join(got, " "); text != "abcd ab cd c c d" {
		t.Errorf("batches %s", text)
	}
}

func TestABatchGoesOnWithTheFirstItemThatFailed(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	w := open(t, vfs.NewMem(), func(_ context.Context, records []record) (string, error) {
		if attempts.Add(1) > 1 {
			return "", nil
		}
		return `{"batchItemFailures":[{"itemIdentifier":"` + records[2].DynamoDB.Sequence + `"},{"itemIdentifier":"` +
			records[1].DynamoDB.Sequence + `"}]}`, nil
	})
	arn := w.table()
	w.put("a", "b", "c")
	w.create(arn, eventsource.CreateInput{StartingPosition: "TRIM_HORIZON", Settings: eventsource.Settings{
		FunctionResponseTypes: []string{"ReportBatchItemFailures"}}})
	if first, second := w.next(), w.next(); len(first) != 3 || !slices.Equal(second, []string{"b", "c"}) {
		t.Errorf("batches %v, %v", first, second)
	}
}

func TestOldRecordsAreGivenUp(t *testing.T) {
	t.Parallel()
	w := open(t, vfs.NewMem(), func(context.Context, []record) (string, error) {
		return "", &aws.Error{Code: "TooManyRequestsException", Status: 429}
	})
	arn := w.table()
	w.put("a")
	w.create(arn, eventsource.CreateInput{StartingPosition: "TRIM_HORIZON", Settings: eventsource.Settings{
		MaximumRecordAgeInSeconds: sdk.Int(60), DestinationConfig: &eventsource.DestinationConfig{
			OnFailure: eventsource.Destination{Destination: "arn:aws:sns:us-east-1:000000000000:dead"}}}})
	m := <-w.sent
	if now := w.clock.Now().Sub(epoch); now != 63*time.Second || !strings.Contains(m.Body, `"condition":"RecordAgeExceeded"`) {
		t.Errorf("given up after %s: %s", now, m.Body)
	}
}

func TestAWindowGathersRecords(t *testing.T) {
	t.Parallel()
	w := open(t, vfs.NewMem(), fine)
	arn := w.table()
	w.clock.Hold()
	w.create(arn, eventsource.CreateInput{StartingPosition: "TRIM_HORIZON", Settings: eventsource.Settings{
		MaximumBatchingWindowInSeconds: sdk.Int(10), FilterCriteria: &eventsource.FilterCriteria{
			Filters: []eventsource.Filter{{Pattern: `{"dynamodb":{"Keys":{"k":{"S":[{"anything-but":"b"}]}}}}`}}}}})
	w.put("a")
	w.put("b")
	w.put("c")
	w.clock.Release()
	if got := w.next(); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("the batch is %v", got)
	}
}

// TestAStreamGoesOnAfterACrash crashes while the function handles the second batch.
func TestAStreamGoesOnAfterACrash(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	second, hang := make(chan struct{}), make(chan struct{})
	w := open(t, disk, func(_ context.Context, records []record) (string, error) {
		if bodies(records)[0] == "b" {
			close(second)
			<-hang
		}
		return "", nil
	})
	arn := w.table()
	w.create(arn, eventsource.CreateInput{StartingPosition: "LATEST",
		Settings: eventsource.Settings{BatchSize: sdk.Int(1)}})
	w.put("a", "b", "c")
	<-second
	crashed := disk.CrashClone(vfs.CrashCloneCfg{})
	close(hang)
	again := open(t, crashed, fine)
	if b, c := again.next(), again.next(); !slices.Equal(b, []string{"b"}) || !slices.Equal(c, []string{"c"}) {
		t.Errorf("after the crash %v, %v", b, c)
	}
}
