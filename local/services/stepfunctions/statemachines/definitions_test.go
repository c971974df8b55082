package statemachines_test

import (
	"strings"
	"testing"

	"stepback/local/services/stepfunctions/wiretest"
)

// TestResourcesThatAWSDoesNotHave creates state machines whose tasks call AWS SDK services and actions.
func TestResourcesThatAWSDoesNotHave(t *testing.T) {
	t.Parallel()
	w := wiretest.Wire{URL: wiretest.Server(t)}
	for resource, refused := range map[string]bool{
		"aws-sdk:dynamodb:getItem":          false,
		"aws-sdk:textract:analyzeDocument":  false,
		"aws-sdk:dynamdb:getItem":           true,
		"aws-sdk:dynamodb:getItems":         true,
		"aws-sdk:kinesis:subscribeToShard":  true,
		"aws-sdk:iotfleetwise:listVehicles": false,
	} {
		arn := "arn:aws:states:::" + resource
		got := wiretest.Refusal(w.Call(t, "CreateStateMachine", map[string]any{
			"name": strings.NewReplacer(":", "-").Replace(resource), "roleArn": wiretest.Role,
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
