package activities_test

import (
	"strings"
	"testing"

	"stepback/local/services/stepfunctions/wiretest"
)

// TestOutputsByToken reports outputs of the maximum size with an activity's task token.
func TestOutputsByToken(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	activity := w.Call(t, "CreateActivity", map[string]any{"name": "a"})["activityArn"].(string)
	machine := w.Machine(t, "m", `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"`+activity+`","End":true}}}`)
	const tooLarge = "ValidationException: 1 validation error detected: Value at 'output' failed to satisfy constraint: Member must have size less than or equal to"
	for output, want := range map[string]string{
		wiretest.Text(wiretest.MaxPayload):     "SUCCEEDED",
		wiretest.Text(wiretest.MaxPayload + 1): tooLarge,
		`{"a":`:                                "InvalidOutput: Invalid Output: 'Unexpected end-of-input within/between Object entries'",
		`"` + strings.Repeat("é", wiretest.MaxPayload/2) + `"`: tooLarge,
	} {
		x := w.Call(t, "StartExecution", map[string]any{"stateMachineArn": machine})["executionArn"]
		task := w.Call(t, "GetActivityTask", map[string]any{"activityArn": activity})
		if got := w.Call(t, "SendTaskSuccess", map[string]any{"taskToken": task["taskToken"],
			"output": output}); len(got) > 0 {
			if !strings.HasPrefix(wiretest.Refusal(got), want) {
				t.Errorf("%.20s…: %s, want %s", output, wiretest.Refusal(got), want)
			}
			continue
		}
		var d map[string]any
		for d == nil || d["status"] == "RUNNING" {
			d = w.Call(t, "DescribeExecution", map[string]any{"executionArn": x})
		}
		if d["status"] != want {
			t.Errorf("%.20s…: %v, want %s", output, d["status"], want)
		}
	}
}
