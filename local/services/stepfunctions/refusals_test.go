package stepfunctions_test

import (
	"strings"
	"testing"

	"stepback/local/services/stepfunctions/wiretest"
)

// TestRefusals sends requests that each break a rule of one operation.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	machine := w.Machine(t, "m", `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"L","End":true,"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}}}}`)
	labelled := machine + "/L"
	const unlabelled = "ValidationException: This operation does not support labeled state machine ARNs: "
	routes := []any{map[string]any{"stateMachineVersionArn": machine + ":1", "weight": 100}}
	const notAnAlias = "ValidationException: 1 validation error detected: Value '"
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
		{"UpdateStateMachine", map[string]any{"stateMachineArn": labelled, "roleArn": wiretest.Role}, unlabelled},
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
		{"CreateStateMachineAlias", map[string]any{"name": "7", "routingConfiguration": routes}, notAnAlias},
		{"CreateStateMachineAlias", map[string]any{"name": "two words", "routingConfiguration": routes}, notAnAlias},
		{"CreateStateMachineAlias", map[string]any{"name": "!x", "routingConfiguration": routes}, notAnAlias},
		{"CreateStateMachineAlias", map[string]any{"name": "x@", "routingConfiguration": routes}, notAnAlias},
		{"ListStateMachines", map[string]any{"maxResults": 1001},
			"ValidationException: 1 validation error detected: Value '1001' at 'maxResults'"},
		{"ListStateMachines", map[string]any{"nextToken": "t"}, "InvalidToken: Invalid Token: 'Invalid token'"},
	} {
		if got := wiretest.Refusal(w.Call(t, c.operation, c.request)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %v: %s\nwant %s", c.operation, c.request, got, c.want)
		}
	}
	if d := w.Call(t, "DescribeStateMachine", map[string]any{"stateMachineArn": labelled}); d["label"] != "L" ||
		d["stateMachineArn"] != labelled {
		t.Error(d)
	}
	if d := w.Call(t, "ListStateMachines", map[string]any{"maxResults": 0}); len(d["stateMachines"].([]any)) != 1 {
		t.Error(d)
	}
}
