package stepfunctions

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
)

// BenchmarkStartExecution starts executions that do nothing: reading, checking and answering the request, and the
// engine's start, without a network and a disk.
func BenchmarkStartExecution(b *testing.B) {
	c := clock.Virtual(clock.Real().Now())
	e, err := engine.New(engine.Config{Clock: c, Journal: journal.NewMemory()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close(); c.Close() })
	handler := New(Config{
		Open: func(aws.Scope) (*engine.Engine, error) { return e, nil }, Store: NewMemory(), Now: c.Now,
		Default: aws.Scope{Account: "000000000000", Region: "us-east-1"},
	}).Handler()
	post := func(operation, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
	post("CreateStateMachine", `{"name":"m","roleArn":"arn:aws:iam::000000000000:role/r",`+
		`"definition":"{\"StartAt\":\"P\",\"States\":{\"P\":{\"Type\":\"Pass\",\"End\":true}}}"}`)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		post("StartExecution", fmt.Sprintf(
			`{"stateMachineArn":"arn:aws:states:us-east-1:000000000000:stateMachine:m","name":"e%d","input":"{\"n\":1}"}`, i))
	}
}
