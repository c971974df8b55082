package local_test

import (
	"errors"
	"strings"
	"testing"

	"stepback/local"
	"stepback/local/services/lambda/functions"
)

// An asynchronous invocation fails, and its record is sent to a queue.
func TestAFailedEventReachesAQueue(t *testing.T) {
	t.Parallel()
	fails := func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: func() error { return errors.New("no such order") }}, nil
	}
	p := open(t, local.Config{BuiltIn: map[string]functions.BuiltIn{"fails": fails}})
	s := stacksOf(t, p)
	call := func(service, operation string, in map[string]any) map[string]any {
		t.Helper()
		out, err := s.try(service, operation, in)
		if err != nil {
			t.Fatal(operation, err)
		}
		return out
	}
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "orders", BuiltIn: "fails",
		Role: "arn:aws:iam::000000000000:role/r"}); err != nil {
		t.Fatal(err)
	}
	queue := call("sqs", "CreateQueue", map[string]any{"QueueName": "failed"})["QueueUrl"]
	call("lambda", "PutFunctionEventInvokeConfig", map[string]any{"FunctionName": "orders", "MaximumRetryAttempts": 0,
		"DestinationConfig": map[string]any{"OnFailure": map[string]any{
			"Destination": "arn:aws:sqs:us-east-1:000000000000:failed"}}})
	call("lambda", "Invoke", map[string]any{"FunctionName": "orders", "InvocationType": "Event", "Payload": "eyJhIjoxfQ=="}) // {"a":1}
	got := call("sqs", "ReceiveMessage", map[string]any{"QueueUrl": queue, "WaitTimeSeconds": 20})
	messages, _ := got["Messages"].([]any)
	if len(messages) != 1 {
		t.Fatalf("received %v", got)
	}
	body, _ := messages[0].(map[string]any)["Body"].(string)
	for _, want := range []string{`"condition":"RetriesExhausted"`, `"approximateInvokeCount":1`, `"requestPayload":{"a":1}`,
		`"functionError":"Unhandled"`, `"errorMessage":"no such order"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the record lacks %s: %s", want, body)
		}
	}
}
