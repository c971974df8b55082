package local_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"stepback/internal/outbound"
	"stepback/local"
)

// TestPrivateTargets lets a state machine, a rule and a topic send requests to a server on this machine, which the
// platform refuses.
func TestPrivateTargets(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer server.Close()
	p := open(t, local.Config{Targets: &outbound.Policy{}})
	s := stacksOf(t, p)
	do := func(service, operation string, in map[string]any) map[string]any {
		t.Helper()
		out, err := s.try(service, operation, in)
		if err != nil {
			t.Fatal(operation, err)
		}
		return out
	}
	const refusal = "TargetRefused: 127.0.0.1 is a loopback address, to which no requests are sent; stepback serve --allow-target 127.0.0.1 allows it"
	const role = "arn:aws:iam::000000000000:role/r"
	connection := do("eventbridge", "CreateConnection", map[string]any{"Name": "c", "AuthorizationType": "API_KEY",
		"AuthParameters": map[string]any{"ApiKeyAuthParameters": map[string]any{"ApiKeyName": "k", "ApiKeyValue": "v"}}})["ConnectionArn"].(string)

	machine := do("sfn", "CreateStateMachine", map[string]any{"name": "m", "roleArn": role, "definition": `{"StartAt":"T","States":{"T":{"Type":"Task",` +
		`"Resource":"arn:aws:states:::http:invoke","Parameters":{"ApiEndpoint":"` + server.URL + `/a","Method":"GET",` +
		`"Authentication":{"ConnectionArn":"` + connection + `"}},"End":true}}}`})["stateMachineArn"].(string)
	execution := do("sfn", "StartExecution", map[string]any{"stateMachineArn": machine})["executionArn"].(string)
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Await(t.Context(), execution); err != nil {
		t.Fatal(err)
	}
	if d := do("sfn", "DescribeExecution", map[string]any{"executionArn": execution}); d["status"] != "FAILED" ||
		d["error"] != "States.Http.Socket" || !strings.Contains(d["cause"].(string), refusal) {
		t.Errorf("the execution ended with %v", d)
	}

	destination := do("eventbridge", "CreateApiDestination", map[string]any{"Name": "d", "ConnectionArn": connection,
		"InvocationEndpoint": server.URL + "/b", "HttpMethod": "POST"})["ApiDestinationArn"].(string)
	queue := do("sqs", "CreateQueue", map[string]any{"QueueName": "dead"})["QueueUrl"].(string)
	do("eventbridge", "PutRule", map[string]any{"Name": "r", "EventPattern": `{"source":["shop"]}`})
	do("eventbridge", "PutTargets", map[string]any{"Rule": "r", "Targets": []any{map[string]any{"Id": "t", "Arn": destination, "RoleArn": role,
		"DeadLetterConfig": map[string]any{"Arn": "arn:aws:sqs:us-east-1:000000000000:dead"}}}})
	do("eventbridge", "PutEvents", map[string]any{"Entries": []any{map[string]any{"Source": "shop", "DetailType": "order", "Detail": "{}"}}})
	letters, _ := do("sqs", "ReceiveMessage", map[string]any{"QueueUrl": queue, "WaitTimeSeconds": 20, "MessageAttributeNames": []any{"All"}})["Messages"].([]any)
	if len(letters) != 1 {
		t.Fatalf("%d dead letters, want 1", len(letters))
	}
	attributes := letters[0].(map[string]any)["MessageAttributes"].(map[string]any)
	text := func(name string) any { return attributes[name].(map[string]any)["StringValue"] }
	if text("ERROR_CODE") != "SDK_CLIENT_ERROR" || text("ERROR_MESSAGE") != refusal {
		t.Errorf("the dead letter says %v: %v", text("ERROR_CODE"), text("ERROR_MESSAGE"))
	}

	topic := do("sns", "CreateTopic", map[string]any{"Name": "t"})["TopicArn"].(string)
	do("sns", "Subscribe", map[string]any{"TopicArn": topic, "Protocol": "https", "Endpoint": server.URL + "/c"})
	if n := reached.Load(); n != 0 {
		t.Errorf("the server was reached %d times", n)
	}
}
