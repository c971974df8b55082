// Package journaltest is the one test suite that every journal must pass.
package journaltest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/interpreter"
	"stepback/engine/journal"
)

// Run tests the journals that open makes; each call must return a fresh, empty one.
func Run(t *testing.T, open func(t *testing.T) journal.Journal) {
	t.Helper()
	t.Run("what was committed is found", func(t *testing.T) { t.Parallel(); found(t, open(t)) })
	t.Run("what is missing is not found", func(t *testing.T) { t.Parallel(); missing(t, open(t)) })
	t.Run("listing follows a prefix in order", func(t *testing.T) { t.Parallel(); listing(t, open(t)) })
	t.Run("a running execution has no history yet", func(t *testing.T) { t.Parallel(); running(t, open(t)) })
}

func execution(arn string) *journal.Execution {
	return &journal.Execution{
		ARN: arn, Name: "n", MachineARN: "m", Status: interpreter.Running, Input: `{"a":1}`,
		Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func commit(t *testing.T, j journal.Journal, r *journal.Record) {
	t.Helper()
	result := make(chan error, 1)
	j.Commit(r, func(err error) { result <- err })
	if err := <-result; err != nil {
		t.Fatalf("Commit: %v", err)
	}
}

func end(x *journal.Execution) *journal.Record {
	x.Status, x.Output, x.Stop = interpreter.Succeeded, `{"b":2}`, x.Start.Add(time.Second)
	return &journal.Record{Execution: x, End: true, All: []history.Event{
		{ID: 1, Type: history.ExecutionStarted, Data: `{"a":1}`, Time: 1},
		{ID: 2, Previous: 1, Type: history.ExecutionSucceeded, Data: `{"b":2}`, Time: 2},
	}}
}

func found(t *testing.T, j journal.Journal) {
	x := execution("arn:1")
	commit(t, j, &journal.Record{Execution: x, Begin: true})
	rec := end(x)
	commit(t, j, rec)
	got, err := j.Execution(context.Background(), "arn:1")
	if err != nil || !reflect.DeepEqual(got, x) {
		t.Errorf("Execution: %+v, %v; want %+v", got, err, x)
	}
	h, err := j.History(context.Background(), "arn:1")
	if err != nil || !reflect.DeepEqual(h, rec.All) {
		t.Errorf("History: %+v, %v", h, err)
	}
}

func missing(t *testing.T, j journal.Journal) {
	if _, err := j.Execution(context.Background(), "none"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("Execution: %v", err)
	}
	if _, err := j.History(context.Background(), "none"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("History: %v", err)
	}
}

func listing(t *testing.T, j journal.Journal) {
	for _, arn := range []string{"a:2", "a:1", "b:1"} {
		commit(t, j, &journal.Record{Execution: execution(arn), Begin: true})
	}
	var got []string
	for x, err := range j.Executions(context.Background(), "a:") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x.ARN)
	}
	if want := []string{"a:1", "a:2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func running(t *testing.T, j journal.Journal) {
	commit(t, j, &journal.Record{Execution: execution("arn:1"), Begin: true})
	if _, err := j.History(context.Background(), "arn:1"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("History: %v", err)
	}
}
