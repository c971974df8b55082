package executions_test

import (
	"testing"

	"stepback/local/services/stepfunctions/wiretest"
)

// TestRepeatedStarts starts executions with names that have already been used.
func TestRepeatedStarts(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	running, ended := w.Machine(t, "running", wiretest.Waiting), w.Machine(t, "ended", wiretest.Pass)
	start := func(machine, name, input string) map[string]any {
		return w.Call(t, "StartExecution", map[string]any{"stateMachineArn": machine, "name": name, "input": input})
	}
	first := start(running, "x", `{"a":1}`)
	if again := start(running, "x", `{"a":1}`); again["executionArn"] != first["executionArn"] ||
		again["startDate"] != first["startDate"] {
		t.Errorf("%v and %v", first, again)
	}
	const exists = "ExecutionAlreadyExists: Execution Already Exists: 'arn:aws:states:us-east-1:123456789012:execution:"
	if got := wiretest.Refusal(start(running, "x", `{"a":2}`)); got != exists+"running:x'" {
		t.Error(got)
	}
	x := start(ended, "x", "{}")
	for w.Call(t, "DescribeExecution", map[string]any{"executionArn": x["executionArn"]})["status"] == "RUNNING" {
	}
	if got := wiretest.Refusal(start(ended, "x", "{}")); got != exists+"ended:x'" {
		t.Error(got)
	}
}
