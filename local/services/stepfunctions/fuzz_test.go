package stepfunctions_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions"
	"stepback/local/services/stepfunctions/wiretest"
)

// FuzzRequests checks that no request causes an internal error, a response that is not JSON, or an error without a
// code.
func FuzzRequests(f *testing.F) {
	const machine = "arn:aws:states:us-east-1:123456789012:stateMachine:m"
	for operation, body := range map[string]string{
		"CreateStateMachine": `{"name":"n","definition":"{\"StartAt\":\"P\",\"States\":{\"P\":{\"Type\":\"Pass\",\"End\":true}}}","roleArn":"arn:aws:iam::123456789012:role/r","tags":[{"key":"k"}]}`,
		"StartExecution":     `{"stateMachineArn":"` + machine + `","input":"{}","name":"x"}`,
		"UpdateStateMachine": `{"stateMachineArn":"` + machine +
			`","loggingConfiguration":{"level":"ALL","destinations":[{}]},"publish":true}`,
		"CreateStateMachineAlias": `{"name":"a","routingConfiguration":[{"stateMachineVersionArn":"` + machine +
			`:1","weight":100}]}`,
		"GetExecutionHistory":            `{"executionArn":"arn:aws:states:us-east-1:123456789012:execution:m:x","maxResults":1,"nextToken":"e30"}`,
		"ListExecutions":                 `{"stateMachineArn":"` + machine + `/L:1","statusFilter":"RUNNING"}`,
		"SendTaskSuccess":                `{"taskToken":"AAAA","output":"1"}`,
		"TestState":                      `{"definition":"{\"Type\":\"Task\",\"Resource\":\"arn:aws:states:::sqs:sendMessage\",\"End\":true}","mock":{"result":"{}"}}`,
		"ValidateStateMachineDefinition": `{"definition":"{","maxResults":100}`,
		"UntagResource":                  `{"resourceArn":"arn:aws:states:us-east-1:123456789012:activity:a","tagKeys":[null]}`,
	} {
		f.Add(operation, body)
	}
	f.Add("0", "0")
	c, store := clock.Real(), stepfunctions.NewMemory()
	e, err := engine.New(engine.Config{Clock: c, Journal: journal.NewMemory(), Account: wiretest.Scope.Account,
		Activity: stepfunctions.HasActivity(store)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { e.Close(); c.Close() })
	handler := stepfunctions.New(stepfunctions.Config{
		Open: func(aws.Scope) (*engine.Engine, error) { return e, nil }, Store: store, Now: c.Now,
		Default: wiretest.Scope,
	}).Handler()
	f.Fuzz(func(t *testing.T, operation, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		defer func() { // so that a looping machine does not slow down later inputs
			if err := e.StopAll(t.Context(), history.Failure{}); err != nil {
				t.Error(err)
			}
		}()
		if ctx.Err() != nil {
			return // it is waiting for a task, an execution or a state
		}
		var answer struct {
			Type string `json:"__type"`
		}
		// 501 is the response for operations that are not served.
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code >= 500 && w.Code != 501 ||
			w.Code != 200 && answer.Type == "" {
			t.Errorf("%d %s %v", w.Code, w.Body, err)
		}
	})
}
