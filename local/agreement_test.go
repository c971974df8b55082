package local

import (
	"slices"
	"testing"
	"time"

	"stepback/adaptive/analysis"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/timeline"
	"stepback/retrymetrics"
	"stepback/stepbacktest/observed"
)

// failsOnce returns a history of an execution whose task fails with the given type, is retried after three seconds and
// succeeds.
func failsOnce(failed history.Type) []history.Event {
	const resource = "arn:aws:lambda:us-east-1:000000000000:function:f"
	scheduled, succeeded := history.TaskScheduled, history.TaskSucceeded
	switch failed.Task() {
	case history.LambdaFunction:
		scheduled, succeeded = history.LambdaFunctionScheduled, history.LambdaFunctionSucceeded
	case history.Activity:
		scheduled, succeeded = history.ActivityScheduled, history.ActivitySucceeded
	default:
	}
	call := &history.Details{Resource: resource}
	events := []history.Event{
		{Type: history.ExecutionStarted}, {Type: history.TaskStateEntered, Name: "Work"},
		{Type: scheduled, More: call}, {Type: failed, More: &history.Details{Failure: history.Named("Busy")}},
		{Type: scheduled, More: call}, {Type: succeeded}, {Type: history.TaskStateExited, Name: "Work"},
		{Type: history.ExecutionSucceeded},
	}
	for i := range events {
		events[i].ID, events[i].Previous = int64(i+1), int64(i)
		events[i].Time = int64(3 * i * int(time.Second))
	}
	return events
}

// TestEverybodyCountsTheSameAttempts takes, for each type that counts as a failed attempt, a history of a failure, a
// retry and a success. Every reader of histories finds two attempts, one failure and one retry.
func TestEverybodyCountsTheSameAttempts(t *testing.T) {
	t.Parallel()
	type found struct{ Attempts, Failures, Retries int }
	want := found{Attempts: 2, Failures: 1, Retries: 1}
	readers := map[string]func(*testing.T, []history.Event) found{
		"timeline": func(_ *testing.T, events []history.Event) (f found) {
			for _, v := range timeline.Read(events).Visits {
				f.Attempts += len(v.Attempts)
				f.Retries += len(v.Attempts) - 1
				for _, a := range v.Attempts {
					if a.Outcome.Bad() {
						f.Failures++
					}
				}
			}
			return f
		},
		"retrymetrics": func(_ *testing.T, events []history.Event) found {
			var c retrymetrics.Counter
			c.Add(events)
			all := c.Attempts()
			return found{int(all.Started), int(all.Failed), int(c.Tallies()[0].Recovered)}
		},
		"retrymetrics' log reader": func(t *testing.T, events []history.Event) found {
			var r retrymetrics.LogReader
			var records []retrymetrics.Record
			for i := range events {
				text := events[i].AppendLogRecord(nil, "arn:aws:states:us-east-1:0:execution:m:x", 0, false)
				record, err := retrymetrics.ParseRecord(text)
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, record)
			}
			return counted(r.Read(records))
		},
		"analysis": func(t *testing.T, events []history.Event) found {
			var c analysis.Collector
			c.AddHistory(analysis.Execution{ARN: "x", Ended: true}, events)
			r, err := c.Analyze(analysis.DefaultOptions())
			if err != nil {
				t.Fatal(err)
			}
			failures := 0
			for _, task := range c.Failed() {
				for _, a := range task.Attempts {
					if a.Error != "" {
						failures++
					}
				}
			}
			return found{r.Attempts, failures, r.Classes[0].Recovered}
		},
		"observed": func(_ *testing.T, events []history.Event) found {
			waits := observed.Waits(events, "Work")
			if !slices.Equal(waits, []time.Duration{3 * time.Second}) {
				return found{}
			}
			return found{observed.Attempts(events, "Work"), 1, len(waits)}
		},
	}
	for _, failed := range history.FailedTypes() {
		events := failsOnce(failed)
		for name, read := range readers {
			if got := read(t, events); got != want {
				t.Errorf("%s, %s: %+v, want %+v", failed, name, got, want)
			}
		}
		var p Platform
		x := &journal.Execution{}
		x.ARN = "arn:aws:states:us-east-1:000000000000:execution:m:x"
		x.MachineARN = "arn:aws:states:us-east-1:000000000000:stateMachine:m"
		x.Status, x.Stop = history.Succeeded, events[len(events)-1].At()
		p.track(x, nil, false)(events)
		if got := counted(p.Metrics().Points()); got != want {
			t.Errorf("%s, the platform's retry metrics: %+v, want %+v", failed, got, want)
		}
		kind := taskKinds[failed.Task()].counts
		sums := map[string]float64{}
		for of, sum := range p.meter.measured {
			sums[of.name] += sum.Sum
		}
		ended := kind + "Failed"
		if failed.TimedOut() {
			ended = kind + "TimedOut"
		}
		if sums[kind+"Scheduled"] != 2 || sums[ended] != 1 || sums[kind+"Succeeded"] != 1 {
			t.Errorf("%s, AWS/States: %v", failed, sums)
		}
	}
}

// counted adds up what metric data say of attempts.
func counted(points []retrymetrics.Point) (f struct{ Attempts, Failures, Retries int }) {
	for _, p := range points {
		for i, v := range p.Values {
			n := int(v) * int(p.Counts[i])
			switch p.Metric {
			case retrymetrics.TaskAttempts:
				f.Attempts += n
			case retrymetrics.TaskFailures:
				f.Failures += n
			case retrymetrics.RetryAttempts:
				f.Retries += n
			}
		}
	}
	return f
}
