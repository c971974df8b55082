package stepfunctions_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// wire sends plain HTTP requests to a server, as an account in us-east-1.
type wire struct {
	url, account string
}

// post sends a body to an operation.
func (w wire) post(t *testing.T, operation, body string, header ...string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	if w.account != "" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+w.account+
			"/20260101/us-east-1/states/aws4_request, SignedHeaders=host, Signature=0")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// call sends parameters as JSON and returns the response.
func (w wire) call(t *testing.T, operation string, parameters map[string]any) map[string]any {
	t.Helper()
	body, err := json.Marshal(parameters)
	if err != nil {
		t.Fatal(err)
	}
	_, text := w.post(t, operation, string(body))
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%s: %s: %v", operation, text, err)
	}
	return answer
}

// refusal returns the code and the start of the message of an error response.
func refusal(answer map[string]any) string {
	const enough = 160
	code, _ := answer["__type"].(string)
	message, _ := answer["message"].(string)
	return code + ": " + message[:min(len(message), enough)]
}

// machine creates a state machine and returns its ARN.
func (w wire) machine(t *testing.T, name, definition string) string {
	t.Helper()
	a := w.call(t, "CreateStateMachine", map[string]any{"name": name, "definition": definition, "roleArn": role})
	arn, ok := a["stateMachineArn"].(string)
	if !ok {
		t.Fatal(a)
	}
	return arn
}

// run starts an execution and returns its outcome.
func (w wire) run(t *testing.T, machine, input string) map[string]any {
	t.Helper()
	a := w.call(t, "StartExecution", map[string]any{"stateMachineArn": machine, "input": input})
	if a["executionArn"] == nil {
		return a
	}
	for {
		d := w.call(t, "DescribeExecution", map[string]any{"executionArn": a["executionArn"]})
		if d["status"] != "RUNNING" {
			return d
		}
	}
}
