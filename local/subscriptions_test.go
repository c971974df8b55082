package local_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/local"
	"stepback/local/services/lambda/functions"
)

// A function receives the events of a log group through a subscription made with the API.
func TestAFunctionSubscribesToLogs(t *testing.T) {
	t.Parallel()
	type event struct{ AWSLogs struct{ Data []byte } }
	came := make(chan event, 1)
	p := open(t, local.Config{Clock: clock.Virtual(time.Now()), BuiltIn: map[string]functions.BuiltIn{
		"listen": func(functions.Surroundings) (functions.Program, error) {
			return functions.Program{Handler: func(e event) error { came <- e; return nil }}, nil
		}}})
	err := p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "listen", BuiltIn: "listen", Role: role})
	if err != nil {
		t.Fatal(err)
	}
	s := stacksOf(t, p)
	if _, err = s.try("cloudwatchlogs", "CreateLogGroup", map[string]any{"logGroupName": "others"}); err != nil {
		t.Fatal(err)
	}
	_, err = s.try("cloudwatchlogs", "PutSubscriptionFilter", map[string]any{"logGroupName": "others", "filterName": "f",
		"filterPattern": "", "destinationArn": p.Scope.ARN("lambda", "function:gone")})
	if want := "Could not execute the lambda function. Make sure you have given CloudWatch Logs permission to execute your " +
		"function."; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a missing function: %v", err)
	}
	for _, call := range []struct {
		operation string
		in        map[string]any
	}{
		{"CreateLogGroup", map[string]any{}},
		{"CreateLogStream", map[string]any{"logStreamName": "s"}},
		{"PutSubscriptionFilter", map[string]any{"filterName": "f", "filterPattern": "ERROR",
			"destinationArn": p.Scope.ARN("lambda", "function:listen")}},
		{"PutLogEvents", map[string]any{"logStreamName": "s", "logEvents": []any{
			map[string]any{"timestamp": time.Now().UnixMilli(), "message": "ERROR: no such row"}}}},
	} {
		call.in["logGroupName"] = "orders"
		if _, err := s.try("cloudwatchlogs", call.operation, call.in); err != nil {
			t.Fatal(call.operation, err)
		}
	}
	r, err := gzip.NewReader(bytes.NewReader((<-came).AWSLogs.Data))
	if err != nil {
		t.Fatal(err)
	}
	var data json.RawMessage
	if err := json.NewDecoder(r).Decode(&data); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"logGroup":"orders"`, `"message":"ERROR: no such row"`, `"subscriptionFilters":["f"]`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in %s", want, data)
		}
	}
}
