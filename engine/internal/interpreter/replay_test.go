package interpreter_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/jsonvalue"
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

// long takes some million steps.
const long = `{% $sum([1..60000].($ % 7)) %}`

// TestInterruptedEvaluations interrupts the evaluations of states of many kinds, each at its n-th poll, and stops the
// execution. Its history ends with the abort. A redrive repeats the state. A replay of the signals, in their stored
// form, gives the same history.
func TestInterruptedEvaluations(t *testing.T) {
	t.Parallel()
	task := `"Type":"Task","Resource":"arn:aws:states:::test:call"`
	for name, state := range map[string]string{
		"Pass":           `"Type":"Pass","Output":"` + long + `"`,
		"Assign":         `"Type":"Pass","Assign":{"a":"{% 1 %}","b":"` + long + `"}`,
		"Choice":         `"Type":"Choice","Choices":[{"Condition":"{% $sum([1..60000].($ % 7)) > 0 %}","Next":"Z"}]`,
		"Arguments":      task + `,"Arguments":{"a":"` + long + `"}`,
		"task's output":  task + `,"TimeoutSeconds":99,"Output":"` + long + `"`,
		"catcher":        task + `,"Arguments":{"fail":true},"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Z","Output":"` + long + `"}]`,
		"Wait":           `"Type":"Wait","Seconds":"` + long + `"`,
		"Map's items":    `"Type":"Map","Items":"{% [1..60000] ~> $filter(function($v){$v < 4}) %}","ItemProcessor":{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`,
		"Map's selector": `"Type":"Map","Items":[1,2],"ItemSelector":{"a":"` + long + `"},"ItemProcessor":{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`,
		"branch":         `"Type":"Parallel","Branches":[{"StartAt":"X","States":{"X":{` + task + `,"End":true}}},{"StartAt":"Y","States":{"Y":{"Type":"Pass","End":true,"Output":"` + long + `"}}}]`,
		"path":           `"Type":"Pass","Parameters":{"n.$":"$..[?(@.x == 1)].x"}`,
		"intrinsic":      `"Type":"Pass","Parameters":{"n.$":"States.ArrayLength($..[?(@.x == 1)])"}`,
	} {
		if name != "Choice" {
			state += `,"Next":"Z"`
		}
		language := "JSONata"
		if strings.Contains(state, "Parameters") {
			language = "JSONPath"
		}
		definition := `{"QueryLanguage":"` + language + `","StartAt":"A","States":{"A":{"Type":"Pass","Next":"S"},"S":{` + state +
			`},"Z":{"Type":"Pass","End":true}}}`
		input := `{"list":[` + strings.Repeat(`{"x":1},{"y":[2,{"x":3}]},`, 5000) + `0]}`
		for _, n := range []int{1, 7} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				interruptedAt(t, definition, input, n)
			})
		}
	}
}

func interruptedAt(t *testing.T, definition, input string, n int) {
	t.Helper()
	w := newWorld(t, definition, input)
	w.answer = func(c *interpreter.TaskCall) interpreter.Signal {
		if strings.Contains(c.Parameters, "fail") {
			return interpreter.Signal{Kind: interpreter.TaskFailed, Failure: history.NewFailure("Oops", "")}
		}
		return interpreter.Signal{Kind: interpreter.TaskSucceeded, Output: jsonvalue.TextDocument(`{}`)}
	}
	polls := 0
	w.x.Interrupt(func() bool { polls++; return polls == n })
	w.run(t)
	if !w.x.Interrupted() {
		t.Fatalf("no evaluation was interrupted: %d polls, %s", polls, w.x.Status())
	}
	before := len(w.history)
	w.step(interpreter.Signal{Kind: interpreter.TaskHeartbeat, ID: 1}) // has no effect any more
	w.step(interpreter.Signal{Kind: interpreter.Stop})
	if got := w.history[before:]; len(got) != 1 || got[0].Type != history.ExecutionAborted || w.x.Interrupted() {
		t.Fatalf("after the stop: %v", got)
	}
	w.queue = nil
	w.x.Interrupt(nil)
	w.step(interpreter.Signal{Kind: interpreter.Redrive})
	w.finish(t)
	if w.x.Status() != history.Succeeded {
		t.Errorf("the redriven execution is %s: %v", w.x.Status(), w.x.Failure())
	}

	signals, _, err := interpreter.DecodeSignals(interpreter.AppendSignals(nil, w.signals))
	if err != nil {
		t.Fatal(err)
	}
	again := newWorld(t, definition, input)
	var r interpreter.Result
	for i := range signals {
		again.x.Step(&signals[i], &r)
	}
	a, b := history.AppendBinary(nil, w.history, nil), history.AppendBinary(nil, r.History, nil)
	if string(a) != string(b) {
		t.Errorf("the replay has %d events, the execution %d", len(r.History), len(w.history))
	}
}

// TestTheEndOfAMapRunInterruptsItsSelector evaluates an ItemSelector whose Map Run has ended, and then one whose Map
// Run continues.
func TestTheEndOfAMapRunInterruptsItsSelector(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"QueryLanguage":"JSONata","StartAt":"M","States":{"M":{"Type":"Map","End":true,"Items":[1],
		"ItemSelector":{"a":"`+long+`"},"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
		"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}}}}`, `{}`)
	w.mapRun = func(c *interpreter.MapRunCall) interpreter.Signal {
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := c.Select(ended, 0, c.Items[0], "", ""); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
		if v, err := c.Select(t.Context(), 0, c.Items[0], "", ""); err != nil || v.JSON() != `{"a":179997}` {
			t.Errorf("%s, %v", v.JSON(), err)
		}
		return interpreter.Signal{Kind: interpreter.MapRunSucceeded, Output: jsonvalue.TextDocument(`[]`)}
	}
	w.run(t)
}
