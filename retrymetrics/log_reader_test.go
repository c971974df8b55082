package retrymetrics_test

import (
	"slices"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/retrymetrics"
)

// counted sums a metric's values.
func counted(points []retrymetrics.Point, m *retrymetrics.Metric) float64 {
	sum := 0.0
	for _, p := range points {
		if p.Metric == m && p.Labels.ErrorType == "" {
			sum += p.Values[0]
		}
	}
	return sum
}

func TestALostRecordIsCountedWhenPatienceEnds(t *testing.T) {
	t.Parallel()
	records := logged(t, childARN, ended(everything(), history.ExecutionFailed))
	records = slices.Delete(records, 4, 5) // the first failure
	reader := retrymetrics.LogReader{Patience: time.Minute}
	now := reader.Read(records)
	if got := counted(now, retrymetrics.TaskAttempts); got != 1 {
		t.Errorf("%v attempts are counted before the failure has come, want the first only", got)
	}
	if got := reader.Expire(time.Unix(73+59, 0)); len(got) != 0 {
		t.Errorf("given up too early: %+v", got)
	}
	late := reader.Expire(time.Unix(73+60, 0))
	if got := counted(late, retrymetrics.TaskAttempts); got != 3 {
		t.Errorf("%v attempts are counted in the end, want the other 3", got)
	}
	if got := counted(late, retrymetrics.UnpairedEvents); got != 1 {
		t.Errorf("%v records are missing, want 1", got)
	}
	if got := reader.Read(records); len(got) != 0 {
		t.Errorf("records of an ended execution that come again are counted: %+v", got)
	}
}

func TestHeldRecordsAreBounded(t *testing.T) {
	t.Parallel()
	records := logged(t, childARN, everything())
	reader := retrymetrics.LogReader{Held: 4}
	if got := reader.Read(records[5:9]); len(got) != 0 {
		t.Errorf("four records are held, and yet %+v", got)
	}
	got := reader.Read(records[10:11])
	if counted(got, retrymetrics.TaskAttempts) != 2 || counted(got, retrymetrics.UnpairedEvents) != 2 {
		t.Errorf("the fifth gives up all: 2 attempts, for 2 events that have not come; got %+v", got)
	}
	// The missing records arrive late. They are counted, but no longer recognised as belonging to a retry.
	got = append(got, reader.Read(records[:5])...)
	got = append(got, reader.Read(records[9:10])...)
	got = append(got, reader.Read(records[11:])...)
	if a, r := counted(got, retrymetrics.TaskAttempts), counted(got, retrymetrics.RetryDelay); a != 4 || r != 1 {
		t.Errorf("%v attempts and a delay of %v, want 4 attempts and the second retry's delay of 1 s", a, r)
	}
}

func TestEventsAfterARedriveAreCounted(t *testing.T) {
	t.Parallel()
	events := ended(everything(), history.ExecutionFailed)
	reader := retrymetrics.LogReader{}
	reader.Read(logged(t, childARN, events))
	again := slices.Concat(events, []history.Event{event(16, 15, 80, history.ExecutionRedriven),
		event(17, 16, 80, history.TaskStateEntered),
		event(18, 17, 80, history.TaskScheduled)})
	got := reader.Read(logged(t, childARN, again)[15:])
	if counted(got, retrymetrics.TaskAttempts) != 1 || counted(got, retrymetrics.UnpairedEvents) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestTheChildStateIsThatOfBatches: at log level ERROR, a failed attempt of a child that imports a file or checks a
// range is not counted under the Task state of the children that process batches.
func TestTheChildStateIsThatOfBatches(t *testing.T) {
	t.Parallel()
	reader := retrymetrics.LogReader{Level: retrymetrics.LevelError, ChildState: "ProcessSingleUserRecord"}
	for label, want := range map[string]string{"ProcessUserRecords": "ProcessSingleUserRecord", "ImportFiles": "", "ValidateRanges": ""} {
		points := reader.Read([]retrymetrics.Record{{Execution: "arn:aws:states:us-east-1:000000000000:execution:csv-import/" + label + ":1",
			ID: 5, Previous: 4, Type: history.TaskFailed, Error: "States.TaskFailed", Time: 1}})
		found := false
		for _, p := range points {
			found = found || p.Metric == retrymetrics.TaskFailures && p.Labels.State == want
		}
		if !found {
			t.Errorf("a failed attempt of a child of %s is counted as %v", label, points)
		}
	}
}

// TestImportsOfManyFilesBlameTheirInput: executions that end with FilesRejected or FilesFailed count as refused.
func TestImportsOfManyFilesBlameTheirInput(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{"FilesRejected": 1, "FilesFailed": 1, "FilesUnfinished": 0, "States.Timeout": 0} {
		var reader retrymetrics.LogReader
		for _, p := range reader.Read([]retrymetrics.Record{{Execution: "arn:aws:states:us-east-1:000000000000:execution:csv-import-files:x",
			ID: 1, Type: history.ExecutionFailed, Error: name, Time: 1}}) {
			if p.Metric == retrymetrics.ExecutionsRefused && p.Values[0] != want {
				t.Errorf("%s: %v executions are refused, want %v", name, p.Values[0], want)
			}
		}
	}
}
