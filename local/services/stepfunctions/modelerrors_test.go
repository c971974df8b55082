package stepfunctions

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
)

const here = "arn:aws:states:us-east-1:000000000000:"

// arns contains ARNs of existing resources, of missing ones, of the wrong kind, and malformed ones.
var arns = []any{
	here + "stateMachine:m", here + "stateMachine:m:1", here + "stateMachine:m:9", here + "stateMachine:m:a",
	here + "stateMachine:m:z",
	here + "stateMachine:m/L", here + "stateMachine:m/L:1", here + "stateMachine:e", here + "stateMachine",
	here + "stateMachine:",
	here + "execution:m:x", here + "execution:m:y", here + "execution:m:x:y", here + "express:e:n:u",
	here + "express:m/L:n:u",
	here + "activity:b", here + "activity:b:1", here + "mapRun:m/L:u", here + "mapRun:m:u", here + "nothing:n",
	"arn:", "arn:aws:sqs:us-east-1:000000000000:q", "arn:aws:states:eu-west-1:000000000000:stateMachine:m", "x", "",
	" ",
	strings.Repeat("a", 257), nil, 5,
}

// otherMembers holds the members that requests need besides ARNs.
var otherMembers = map[string]any{
	"name": "n", "definition": `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`, "taskToken": "t",
	"output": "1", "tagKeys": []string{"k"},
	"tags": []any{map[string]string{"key": "k"}}, "maxConcurrency": 1, "description": "d", "roleArn": here + "r",
	"routingConfiguration": []any{map[string]any{"stateMachineVersionArn": here + "stateMachine:m:1", "weight": 100}},
}

// TestErrorsAreDeclared calls every operation with all sorts of ARNs: every error must be one that the model declares
// for the operation.
func TestErrorsAreDeclared(t *testing.T) {
	t.Parallel()
	m := model.MustFind("sfn")
	ask := asker(t)
	ask("CreateStateMachine", map[string]any{"name": "m", "definition": otherMembers["definition"], "roleArn": here + "r",
		"publish": true})
	ask("CreateStateMachine", map[string]any{"name": "e", "definition": otherMembers["definition"], "roleArn": here + "r",
		"type": "EXPRESS"})
	ask("CreateStateMachineAlias", map[string]any{"name": "a", "routingConfiguration": otherMembers["routingConfiguration"]})
	ask("StartExecution", map[string]any{"stateMachineArn": here + "stateMachine:m", "name": "x"})
	for _, name := range m.Operations() {
		o, err := m.Operation(name)
		if err != nil {
			t.Fatal(err)
		}
		declared := []string{"ValidationException", "SerializationException", "UnknownOperationException"}
		for _, e := range o.Errors {
			declared = append(declared, e.Name)
		}
		for _, input := range o.Input.Members {
			member := input.Name
			if !strings.HasSuffix(member, "Arn") ||
				strings.HasPrefix(name, "Delete") { // deleting would affect the other operations
				continue
			}
			for _, arn := range arns {
				request := map[string]any{}
				for _, other := range o.Input.Members {
					if v, ok := otherMembers[other.Name]; ok {
						request[other.Name] = v
					}
				}
				request[member] = arn
				if got := ask(name, request); got != "" && !slices.Contains(declared, got) {
					t.Errorf("%s of %s %v: %s is none of its errors", name, member, arn, got)
				}
			}
		}
	}
}

// asker returns a function that calls an operation of a service and returns the error code.
func asker(t *testing.T) func(operation string, request map[string]any) string {
	t.Helper()
	c := clock.Virtual(clock.Real().Now())
	e, err := engine.New(engine.Config{Clock: c, Journal: journal.NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(); c.Close() })
	handler := New(Config{
		Open: func(aws.Scope) (*engine.Engine, error) { return e, nil }, Store: NewMemory(), Now: c.Now,
		Default: aws.Scope{Account: "000000000000", Region: "us-east-1"},
	}).Handler()
	return func(operation string, request map[string]any) string {
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		var answer struct {
			Type string `json:"__type"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code >= 500 {
			t.Errorf("%s %s: %d %s", operation, body, w.Code, w.Body)
		}
		return answer.Type
	}
}
