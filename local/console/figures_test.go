package console

import (
	"slices"
	"testing"
	"time"

	"stepback/alarms"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/timeline"
)

// charged returns the history of an execution whose only task failed three times with waits of one and two seconds, was
// redriven an hour later, failed again and waits for its next attempt.
func charged() []history.Event {
	call := &history.Details{Resource: "invoke", ResourceType: "lambda"}
	busy := &history.Details{Failure: history.Named("Busy")}
	events := []history.Event{{Type: history.ExecutionStarted}, {Type: history.TaskStateEntered, Name: "Charge"}}
	at := []int{0, 0}
	add := func(second int, typ history.Type, more *history.Details) {
		events, at = append(events, history.Event{Type: typ, More: more}), append(at, second)
	}
	for _, second := range []int{0, 1, 3} {
		add(second, history.TaskScheduled, call)
		add(second, history.TaskFailed, busy)
	}
	add(3, history.ExecutionFailed, busy)
	add(3600, history.ExecutionRedriven, &history.Details{RedriveCount: 1})
	add(3600, history.TaskScheduled, call)
	add(3600, history.TaskFailed, busy)
	for i := range events {
		events[i].ID, events[i].Previous = int64(i+1), int64(i)
		events[i].Time = int64(at[i]) * int64(time.Second)
	}
	return events
}

// A retry counts when it is made, not when it is scheduled; after a redrive, the attempts that are shown are those
// since the redrive.
func TestFiguresOfAnExecution(t *testing.T) {
	t.Parallel()
	all := charged()
	failed := timeline.Read(all[:9])
	if n := failed.Visits[0].Retries(); n != 2 {
		t.Errorf("%d retries, want 2", n)
	}
	at := failedAt(failed)
	if at.Attempts != 3 || at.Before != 0 || len(at.Waits) != 2 {
		t.Errorf("%+v, want 3 attempts and 2 waits", at)
	}
	waiting := timeline.Read(all)
	if n := waiting.Visits[0].Retries(); n != 2 {
		t.Errorf("%d retries while one is scheduled, want 2", n)
	}
	if now := waiting.Now(nil, nil); len(now) != 1 || now[0].Attempt != 1 {
		t.Errorf("%+v, want attempt 1 since the redrive", now)
	}
	over := append(slices.Clone(all), history.Event{ID: 13, Previous: 12, Time: 3600e9, Type: history.ExecutionFailed})
	if at := failedAt(timeline.Read(over)); at.Attempts != 1 || at.Before != 3 || len(at.Waits) != 0 {
		t.Errorf("%+v, want 1 attempt since the redrive, 3 before, no waits", at)
	}
}

// A distributed Map's row has the items of its Map Run.
func TestAMapRunCountsItsItems(t *testing.T) {
	t.Parallel()
	visit := &timeline.Visit{Outcome: timeline.Failed, Items: 12, MapRunARN: "run", Attempts: make([]timeline.Attempt, 1)}
	runs := []MapRunLink{{ARN: "run", Items: journal.Tally{Succeeded: 9, Failed: 2, Pending: 1}}}
	if got := describe(visit, runs); got != "failed, 11 of 12 items" {
		t.Error(got)
	}
	visit.MapRunARN = ""
	if got := describe(visit, nil); got != "failed, 0 of 12 items" {
		t.Error(got)
	}
}

// An alarm that fires in the period that is not over is in ALARM since its first breaching datapoint, whatever the time
// of the page.
func TestSinceDoesNotMove(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 11, 25, 4, 30, 0, 0, time.UTC)
	all := []alarms.Change{{At: first.Add(5 * time.Minute), State: alarms.Alarming, Since: first}}
	for _, later := range []time.Duration{10 * time.Second, 101 * time.Second, 4 * time.Minute, 10 * time.Minute} {
		got := begun(all, 5*time.Minute, first.Add(later))
		if len(got) != 1 || !got[0].Since.Equal(first) || later < 5*time.Minute && !got[0].At.Equal(first) {
			t.Errorf("%s later: %+v", later, got)
		}
	}
}
