package interpreter_test

import (
	"slices"
	"testing"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
)

// TestOnlyEnteredStatesAreAborted fails a Parallel state while one of its branches is about to enter its second state.
func TestOnlyEnteredStatesAreAborted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"M","States":{"M":{"Type":"Map","ItemsPath":"$.none","Next":"W",
			"ItemProcessor":{"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}}},"W":{"Type":"Wait","Seconds":1,"End":true}}},
		{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"Boom"}}}]}}}`, `{"none":[]}`)
	w.step(interpreter.Signal{Kind: interpreter.Start})
	if slices.ContainsFunc(w.history, func(e history.Event) bool { return e.Type == history.WaitStateAborted }) {
		t.Errorf("state W was never entered:\n%s", w.trace())
	}
	if w.x.Status() != history.Failed {
		t.Errorf("the status is %s", w.x.Status())
	}
}
