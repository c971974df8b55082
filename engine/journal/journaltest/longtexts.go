package journaltest

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// LongFirst returns the first step of an execution with a long input, which two of its events have, and another long
// text.
func LongFirst(x *journal.Execution) *journal.Record {
	x.Input = `{"a":"` + strings.Repeat("long ", 2000) + `"}`
	r := First(x)
	r.History = append(r.History,
		history.Event{ID: 2, Previous: 1, Type: history.TaskStateEntered, Name: "T", Data: x.Input, Time: start.UnixNano()},
		history.Event{ID: 3, Previous: 2, Type: history.TaskScheduled, Data: `{"Payload":` + x.Input + `}`,
			Time: start.UnixNano(), More: &history.Details{Resource: "invoke"}})
	x.FirstStep = int64(len(r.History))
	return r
}

// longTexts follows executions with long texts from the first step to the end, through a redrive and to the next end.
func longTexts(t *testing.T, j journal.Journal) {
	x, once := Begun("arn:1"), Begun("arn:2")
	first := LongFirst(x)
	Commit(t, j, first)
	step := journal.Step{Signals: first.Signals, History: first.History}
	check := func(want ...journal.Step) {
		t.Helper()
		open := all(t, j.Unfinished(t.Context(), ""))
		if len(open) != 1 || !reflect.DeepEqual(open[0].Execution, x) || !reflect.DeepEqual(open[0].Steps, want) {
			t.Errorf("unfinished: %+v", open)
		}
		if got, err := j.Execution(t.Context(), "arn:1"); err != nil || !reflect.DeepEqual(got, x) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	ended := func(r *journal.Record) {
		t.Helper()
		Commit(t, j, r)
		if got, err := j.Execution(t.Context(), r.Execution.ARN); err != nil || !reflect.DeepEqual(got, r.Execution) {
			t.Errorf("%+v, %v", got, err)
		}
		if h, err := j.History(t.Context(), r.Execution.ARN); err != nil || !reflect.DeepEqual(h, r.All) {
			t.Errorf("%+v, %v", h, err)
		}
	}
	check(step)
	Commit(t, j, Second(x))
	check(step, journal.Step{Signals: Second(x).Signals, History: Second(x).History})
	last := Last(x, history.Failed)
	last.All = slices.Concat(first.History, Second(x).History, last.History)
	x.HistorySize = int64(len(last.All))
	ended(last)
	redrive := Redrive(x)
	redrive.Past.History = last.All
	Commit(t, j, redrive)
	check(redrive.Past.Step, journal.Step{Signals: redrive.Signals, History: redrive.History})
	over := Last(x, history.Succeeded)
	over.All = slices.Concat(redrive.Past.History, redrive.History, over.History)
	ended(over)

	one := LongFirst(once)
	whole := Last(once, history.Succeeded)
	whole.Begin, whole.Step, whole.History = true, 0, append(one.History, whole.History...)
	whole.All, once.FirstStep = whole.History, int64(len(whole.History))
	ended(whole)
	if executions := all(t, j.Executions(t.Context(), "")); len(executions) != 2 || executions[0].Input != x.Input ||
		executions[1].Input != once.Input {
		t.Errorf("%+v", executions)
	}
}
