package analysis_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"stepback/adaptive/analysis"
	"stepback/engine/durable"
)

// The steps of a durable function are tasks: a retry is an attempt of the same task, and a step that asks to be
// repeated without an error begins another one.
func TestStepsAreTasks(t *testing.T) {
	t.Parallel()
	var texts []json.RawMessage
	if err := json.Unmarshal([]byte(`[
		{"EventType":"ExecutionStarted","EventId":1,"EventTimestamp":1000,"Id":"x","ExecutionStartedDetails":{"Input":{},"ExecutionTimeout":60}},
		{"EventType":"StepStarted","EventId":2,"EventTimestamp":1000,"Id":"s","Name":"charge","StepStartedDetails":{}},
		{"EventType":"StepFailed","EventId":3,"EventTimestamp":1001,"Id":"s","Name":"charge","StepFailedDetails":{"Error":{"Payload":{"ErrorType":"Busy"}},"RetryDetails":{"CurrentAttempt":1,"NextAttemptDelaySeconds":3}}},
		{"EventType":"StepStarted","EventId":4,"EventTimestamp":1001,"Id":"w","Name":"ready","StepStartedDetails":{}},
		{"EventType":"StepSucceeded","EventId":5,"EventTimestamp":1002,"Id":"w","Name":"ready","StepSucceededDetails":{"Result":{},"RetryDetails":{"CurrentAttempt":1,"NextAttemptDelaySeconds":1}}},
		{"EventType":"InvocationCompleted","EventId":6,"EventTimestamp":1002,"InvocationCompletedDetails":{"StartTimestamp":1000,"EndTimestamp":1002,"RequestId":"r","Error":{}}},
		{"EventType":"StepStarted","EventId":7,"EventTimestamp":1004,"Id":"s","Name":"charge","StepStartedDetails":{}},
		{"EventType":"StepSucceeded","EventId":8,"EventTimestamp":1005,"Id":"s","Name":"charge","StepSucceededDetails":{"Result":{},"RetryDetails":{"CurrentAttempt":2}}},
		{"EventType":"StepStarted","EventId":9,"EventTimestamp":1005,"Id":"w","Name":"ready","StepStartedDetails":{}},
		{"EventType":"StepFailed","EventId":10,"EventTimestamp":1006,"Id":"w","Name":"ready","StepFailedDetails":{"Error":{"Payload":{"ErrorType":"Gone"}},"RetryDetails":{"CurrentAttempt":2}}},
		{"EventType":"StepStarted","EventId":11,"EventTimestamp":1006,"Id":"n","Name":"note","StepStartedDetails":{}},
		{"EventType":"ExecutionStopped","EventId":12,"EventTimestamp":1007,"Id":"x","ExecutionStoppedDetails":{"Error":{}}}]`), &texts); err != nil {
		t.Fatal(err)
	}
	events, err := durable.ParseEvents(texts)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	c := analysis.Collector{Each: func(task *analysis.Task) {
		line := fmt.Sprintf("%s %s %v:", task.Callee, task.State, task.Ending)
		for _, a := range task.Attempts {
			line += fmt.Sprintf(" %d-%d %s", a.Start.Unix(), a.End.Unix(), a.Error)
		}
		got = append(got, line)
	}}
	c.AddHistory(analysis.Execution{ARN: "arn", Ended: true}, events)
	want := []string{
		fmt.Sprintf("step ready ready %v: 1001-1002 ", analysis.Done),
		fmt.Sprintf("step charge charge %v: 1000-1001 Busy 1004-1005 ", analysis.Done),
		fmt.Sprintf("step ready ready %v: 1005-1006 Gone", analysis.GivenUp),
		fmt.Sprintf("step note note %v: 1006--62135596800 ", analysis.Cut),
	}
	if len(got) != len(want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	seen := map[string]bool{}
	for _, line := range got {
		seen[line] = true
	}
	for _, line := range want {
		if !seen[line] {
			t.Errorf("%q lacks %q", got, line)
		}
	}
	o := analysis.DefaultOptions()
	o.MemoryMB = 0 // the price of the operation alone
	r, err := c.Analyze(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Classes {
		if x := &r.Classes[i]; x.State == "charge" && (x.Error != "Busy" || x.Recovered != 1 || math.Abs(x.USD-8e-6) > 1e-12) {
			t.Errorf("%+v", x)
		}
	}
	if len(r.Classes) != 2 {
		t.Errorf("%+v", r.Classes)
	}
}
