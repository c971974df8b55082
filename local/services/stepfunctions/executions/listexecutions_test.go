package executions_test

import (
	"fmt"
	"slices"
	"testing"

	"stepback/local/services/stepfunctions/wiretest"
)

// TestPagesOfExecutions pages through executions while some of them end and others start.
func TestPagesOfExecutions(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	machine := w.Machine(t, "m", wiretest.Waiting)
	start := func(name string) any {
		return w.Call(t, "StartExecution", map[string]any{"stateMachineArn": machine, "name": name})["executionArn"]
	}
	var want []string
	var arns []any
	for i := range 7 {
		name := fmt.Sprint("x", i)
		arns = append(arns, start(name))
		want = append(want, name)
	}
	slices.Reverse(want) // newest first
	request := map[string]any{"stateMachineArn": machine, "statusFilter": "RUNNING", "maxResults": 3}
	var got []string
	for {
		a := w.Call(t, "ListExecutions", request)
		for _, x := range a["executions"].([]any) {
			got = append(got, x.(map[string]any)["name"].(string))
		}
		if len(got) == 3 { // after the first page
			start("late")
			w.Call(t, "StopExecution", map[string]any{"executionArn": arns[1]})
		}
		if a["nextToken"] == nil {
			break
		}
		request["nextToken"] = a["nextToken"]
	}
	want = slices.DeleteFunc(want, func(name string) bool { return name == "x1" })
	if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestChildExecutionsOfALabel lists the child executions of all Map Runs of a distributed Map by the labelled ARN of
// their state machine.
func TestChildExecutionsOfALabel(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	machine := w.Machine(t, "m", `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","End":true,"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}}}}`)
	for range 2 {
		if x := w.Run(t, machine, "[1,2,3]"); x["status"] != "SUCCEEDED" {
			t.Fatal(x)
		}
	}
	for arn, want := range map[string]int{machine: 2, machine + "/L": 6} {
		listed := w.Call(t, "ListExecutions", map[string]any{"stateMachineArn": arn})["executions"].([]any)
		if len(listed) != want {
			t.Errorf("%s has %d executions, want %d", arn, len(listed), want)
		}
		for _, x := range listed {
			if got := x.(map[string]any)["stateMachineArn"]; got != arn {
				t.Errorf("an execution of %s, want %s", got, arn)
			}
		}
	}
	request := map[string]any{"stateMachineArn": machine + "/L", "maxResults": 4}
	first := w.Call(t, "ListExecutions", request)
	request["nextToken"] = first["nextToken"]
	if rest := w.Call(t, "ListExecutions", request)["executions"].([]any); len(rest) != 2 {
		t.Errorf("the second page has %d executions, want 2", len(rest))
	}
}
