package pipeline

import (
	"testing"

	"stepback/engine/history"
	"stepback/engine/journal"
)

// The rows of a running child execution count when the batch or their iteration has decided them, and are left to the
// Map Run when the child ends. The number never decreases.
func TestProgressCountsRowsOfRunningChildren(t *testing.T) {
	t.Parallel()
	var r rowProgress
	child := func(arn string) *journal.Execution {
		return &journal.Execution{Info: history.Info{ARN: arn, MapRunARN: "run", Items: 250}}
	}
	exited := func(output string) history.Event {
		return history.Event{Type: history.TaskStateExited, Name: "ApplyBatch", Data: output}
	}
	done := func(ended, want int64) {
		t.Helper()
		if got := r.done(ended); got != want {
			t.Errorf("%d rows are done, want %d", got, want)
		}
	}
	parent := &journal.Execution{Info: history.Info{ARN: "parent"}}
	r.follow(parent, []history.Event{{Type: history.MapIterationSucceeded}})
	done(0, 0)
	r.follow(child("a"), []history.Event{exited(`{"applied":[[0,246]],"oneByOne":[{"row":247},{"row":248},{"row":249}]}`)})
	done(0, 247)
	r.follow(child("b"), []history.Event{exited(`{"failure":{"Error":"UnexpectedError"}}`)})
	done(0, 247)
	r.follow(child("a"), []history.Event{{Type: history.MapIterationSucceeded}, {Type: history.MapIterationSucceeded}})
	r.follow(child("b"), []history.Event{{Type: history.MapIterationSucceeded}})
	done(0, 250)
	r.follow(child("a"), []history.Event{{Type: history.MapIterationSucceeded}, {Type: history.ExecutionSucceeded}})
	done(0, 250) // before the Map Run has counted it
	done(250, 251)
}
