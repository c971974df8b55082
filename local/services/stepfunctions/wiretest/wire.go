package wiretest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Wire sends plain HTTP requests to a server, as an account in us-east-1.
type Wire struct {
	URL, Account string
}

// Post sends a body to an operation and returns the status and the response.
func (w Wire) Post(t *testing.T, operation, body string, header ...string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	if w.Account != "" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+w.Account+
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

// Call sends parameters as JSON and returns the response.
func (w Wire) Call(t *testing.T, operation string, parameters map[string]any) map[string]any {
	t.Helper()
	body, err := json.Marshal(parameters)
	if err != nil {
		t.Fatal(err)
	}
	_, text := w.Post(t, operation, string(body))
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%s: %s: %v", operation, text, err)
	}
	return answer
}

// Refusal returns the code and the start of the message of an error response.
func Refusal(answer map[string]any) string {
	const enough = 160
	code, _ := answer["__type"].(string)
	message, _ := answer["message"].(string)
	return code + ": " + message[:min(len(message), enough)]
}

// Machine creates a state machine and returns its ARN.
func (w Wire) Machine(t *testing.T, name, definition string) string {
	t.Helper()
	a := w.Call(t, "CreateStateMachine", map[string]any{"name": name, "definition": definition, "roleArn": Role})
	arn, ok := a["stateMachineArn"].(string)
	if !ok {
		t.Fatal(a)
	}
	return arn
}

// Run starts an execution and returns its outcome.
func (w Wire) Run(t *testing.T, machine, input string) map[string]any {
	t.Helper()
	a := w.Call(t, "StartExecution", map[string]any{"stateMachineArn": machine, "input": input})
	if a["executionArn"] == nil {
		return a
	}
	for {
		d := w.Call(t, "DescribeExecution", map[string]any{"executionArn": a["executionArn"]})
		if d["status"] != "RUNNING" {
			return d
		}
	}
}

// Text returns a JSON string with a given length in bytes.
func Text(length int) string { return `"` + strings.Repeat("a", length-2) + `"` }
