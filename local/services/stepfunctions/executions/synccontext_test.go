package executions_test

import (
	"strings"
	"testing"

	"stepback/local/services/stepfunctions/wiretest"
)

// The context object of a synchronous Express execution has no RedriveCount.
func TestContextObjectOfExpressExecutions(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	create := func(name, definition string) any {
		return w.Call(t, "CreateStateMachine", map[string]any{
			"name": name, "definition": definition, "roleArn": "arn:aws:iam::000000000000:role/r", "type": "EXPRESS",
		})["stateMachineArn"]
	}
	asked := create("asked", `{"StartAt":"A","States":{"A":{"Type":"Pass","Parameters":{"x.$":"$$.Execution"},"OutputPath":"$.x","End":true}}}`)
	sync := w.Call(t, "StartSyncExecution", map[string]any{"stateMachineArn": asked})
	if out, _ := sync["output"].(string); !strings.Contains(out, `"StartTime"`) ||
		strings.Contains(out, "RedriveCount") {
		t.Errorf("StartSyncExecution: %v", sync)
	}
	count := create("count", `{"StartAt":"A","States":{"A":{"Type":"Pass","Parameters":{"n.$":"$$.Execution.RedriveCount"},"End":true}}}`)
	sync = w.Call(t, "StartSyncExecution", map[string]any{"stateMachineArn": count})
	if sync["status"] != "FAILED" || sync["error"] != "States.Runtime" {
		t.Errorf("StartSyncExecution: %v", sync)
	}
}
