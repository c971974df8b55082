package local_test

import (
	"encoding/json"
	"testing"

	"stepback/local"
	"stepback/local/services/lambda/functions"
)

// CloudFormation creates a queue and the mapping that passes its messages to a function, and deletes them again.
func TestAStackMapsAQueueToAFunction(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	notes := func(functions.Surroundings) (functions.Program, error) {
		return functions.Program{Handler: func(in struct {
			Records []struct {
				Body        string `json:"body"`
				EventSource string `json:"eventSource"`
			}
		}) {
			for _, r := range in.Records {
				got <- r.EventSource + " " + r.Body
			}
		}}, nil
	}
	p := open(t, local.Config{BuiltIn: map[string]functions.BuiltIn{"notes": notes}})
	s := stacksOf(t, p)
	call := func(service, operation string, in map[string]any) map[string]any {
		t.Helper()
		out, err := s.try(service, operation, in)
		if err != nil {
			t.Fatal(operation, err)
		}
		return out
	}
	if err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "notes", BuiltIn: "notes",
		Role: "arn:aws:iam::000000000000:role/r"}); err != nil {
		t.Fatal(err)
	}
	template, err := json.Marshal(map[string]any{"Resources": map[string]any{
		"Queue": map[string]any{"Type": "AWS::SQS::Queue", "Properties": map[string]any{"QueueName": "jobs"}},
		"Mapping": map[string]any{"Type": "AWS::Lambda::EventSourceMapping", "Properties": map[string]any{
			"FunctionName": "notes", "BatchSize": 1, "EventSourceArn": map[string]any{"Fn::GetAtt": []any{"Queue", "Arn"}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.call("CreateStack", map[string]any{"StackName": "jobs", "TemplateBody": string(template)})
	if status, reason := s.settled("jobs"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("jobs"))
	}
	url := call("sqs", "GetQueueUrl", map[string]any{"QueueName": "jobs"})["QueueUrl"]
	call("sqs", "SendMessage", map[string]any{"QueueUrl": url, "MessageBody": "hello"})
	if text := <-got; text != "aws:sqs hello" {
		t.Errorf("the function got %q", text)
	}
	s.call("DeleteStack", map[string]any{"StackName": "jobs"})
	if status, reason := s.settled("jobs"); status != "GONE" {
		t.Fatal(status, reason, s.events("jobs"))
	}
	left := call("lambda", "ListEventSourceMappings", nil)["EventSourceMappings"]
	if list, _ := left.([]any); len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
}
