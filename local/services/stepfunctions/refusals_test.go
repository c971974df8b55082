package stepfunctions_test

import (
	"strings"
	"testing"
)

// TestRefusals sends requests that each break a rule of one operation.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := wire{url: newServer(t)}
	machine := w.machine(t, "m", `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","End":true,"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}}}}`)
	labelled := machine + "/L"
	const unlabelled = "ValidationException: This operation does not support labeled state machine ARNs: "
	for _, c := range []struct {
		operation string
		request   map[string]any
		want      string
	}{
		{"StartExecution", map[string]any{"stateMachineArn": labelled}, unlabelled},
		{"ListExecutions", map[string]any{"stateMachineArn": machine + "/N"}, "StateMachineDoesNotExist: "},
		{"ListExecutions", map[string]any{"stateMachineArn": machine, "statusFilter": "PENDING_REDRIVE"},
			"ValidationException: "},
		{"DeleteStateMachine", map[string]any{"stateMachineArn": labelled}, unlabelled},
		{"UpdateStateMachine", map[string]any{"stateMachineArn": labelled, "roleArn": role}, unlabelled},
		{"ListExecutions", map[string]any{"stateMachineArn": machine + ":9"}, "StateMachineDoesNotExist: "},
		{"ListStateMachineVersions", map[string]any{"stateMachineArn": machine + ":9"},
			"InvalidArn: Invalid Arn: 'Invalid ARN: "},
		{"DescribeStateMachine", map[string]any{"stateMachineArn": machine + "/N"},
			"StateMachineDoesNotExist: State Machine Does Not Exist: "},
		{
			"CreateActivity", map[string]any{"name": "a",
				"encryptionConfiguration": map[string]any{"type": "CUSTOMER_MANAGED_KMS_KEY"}},
			"InvalidEncryptionConfiguration: Invalid Encryption Configuration: 'kmsKeyId must not be null",
		},
		{
			"UpdateStateMachine",
			map[string]any{"stateMachineArn": machine,
				"encryptionConfiguration": map[string]any{"type": "AWS_OWNED_KEY", "kmsKeyId": "k"}},
			"InvalidEncryptionConfiguration: Invalid Encryption Configuration: 'kmsKeyId and",
		},
		{"ListStateMachines", map[string]any{"maxResults": 1001},
			"ValidationException: 1 validation error detected: Value '1001' at 'maxResults'"},
		{"ListStateMachines", map[string]any{"nextToken": "t"}, "InvalidToken: Invalid Token: 'Invalid token'"},
	} {
		if got := refusal(w.call(t, c.operation, c.request)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %v: %s\nwant %s", c.operation, c.request, got, c.want)
		}
	}
	if d := w.call(t, "DescribeStateMachine", map[string]any{"stateMachineArn": labelled}); d["label"] != "L" ||
		d["stateMachineArn"] != labelled {
		t.Error(d)
	}
	if d := w.call(t, "ListStateMachines", map[string]any{"maxResults": 0}); len(d["stateMachines"].([]any)) != 1 {
		t.Error(d)
	}
}

// TestRepeatedStarts starts executions with names that have already been used.
func TestRepeatedStarts(t *testing.T) {
	t.Parallel()
	w := wire{url: newServer(t)}
	running, ended := w.machine(t, "running", waiting), w.machine(t, "ended", pass)
	start := func(machine, name, input string) map[string]any {
		return w.call(t, "StartExecution", map[string]any{"stateMachineArn": machine, "name": name, "input": input})
	}
	first := start(running, "x", `{"a":1}`)
	if again := start(running, "x", `{"a":1}`); again["executionArn"] != first["executionArn"] ||
		again["startDate"] != first["startDate"] {
		t.Errorf("%v and %v", first, again)
	}
	const exists = "ExecutionAlreadyExists: Execution Already Exists: 'arn:aws:states:us-east-1:123456789012:execution:"
	if got := refusal(start(running, "x", `{"a":2}`)); got != exists+"running:x'" {
		t.Error(got)
	}
	x := start(ended, "x", "{}")
	for w.call(t, "DescribeExecution", map[string]any{"executionArn": x["executionArn"]})["status"] == "RUNNING" {
	}
	if got := refusal(start(ended, "x", "{}")); got != exists+"ended:x'" {
		t.Error(got)
	}
}

// TestOutputsByToken reports outputs of the maximum size with an activity's task token.
func TestOutputsByToken(t *testing.T) {
	t.Parallel()
	w := wire{url: newServer(t)}
	activity := w.call(t, "CreateActivity", map[string]any{"name": "a"})["activityArn"].(string)
	machine := w.machine(t, "m", `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"`+activity+`","End":true}}}`)
	const tooLarge = "ValidationException: 1 validation error detected: Value at 'output' failed to satisfy constraint: Member must have size less than or equal to"
	for output, want := range map[string]string{
		text(kib256):     "SUCCEEDED",
		text(kib256 + 1): tooLarge,
		`{"a":`:          "InvalidOutput: Invalid Output: 'Unexpected end-of-input within/between Object entries'",
		`"` + strings.Repeat("é", kib256/2) + `"`: tooLarge,
	} {
		x := w.call(t, "StartExecution", map[string]any{"stateMachineArn": machine})["executionArn"]
		task := w.call(t, "GetActivityTask", map[string]any{"activityArn": activity})
		if got := w.call(t, "SendTaskSuccess", map[string]any{"taskToken": task["taskToken"],
			"output": output}); len(got) > 0 {
			if !strings.HasPrefix(refusal(got), want) {
				t.Errorf("%.20s…: %s, want %s", output, refusal(got), want)
			}
			continue
		}
		var d map[string]any
		for d == nil || d["status"] == "RUNNING" {
			d = w.call(t, "DescribeExecution", map[string]any{"executionArn": x})
		}
		if d["status"] != want {
			t.Errorf("%.20s…: %v, want %s", output, d["status"], want)
		}
	}
}

// TestResourcesThatAWSDoesNotHave creates state machines whose tasks call AWS SDK services and actions.
func TestResourcesThatAWSDoesNotHave(t *testing.T) {
	t.Parallel()
	w := wire{url: newServer(t)}
	for resource, refused := range map[string]bool{
		"aws-sdk:dynamodb:getItem":          false,
		"aws-sdk:textract:analyzeDocument":  false,
		"aws-sdk:dynamdb:getItem":           true,
		"aws-sdk:dynamodb:getItems":         true,
		"aws-sdk:kinesis:subscribeToShard":  true,
		"aws-sdk:iotfleetwise:listVehicles": false,
	} {
		arn := "arn:aws:states:::" + resource
		got := refusal(w.call(t, "CreateStateMachine", map[string]any{
			"name": strings.NewReplacer(":", "-").Replace(resource), "roleArn": role,
			"definition": `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"` + arn +
				`","Parameters":{},"End":true}}}`,
		}))
		want := ": " // matches no error
		if refused {
			want = "InvalidDefinition: Invalid State Machine Definition: 'SCHEMA_VALIDATION_FAILED: The resource provided " +
				arn + " is not recognized. The val"
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q\nwant %q", resource, got, want)
		}
	}
}
