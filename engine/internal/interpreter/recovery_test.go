package interpreter_test

import (
	"fmt"
	"slices"
	"testing"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/jsonvalue"
)

// busy contains everything that an execution can wait for.
const busy = `{"StartAt":"P","TimeoutSeconds":900,"States":{"P":{"Type":"Parallel","End":true,"Branches":[
	{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":60,"End":true}}},
	{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::test:call","TimeoutSeconds":30,
		"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":5,"MaxAttempts":2}],"End":true}}},
	{"StartAt":"D","States":{"D":{"Type":"Map","End":true,
		"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}}}}}]}}}`

// TestOutstandingIsWhatWasAskedForAndNotAnswered compares Outstanding after every step with a simple record of the
// effects.
func TestOutstandingIsWhatWasAskedForAndNotAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, busy, `[1,2]`)
	open := map[int64]string{}
	step := func(e interpreter.Signal) {
		t.Helper()
		var r interpreter.Result
		e.At, e.Seed = w.now, 7
		delete(open, e.ID)
		w.x.Step(&e, &r)
		for _, f := range r.Effects {
			switch f.Kind {
			case interpreter.InvokeTask, interpreter.StartMapRun, interpreter.SetTimer:
				open[f.ID] = fmt.Sprint(f.ID, f.Kind, f.At, f.Task, f.MapRun)
			case interpreter.CancelTask, interpreter.CancelTimer, interpreter.CancelMapRun:
				delete(open, f.ID)
			default:
			}
		}
		got := map[int64]string{}
		for _, f := range w.x.Outstanding() {
			got[f.ID] = fmt.Sprint(f.ID, f.Kind, f.At, f.Task, f.MapRun)
		}
		if len(got) != len(open) {
			t.Fatalf("outstanding %v, want %v", got, open)
		}
		for id, want := range open {
			if got[id] != want {
				t.Errorf("outstanding %s, want %s", got[id], want)
			}
		}
	}
	find := func(k interpreter.EffectKind, n int) int64 {
		var ids []int64
		for _, f := range w.x.Outstanding() {
			if f.Kind == k {
				ids = append(ids, f.ID)
			}
		}
		slices.Sort(ids)
		return ids[n]
	}
	step(interpreter.Signal{Kind: interpreter.Start})
	step(interpreter.Signal{Kind: interpreter.TaskFailed, ID: find(interpreter.InvokeTask, 0)})
	w.now = w.now.Add(5e9)
	step(interpreter.Signal{Kind: interpreter.TimerFired, ID: find(interpreter.SetTimer, 2)}) // the retry
	step(interpreter.Signal{Kind: interpreter.TaskSucceeded, ID: find(interpreter.InvokeTask, 0),
		Output: jsonvalue.TextDocument(`1`)})
	step(interpreter.Signal{Kind: interpreter.MapRunSucceeded, ID: find(interpreter.StartMapRun, 0),
		Output: jsonvalue.TextDocument(`[]`)})
	step(interpreter.Signal{Kind: interpreter.TimerFired, ID: find(interpreter.SetTimer, 1)})
	if w.x.Status() != history.Succeeded || len(w.x.Outstanding()) != 0 {
		t.Errorf("%s, outstanding %v", w.x.Status(), w.x.Outstanding())
	}
}

// TestALongLoopIsOutstandingWhileItYields checks that a step which has used up its budget is listed as to be
// continued.
func TestALongLoopIsOutstandingWhileItYields(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"P","States":{"P":{"Type":"Pass","Next":"C"},
		"C":{"Type":"Choice","Choices":[{"Variable":"$.done","IsPresent":true,"Next":"S"}],"Default":"P"},"S":{"Type":"Succeed"}}}`, `{}`)
	w.step(interpreter.Signal{Kind: interpreter.Start})
	if o := w.x.Outstanding(); len(o) != 2 || o[0].Kind != interpreter.SetTimer || !o[0].Background ||
		o[1].Kind != interpreter.Yield {
		t.Errorf("outstanding %v", o)
	}
}
