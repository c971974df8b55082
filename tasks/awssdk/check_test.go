package awssdk_test

import (
	"strings"
	"testing"

	"stepback/engine"
	"stepback/tasks/awssdk"
)

func TestCheckParameters(t *testing.T) {
	t.Parallel()
	all, start := awssdk.Integrations(&awssdk.Caller{Account: "123456789012", Region: "us-east-1"})
	all.Handle("states", "startExecution", start)
	for name, c := range map[string]struct{ service, action, parameters, want string }{
		"unknown member": {"aws-sdk:sqs", "sendMessage", `{"QueueUrl":"q","messageBody":"x"}`,
			`[The field "messageBody" is not supported by Step Functions]`},
		"wrong type": {"aws-sdk:sqs", "receiveMessage", `{"QueueUrl":1}`,
			`[The value for the field 'QueueUrl' must be a STRING]`},
		"optimized": {"sqs", "sendMessage", `{"QueueUrl":"q","MessageBody":"x","Foo":1}`,
			`[The field "Foo" is not supported by Step Functions]`},
		"nested execution": {
			"states", "startExecution", `{"StateMachineArn":"a","Name":5}`,
			`[The value for the field 'Name' must be a STRING]`,
		},
		"any JSON is text":    {"sqs", "sendMessage", `{"QueueUrl":"q","MessageBody":{"a":1}}`, ""},
		"events with details": {"events", "putEvents", `{"Entries":[{"Detail":{"a":1},"Source":"s"}]}`, ""},
		"a member is missing": {"sqs", "sendMessage", `{"QueueUrl":"q"}`,
			`[The field "MessageBody" is required but was missing]`},
		"two members are missing": {"aws-sdk:dynamodb", "putItem", `{}`,
			`[The field "TableName" is required but was missing, The field "Item" is required but was missing]`},
		"a null for a member":        {"aws-sdk:dynamodb", "getItem", `{"TableName":null,"Key":{}}`, ""},
		"an action that there isn't": {"aws-sdk:sqs", "options", `{"Foo":1}`, ""},
		"a service that there isn't": {"aws-sdk:nope", "call", `{"Foo":1}`, ""},
	} {
		in := all.Handler(c.service, c.action)
		checker, ok := in.(engine.ParameterChecker)
		if !ok {
			t.Fatalf("%s: %T does not check", name, in)
		}
		got := ""
		if err := checker.CheckParameters(&engine.Task{Service: c.service, Action: c.action,
			Parameters: c.parameters}); err != nil {
			got = err.Error()
		}
		want := ""
		if c.want != "" {
			want = "States.Runtime: The Parameters '" + c.parameters + "' could not be used to start the Task: " +
				c.want
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, strings.TrimSpace(want))
		}
	}
}
