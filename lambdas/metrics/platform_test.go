package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/limiter"
	"stepback/adaptive/shared"
	"stepback/adaptive/shared/dynamostore"
	"stepback/csvimport/circuitlog"
	"stepback/local"
)

// TestAnOpenCircuitIsPublishedFromTheTable reads the circuit and the executions with real clients at the platform.
func TestAnOpenCircuitIsPublishedFromTheTable(t *testing.T) {
	t.Parallel()
	p, err := local.Open(t.Context(), local.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	login := credentials.NewStaticCredentialsProvider("test", "test", "")
	tables := dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: &p.Endpoint, Credentials: login})
	machines := sfn.New(sfn.Options{Region: "us-east-1", BaseEndpoint: &p.Endpoint, Credentials: login})
	if _, err := tables.CreateTable(t.Context(), dynamostore.Table("breakers")); err != nil {
		t.Fatal(err)
	}
	created, err := machines.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("csv-import"), RoleArn: aws.String("arn:aws:iam::000000000000:role/import"),
		Definition: aws.String(`{"StartAt":"Wait","States":{"Wait":{"Type":"Wait","Seconds":86400,"End":true}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	store := &dynamostore.Store{Client: tables, Table: "breakers"}
	var out bytes.Buffer
	h := handler{out: &out, now: time.Now, breakers: store, running: machines,
		machineARN: aws.ToString(created.StateMachineArn)}
	published := func(when string, want int) {
		t.Helper()
		out.Reset()
		if err := h.handle(t.Context(), json.RawMessage(everyTime)); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if got := strings.Count(out.String(), `"CircuitBreakerState":1`); got != want {
			t.Errorf("%s: %d values are published, want %d: %s", when, got, want, out.String())
		}
	}
	published("nothing was ever called", 0)
	next := shared.Record{Version: 1, At: time.Now()}
	next.Breaker.Trip(time.Now())
	if won, err := store.Replace(t.Context(), circuitlog.Database, next, limiter.Tally{}); err != nil || !won {
		t.Fatal(won, err)
	}
	published("nothing runs", 0)
	run, err := machines.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: created.StateMachineArn})
	if err != nil {
		t.Fatal(err)
	}
	published("an execution runs", 1)
	if _, err := machines.StopExecution(
		t.Context(),
		&sfn.StopExecutionInput{ExecutionArn: run.ExecutionArn},
	); err != nil {
		t.Fatal(err)
	}
	published("it was stopped", 0)
}
