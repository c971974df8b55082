package interpreter_test

import (
	"slices"
	"strings"
	"testing"

	"stepback/engine/internal/interpreter"
)

// TestTheEndCancelsInOrder checks that the effects of an end are the same whenever the same signals are fed.
func TestTheEndCancelsInOrder(t *testing.T) {
	t.Parallel()
	branch := `{"StartAt":"%","States":{"%":{"Type":"Task","Resource":"arn:aws:states:::test:call","TimeoutSeconds":9,"End":true}}}`
	named := func(name string) string { return strings.ReplaceAll(branch, "%", name) }
	w := newWorld(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[`+
		named("A")+`,`+named("B")+`,`+named("C")+`]}}}`, `{}`)
	w.step(interpreter.Signal{Kind: interpreter.Start})
	var r interpreter.Result
	w.x.Step(&interpreter.Signal{Kind: interpreter.Stop, At: epoch}, &r)
	var ids []int64
	for _, f := range r.Effects {
		if f.Kind != interpreter.Finish {
			ids = append(ids, f.ID)
		}
	}
	if want := []int64{-1, 1, 2, 3, 4, 5, 6}; !slices.Equal(ids, want) {
		t.Errorf("cancelled %v, want %v", ids, want)
	}
}
