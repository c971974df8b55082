package retrymetrics_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/engine/history"
	"stepback/retrymetrics"
)

const (
	machine  = "csv-import"
	parent   = "arn:aws:states:us-east-1:000000000000:execution:csv-import:file-1"
	childARN = "arn:aws:states:us-east-1:000000000000:execution:csv-import/ProcessUserRecords:0001"
)

// everything returns a history in which every metric that is counted from histories occurs.
func everything() []history.Event {
	timedOut := failed(12, 11, 70, "States.Timeout")
	timedOut.Type = history.TaskTimedOut
	return []history.Event{
		event(1, 0, 0, history.ExecutionStarted),
		event(2, 0, 0, history.TaskStateEntered),
		event(3, 2, 0, history.TaskScheduled),
		event(4, 3, 0, history.TaskStarted),
		failed(5, 4, 1, "Lambda.TooManyRequestsException"),
		event(6, 5, 3.25, history.TaskScheduled),
		event(7, 6, 3.25, history.TaskStarted),
		event(8, 7, 4, history.TaskSucceeded),
		event(9, 8, 4, history.TaskStateExited),
		event(10, 9, 60, history.TaskStateEntered),
		event(11, 10, 60, history.TaskScheduled),
		timedOut,
		event(13, 12, 71, history.TaskScheduled),
		failed(14, 13, 72, "CircuitOpen"),
		failed(15, 14, 73, ""),
	}
}

func ended(events []history.Event, typ history.Type) []history.Event {
	events = slices.Clone(events)
	events[len(events)-1].Type = typ
	return events
}

func TestEveryMetricIsEmittedWithEverySet(t *testing.T) {
	t.Parallel()
	var c retrymetrics.Collector
	for _, arn := range []string{parent, childARN} {
		c.Add(arn, ended(everything(), history.ExecutionSucceeded))
		c.Add(arn, ended(everything(), history.ExecutionFailed))
	}
	c.AddRows(machine, time.Unix(100, 0), retrymetrics.Rows{Applied: 1, Recovered: 1,
		Retried: map[string]int64{"DeadlockException": 1}})
	c.AddConfiguration(machine, time.Unix(100, 0), []retrymetrics.Configuration{{State: "Work", Retries: 1}})
	points := c.Points()
	var reader retrymetrics.LogReader
	reader.Read([]retrymetrics.Record{{Execution: childARN, ID: 9, Previous: 8, Type: history.TaskScheduled}})
	points = append(points, reader.Expire(time.Unix(3600, 0))...)
	for _, m := range retrymetrics.Catalogue() {
		if len(m.Sets()) == 0 || m.Description() == "" {
			t.Errorf("%s has no dimension set or no description", m.Name())
		}
		if m.Origin() == retrymetrics.Functions {
			continue // emitted by package csvimport/sharedguard and tested there
		}
		for _, s := range m.Sets() {
			if !slices.ContainsFunc(points, func(p retrymetrics.Point) bool {
				return p.Metric == m &&
					p.Labels.Has(s)
			}) {
				t.Errorf("%s is declared with %s, and nothing emits it", m.Name(), s)
			}
		}
	}
}

