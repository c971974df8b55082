package functiontest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"stepback/engine/durable"
	"stepback/local/functiontest/recording"
)

// Tests are recorded from the executions of other tests, and pass.
func TestRecordedTestsPass(t *testing.T) {
	t.Parallel()
	rows := `function: orders.rows
tests:
  - name: the second row fails once
    input: {rows: [a, b, c]}
    mocks:
      save:
        - {in: map-item-1, error: CardServiceBusy}
        - {in: rows, return: saved, times: always}
    expect: {output: [saved, saved, saved]}
`
	polls := `function: orders.polls
tests: [{name: ready at the third time, mocks: {ready: [{return: 1, times: 2}, {return: 3}]}, expect: {output: 3}}]
`
	pay := `function: pay.handler
tests:
  - {name: paid, input: {id: "7"}, mocks: {charge: {return: 1}, approval: {text: "yes", after: 30m}}, expect: {status: SUCCEEDED}}
  - {name: refused, input: {id: "7"}, mocks: {charge: {return: 1}, approval: {error: Refused, cause: too dear}}, expect: {status: FAILED}}
`
	for _, x := range []struct {
		handler, text string
		code          func(*testing.T) string
	}{{"orders.handler", orders, javaScript}, {"orders.rows", rows, javaScript}, {"orders.polls", polls, javaScript},
		{"pay.handler", pay, python}} {
		dir := x.code(t)
		for _, r := range results(t, parse(t, dir, x.text)) {
			if !r.Passed() {
				t.Fatal(r.Failures)
			}
			var b strings.Builder
			recording := recording.Recording{Name: r.Test.Name, Handler: x.handler, Events: r.Events}
			if err := recording.Write(&b); err != nil {
				t.Fatalf("%s: %v", r.Test.Name, err)
			}
			f, err := parsed(dir, b.String())
			if err != nil {
				t.Fatalf("%s: %v\n%s", r.Test.Name, err, &b)
			}
			if again := results(t, f)[0]; !again.Passed() || len(again.Notes) > 0 {
				t.Errorf("%s: %s %s\n%s", r.Test.Name, strings.Join(again.Failures, "\n"), again.Notes, &b)
			}
		}
	}
}

// A recorded test has what was sent, to the letter.
func TestARecordedTest(t *testing.T) {
	t.Parallel()
	dir := javaScript(t)
	f := parse(t, dir, orders)
	r, err := f.Run(t.Context(), &f.Tests[0])
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	recording := recording.Recording{Name: "order-17", Handler: "orders.handler", Runtime: "nodejs24.x", Code: "dist", Events: r.Events}
	if err := recording.Write(&b); err != nil {
		t.Fatal(err)
	}
	const want = `# Recorded from the durable execution order-17.
function: {handler: "orders.handler", code: "dist", runtime: nodejs24.x}
tests:
  - name: "order-17"
    input: {"id":"17"}
    mocks:
      "reserve":
        - {return: "r-17-1"}
      "price":
        - {return: 42, after: 1h}
      "charge":
        - {error: "CardServiceBusy", cause: "try again", times: 2}
        - {return: {"payment":"p-17"}}
    expect:
      status: SUCCEEDED
      output: {"stock":"r-17-1","price":42,"payment":{"payment":"p-17"}}
      path: ["reserve", "price", "charge", "cool down"]
      attempts: {"charge": 3}
`
	if got := b.String(); got != want {
		t.Errorf("%s", got)
	}
}

func rawEvents(texts ...string) []json.RawMessage {
	all := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		all[i] = json.RawMessage(text)
	}
	return all
}

// Histories from which no test can be written are refused.
func TestHistoriesThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := (&recording.Recording{Name: "x", Handler: "a.b"}).Write(&b); err == nil ||
		!strings.Contains(err.Error(), "does not begin with ExecutionStarted") {
		t.Error(err)
	}
	events, err := durable.ParseEvents(rawEvents(
		`{"EventType":"ExecutionStarted","EventId":1,"EventTimestamp":1,"Id":"e","ExecutionStartedDetails":{"ExecutionTimeout":60,"Input":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := (&recording.Recording{Name: "x", Handler: "a.b", Events: events}).Write(&b); !errors.Is(err, recording.ErrNoData) {
		t.Error(err)
	}
	const started = `{"EventType":"ExecutionStarted","EventId":1,"EventTimestamp":1,"Id":"e","ExecutionStartedDetails":{"ExecutionTimeout":60,"Input":{"Payload":"1"}}}`
	events, err = durable.ParseEvents(rawEvents(started,
		`{"EventType":"StepStarted","EventId":900,"EventTimestamp":1,"Id":"s","StepStartedDetails":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := (&recording.Recording{Name: "x", Handler: "a.b", Events: events}).Write(&b); err == nil ||
		err.Error() != "the history has event 900 after event 1: pass all events of the execution, in their order" {
		t.Error(err)
	}
	events, err = durable.ParseEvents(rawEvents(started,
		`{"EventType":"StepStarted","EventId":2,"EventTimestamp":1,"Id":"s","StepStartedDetails":{}}`,
		`{"EventType":"StepSucceeded","EventId":3,"EventTimestamp":1,"Id":"s","StepSucceededDetails":{"Result":{"Payload":"1"},"RetryDetails":{"CurrentAttempt":1}}}`,
		`{"EventType":"StepStarted","EventId":4,"EventTimestamp":1,"Id":"t","Name":"odd","StepStartedDetails":{}}`,
		`{"EventType":"StepSucceeded","EventId":5,"EventTimestamp":1,"Id":"t","Name":"odd","StepSucceededDetails":{"Result":{"Payload":"<x>"},"RetryDetails":{"CurrentAttempt":1}}}`,
		`{"EventType":"CallbackStarted","EventId":6,"EventTimestamp":1,"Id":"c","Name":"ask","CallbackStartedDetails":{"CallbackId":"x"}}`,
	))
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := (&recording.Recording{Name: "x", Handler: "a.b", Events: events}).Write(&b); err != nil {
		t.Fatal(err)
	}
	const want = `# Recorded from the durable execution x.
function: {handler: "a.b"}
tests:
  - name: "x"
    input: 1
    # The step s has no name, so it runs its own body.
    # A result of the step odd is no JSON, so it runs its own body.
    # The callback ask had not ended: add its response here.
    expect:
      # The execution had not ended by itself; add the expected outcome here.
      never: []
`
	if b.String() != want {
		t.Errorf("%s", &b)
	}
}
