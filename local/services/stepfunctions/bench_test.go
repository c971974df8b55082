package stepfunctions

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/jsonvalue"
	"stepback/local/services/stepfunctions/statemachines"
)

// BenchmarkStartExecution starts executions that do nothing. It measures parsing, validating and answering the
// request and the engine's start, without a network and a disk.
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

// BenchmarkListStateMachines lists a page of the maximum number of state machines per account.
func BenchmarkListStateMachines(b *testing.B) {
	store := NewMemory()
	for i := range 10_000 {
		name := fmt.Sprint("machine-", i)
		if err := store.PutMachine(&statemachines.Machine{
			ARN: "arn:aws:states:us-east-1:000000000000:stateMachine:" + name, Name: name, Type: statemachines.TypeStandard,
			Created: time.Unix(int64(i), 0),
		}); err != nil {
			b.Fatal(err)
		}
	}
	list := New(Config{Store: store, Now: time.Now}).operations()["ListStateMachines"]
	request := &server.Request{
		Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}, Input: jsonvalue.NewObject(0).Value(),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := list.Call(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}
