package pipeline_test

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stepback/csvimport/pipeline"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/retrymetrics"
	"stepback/statemachine"
)

// faultyRun imports 1,000 rows with four faults in virtual time. It returns the log records of the execution and its
// children ordered by time, as Step Functions writes them, and the metrics of the whole histories.
func faultyRun(t *testing.T) ([]retrymetrics.Record, []retrymetrics.Point) {
	t.Helper()
	tr := newTrial(t, "activity.csv", plain(activities(1000, 150)))
	tr.tolerate(100)
	tr.fault(t, "ProcessSingleUserRecord:DatabaseConnectionError:20%", "ProcessSingleUserRecord:throttle:10%",
		"ProcessSingleUserRecord:crash:10%", "ProcessSingleUserRecord:States.Timeout:5%")
	p := tr.open(t)
	defer closed(t, p)
	r := imported(t, p, tr.file, false)
	var records []retrymetrics.Record
	var whole retrymetrics.Collector
	add := func(arn string) {
		events, err := p.Journal().History(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		whole.Add(arn, shortened(events))
		for i := range events {
			record, err := retrymetrics.ParseRecord(events[i].AppendLogRecord(nil, arn, 0, false))
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, record)
		}
	}
	add(r.Execution)
	parent, err := p.Journal().Execution(t.Context(), r.Execution)
	if err != nil {
		t.Fatal(err)
	}
	err = pipeline.Children(t.Context(), p.Journal(), parent, func(x *journal.Execution) error {
		add(x.ARN)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(records, func(a, b retrymetrics.Record) int { return cmp.Compare(a.Time, b.Time) })
	return records, whole.Points()
}

// shortened truncates the times of events to milliseconds, as in a log.
func shortened(events []history.Event) []history.Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].Time -= events[i].Time % 1e6
	}
	return events
}

// read counts retries from deliveries.
func read(t *testing.T, deliveries [][]retrymetrics.Record) string {
	t.Helper()
	reader := retrymetrics.LogReader{ChildState: statemachine.ProcessSingleUserRecord}
	var points []retrymetrics.Point
	for _, d := range deliveries {
		points = append(points, reader.Read(d)...)
	}
	return asJSON(t, retrymetrics.Merge(points))
}

func asJSON(t *testing.T, points []retrymetrics.Point) string {
	t.Helper()
	b, err := json.Marshal(points)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLogOfAFaultyRun shares one run between its subtests.
func TestLogOfAFaultyRun(t *testing.T) {
	t.Parallel()
	records, points := faultyRun(t)
	t.Run("order", func(t *testing.T) { t.Parallel(); inAnyOrder(t, records, points) })
	t.Run("express", func(t *testing.T) { t.Parallel(); asExpress(t, records, points) })
	t.Run("attempts", func(t *testing.T) { t.Parallel(); attemptsPerTask(t, points) })
}

// inAnyOrder reads the log of a real run in deliveries of several sizes, in order, with
// neighbours swapped, shuffled in windows of eight, and with all of this delivered twice.
func inAnyOrder(t *testing.T, records []retrymetrics.Record, points []retrymetrics.Point) {
	t.Helper()
	want := asJSON(t, points)
	retries := 0.0
	for _, p := range points {
		if p.Metric == retrymetrics.RetryAttempts {
			retries += p.Values[0]
		}
	}
	if retries < 300 {
		t.Fatalf("only %v retries: the run shows nothing", retries)
	}
	for _, size := range []int{50, 500, 5000} {
		inOrder := slices.Collect(slices.Chunk(records, size))
		if got := read(t, inOrder); got != want {
			t.Errorf("deliveries of %d in order: the log tells\n%s\nthe histories\n%s", size, got, want)
		}
		swapped := slices.Clone(inOrder)
		for i := 0; i+1 < len(swapped); i += 2 {
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		}
		if read(t, swapped) != want {
			t.Errorf("deliveries of %d with neighbours swapped tell something else", size)
		}
		for seed := range uint64(3) {
			random := rand.New(rand.NewPCG(seed, 0))
			shuffled := slices.Clone(inOrder)
			for window := range slices.Chunk(shuffled, 8) {
				random.Shuffle(len(window), func(i, j int) { window[i], window[j] = window[j], window[i] })
			}
			if read(t, shuffled) != want {
				t.Errorf("deliveries of %d shuffled in windows of 8 (seed %d) tell something else", size, seed)
			}
			if read(t, append(slices.Clone(shuffled), shuffled...)) != want {
				t.Errorf("deliveries of %d that come twice (seed %d) tell something else", size, seed)
			}
		}
	}
}

// asExpress reads the log as EXPRESS children would write it, whose ARNs have a different form, and expects the same
// metrics.
func asExpress(t *testing.T, records []retrymetrics.Record, points []retrymetrics.Point) {
	t.Helper()
	express := slices.Clone(records)
	children := 0
	for i, r := range express {
		parts := strings.Split(r.Execution, ":")
		if machine := parts[6]; parts[5] == "execution" && strings.Contains(machine, "/") {
			parts[5] = "express"
			express[i].Execution = strings.Join(append(parts, "8a0c5a4d-5c1b-4a5e-9d4c-2f4f7a1f6f3a"), ":")
			children++
		}
	}
	if children == 0 {
		t.Fatal("there are no children")
	}
	if got, want := read(t, slices.Collect(slices.Chunk(express, 500))), asJSON(t, points); got != want {
		t.Errorf("the log of EXPRESS children tells\n%s\nthe histories\n%s", got, want)
	}
}

// attemptsPerTask checks every point of the run's attempts per task, its maximum and therefore its mean, against the
// limits of the Retry array.
func attemptsPerTask(t *testing.T, points []retrymetrics.Point) {
	t.Helper()
	tasks, retried := int64(0), false
	for _, p := range points {
		if p.Metric != retrymetrics.AttemptsPerTask {
			continue
		}
		base, ok := retrymetrics.BaseConfiguration(p.Labels.State)
		if !ok {
			t.Fatalf("no configuration of %q", p.Labels.State)
		}
		if most := p.Values[len(p.Values)-1]; most > float64(1+base.Retries) {
			t.Errorf("%s %s: a task took %v attempts, and %d retries are the most", p.Start, p.Labels.State, most,
				base.Retries)
		}
		for i, v := range p.Values {
			tasks += p.Counts[i]
			retried = retried || v > 1
		}
	}
	if tasks < 1000 || !retried {
		t.Errorf("%d tasks, retried: %v", tasks, retried)
	}
}