func TestPointsOfAHistory(t *testing.T) {
	t.Parallel()
	var c retrymetrics.Collector
	c.Add(parent, ended(everything(), history.ExecutionFailed))
	got := make([]string, 0, 20)
	for _, p := range c.Points() {
		got = append(got, fmt.Sprintf("%s %s %s/%s %v", p.Start.Format("15:04"), p.Metric.Name(), p.Labels.State,
			p.Labels.ErrorType, p.Values))
	}
	want := []string{
		"00:00 AttemptsPerTask Work/ [2]",
		"00:00 CircuitBreakerState Work/ [0]",
		"00:00 RetryAttempts Work/ [0]",
		"00:00 RetryAttempts Work/Lambda.TooManyRequestsException [1]",
		"00:00 RetryDelay Work/ [2.2]",
		"00:00 RetryFailure Work/Lambda.TooManyRequestsException [0]",
		"00:00 RetrySuccess Work/Lambda.TooManyRequestsException [1]",
		"00:00 TaskAttempts Work/ [2]",
		"00:00 TaskFailures Work/ [0]",
		"00:00 TaskFailures Work/Lambda.TooManyRequestsException [1]",
		"00:00 Throttles Work/ [1]",
		"00:00 Timeouts Work/ [0]",
		"00:01 AttemptsPerTask Work/ [2]",
		"00:01 CircuitBreakerState Work/ [1]",
		"00:01 ExecutionsFailed / [1]",
		"00:01 ExecutionsRefused / [0]",
		"00:01 RetryAttempts Work/ [0]",
		"00:01 RetryAttempts Work/States.Timeout [1]",
		"00:01 RetryDelay Work/ [1]",
		"00:01 RetryFailure Work/CircuitOpen [1]",
		"00:01 RetrySuccess Work/CircuitOpen [0]",
		"00:01 TaskAttempts Work/ [2]",
		"00:01 TaskFailures Work/ [0]",
		"00:01 TaskFailures Work/CircuitOpen [1]",
		"00:01 TaskFailures Work/States.Timeout [1]",
		"00:01 Throttles Work/ [0]",
		"00:01 Timeouts Work/ [1]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// drawHistory generates a history of several concurrent tasks, as an inline Map writes it.
func drawHistory(t *rapid.T) []history.Event {
	events := []history.Event{event(1, 0, 0, history.ExecutionStarted)}
	at := int64(0)
	next := func(previous int64, typ history.Type) int64 {
		at += rapid.Int64Range(0, 40).Draw(t, "pause") * int64(time.Second)
		e := history.Event{ID: int64(len(events)) + 1, Previous: previous, Time: at, Type: typ}
		if typ.Entered() {
			e.Name = rapid.SampledFrom([]string{"A", "B"}).Draw(t, "state")
		}
		if typ == history.TaskFailed || typ == history.TaskTimedOut {
			e.More = &history.Details{Failure: history.Named(rapid.SampledFrom([]string{"States.Timeout", "CircuitOpen",
				"made up", "SNS.ThrottledException"}).Draw(t, "error"))}
		}
		events = append(events, e)
		return e.ID
	}
	tasks := make([]int64, rapid.IntRange(1, 4).Draw(t, "tasks"))
	for i := range tasks {
		tasks[i] = next(1, history.TaskStateEntered)
	}
	for range rapid.IntRange(0, 40).Draw(t, "steps") {
		i := rapid.IntRange(0, len(tasks)-1).Draw(t, "task")
		then := map[history.Type][]history.Type{
			history.TaskStateEntered: {history.TaskScheduled},
			history.TaskScheduled:    {history.TaskStarted, history.TaskTimedOut},
			history.TaskStarted:      {history.TaskSucceeded, history.TaskFailed, history.TaskTimedOut},
			history.TaskFailed:       {history.TaskScheduled, history.TaskStateExited},
			history.TaskTimedOut:     {history.TaskScheduled, history.TaskStateExited},
			history.TaskSucceeded:    {history.TaskStateExited},
			history.TaskStateExited:  {history.TaskStateEntered},
		}[events[tasks[i]-1].Type]
		tasks[i] = next(tasks[i], rapid.SampledFrom(then).Draw(t, "type"))
	}
	next(tasks[0], rapid.SampledFrom([]history.Type{history.ExecutionSucceeded, history.ExecutionFailed}).Draw(t,
		"end"))
	return events
}

// logged converts a history to the log records of Step Functions.
func logged(t rapid.TB, arn string, events []history.Event) []retrymetrics.Record {
	t.Helper()
	var out []retrymetrics.Record
	for i := range events {
		e := &events[i]
		text := e.AppendLogRecord(nil, arn, 0, false)
		r, err := retrymetrics.ParseRecord(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func TestTheLogTellsWhatTheHistoryTells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := drawHistory(t)
		var c retrymetrics.Collector
		c.Add(childARN, events)
		want, err := json.Marshal(c.Points())
		if err != nil {
			t.Fatal(err)
		}
		var reader retrymetrics.LogReader
		var points []retrymetrics.Point
		all := logged(t, childARN, events)
		if rapid.Bool().Draw(t, "in any order") {
			all = rapid.Permutation(all).Draw(t, "order")
		}
		for rest := all; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "batch")
			batch := rest[:n]
			if rapid.Bool().Draw(t, "twice") {
				batch = append(slices.Clone(batch), batch...)
			}
			points = append(points, reader.Read(batch)...)
			rest = rest[n:]
		}
		got, err := json.Marshal(retrymetrics.Merge(points))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Fatalf("log     %s\nhistory %s", got, want)
		}
	})
}

// redriven returns a history of a task that fails three times, is redriven, and fails three times again.
func redriven() []history.Event {
	events := []history.Event{event(1, 0, 0, history.ExecutionStarted), event(2, 1, 0, history.TaskStateEntered)}
	attempts := func(from float64, previous int64) {
		for i := range 3 {
			at := from + float64(10*i)
			id := int64(len(events)) + 1
			events = append(events, event(id, previous, at, history.TaskScheduled), failed(id+1, id, at+1, "Busy"))
			previous = id + 1
		}
		end := event(previous+1, previous, from+21, history.ExecutionFailed)
		events = append(events, end)
	}
	attempts(0, 2)
	events = append(events, event(10, 9, 60, history.ExecutionRedriven))
	attempts(60, 10)
	return events
}

// A redrive continues the counts: three attempts are followed by three more, under the same state, in the metric data,
// in a counter and in what is counted from the log.
func TestARedriveIsNotCountedAgain(t *testing.T) {
	t.Parallel()
	events := redriven()
	var c retrymetrics.Collector
	var n retrymetrics.Counter
	retrymetrics.NewLive(parent, &c, &n).Count(events[:9])
	var reader retrymetrics.LogReader
	points := reader.Read(logged(t, parent, events[:9]))
	if got := counted(c.Points(), retrymetrics.TaskAttempts); got != 3 {
		t.Errorf("%v attempts before the redrive, want 3", got)
	}
	again := retrymetrics.NewLive(parent, &c, &n)
	again.Skip(events[:9])
	again.Count(events[9:])
	points = append(points, reader.Read(logged(t, parent, events[9:]))...)
	for name, all := range map[string][]retrymetrics.Point{"live": c.Points(), "the log": retrymetrics.Merge(points)} {
		for m, want := range map[*retrymetrics.Metric]float64{retrymetrics.TaskAttempts: 6,
			retrymetrics.ExecutionsFailed: 2} {
			if got := counted(all, m); got != want {
				t.Errorf("%s: %s is %v, want %v", name, m.Name(), got, want)
			}
		}
		for _, p := range all {
			if p.Metric == retrymetrics.TaskAttempts && p.Labels.State != "Work" {
				t.Errorf("%s: attempts of the state %q", name, p.Labels.State)
			}
		}
	}
	want := retrymetrics.Tally{Key: retrymetrics.Key{State: "Work", Error: "Busy"}, Failures: 6, Retries: 4, Exhausted: 2,
		FailedAgain: 4, Waited: 36 * time.Second}
	if got := n.Tallies(); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A failure whose retry is scheduled is waiting, and counts at once.
func TestAFailureCountsBeforeItsRetry(t *testing.T) {
	t.Parallel()
	var n retrymetrics.Counter
	live := retrymetrics.NewLive(parent, &n)
	events := redriven()
	live.Count(events[:4])
	if got := n.Tallies(); len(got) != 1 || got[0].Failures != 1 || got[0].Waiting != 1 || got[0].Retries != 0 {
		t.Errorf("%+v", got)
	}
	live.Count(events[4:5])
	if got := n.Tallies(); got[0].Retries != 1 || got[0].Waiting != 0 || got[0].Unfinished != 1 {
		t.Errorf("%+v", got)
	}
}

func TestLevelErrorTellsFailuresOnly(t *testing.T) {
	t.Parallel()
	var lines []retrymetrics.Record
	for _, r := range logged(t, childARN, ended(everything(), history.ExecutionFailed)) {
		switch r.Type {
		case history.TaskFailed, history.TaskTimedOut, history.ExecutionFailed:
			lines = append(lines, r)
		default:
		}
	}
	reader := retrymetrics.LogReader{Level: retrymetrics.LevelError, ChildState: "ProcessSingleUserRecord"}
	var found []*retrymetrics.Metric
	for _, p := range reader.Read(lines) {
		if !p.Metric.At(retrymetrics.LevelError) {
			t.Errorf("%s comes from a log that cannot tell it", p.Metric.Name())
		}
		if p.Metric == retrymetrics.TaskFailures && p.Labels.State != "ProcessSingleUserRecord" {
			t.Errorf("state %q", p.Labels.State)
		}
		found = append(found, p.Metric)
	}
	for _, m := range retrymetrics.Catalogue() {
		parents := m == retrymetrics.ExecutionsFailed || m == retrymetrics.ExecutionsRefused
		if m.Origin() == retrymetrics.ErrorLog && !parents && !slices.Contains(found, m) {
			t.Errorf("%s is not counted at level ERROR", m.Name())
		}
	}
}

// unpaired sums the values of UnpairedEvents.
func unpaired(points []retrymetrics.Point) float64 {
	sum := 0.0
	for _, p := range points {
		if p.Metric == retrymetrics.UnpairedEvents {
			sum += p.Values[0]
		}
	}
	return sum
}

func TestTheOldestExecutionIsForgottenFirst(t *testing.T) {
	t.Parallel()
	reader := retrymetrics.LogReader{Executions: 1}
	events := logged(t, childARN, everything())
	reader.Read(events[:5])
	if got := reader.Read(logged(t, parent, everything()[:2])); unpaired(got) != 1 {
		t.Errorf("the failure that is forgotten is not counted: %+v", got)
	}
	if got := reader.Read(events[5:7]); unpaired(got) != 0 {
		t.Errorf("the retry is given up before there was time to wait: %+v", got)
	}
	if got := reader.Expire(time.Unix(3600, 0)); unpaired(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestAnExecutionOutlivesThoseThatEnd starts and ends many executions while one stays open.
func TestAnExecutionOutlivesThoseThatEnd(t *testing.T) {
	t.Parallel()
	reader := retrymetrics.LogReader{Executions: 2}
	events := logged(t, childARN, everything())
	reader.Read(events[:5])
	for i := range 10 {
		reader.Read(logged(t, fmt.Sprint(parent, i), ended(everything(), history.ExecutionSucceeded)))
	}
	for _, p := range reader.Read(events[5:7]) {
		if p.Metric == retrymetrics.UnpairedEvents {
			t.Errorf("the execution that is open was forgotten: %+v", p)
		}
	}
}

func TestRecordsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "null", "{}", `{"id":1}`, `{"id":"x","execution_arn":"a"}`, `{"id":"1"}`} {
		if _, err := retrymetrics.ParseRecord([]byte(text)); err == nil {
			t.Errorf("%q is taken for a record", text)
		}
	}
}

// TestRefusedFilesAreToldFromFailures checks that an execution that fails because of its file counts as failed and as
// refused.
func TestRefusedFilesAreToldFromFailures(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]float64{
		"CSVHeaderInvalid": 1, "CSVFileChanged": 1, "ValidationError": 1, "ToleratedFailurePercentageExceeded": 1,
		"AggregateMismatch": 0, "States.Runtime": 0, "": 0,
	} {
		var c retrymetrics.Collector
		c.Add("arn:aws:states:us-east-1:123456789012:execution:m:x", []history.Event{{ID: 1,
			Type: history.ExecutionFailed, More: &history.Details{Failure: history.Failure{Name: name}}}})
		found := map[string]float64{}
		for _, p := range c.Points() {
			found[p.Metric.Name()] = p.Values[0]
		}
		if found["ExecutionsFailed"] != 1 || found["ExecutionsRefused"] != refused {
			t.Errorf("%q: %v", name, found)
		}
	}
}
