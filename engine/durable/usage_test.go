package durable_test

import (
	"encoding/json"
	"testing"
	"time"

	"stepback/engine/durable"
)

// A step that is retried once, a wait, and a chained invoke, in three invocations.
func TestUsageOf(t *testing.T) {
	t.Parallel()
	const text = `[
	{"EventType": "ExecutionStarted", "EventId": 1, "EventTimestamp": 1000, "ExecutionStartedDetails": {"Input": {"Payload": "{\"a\":1}"}}},
	{"EventType": "StepStarted", "EventId": 2, "EventTimestamp": 1000, "Id": "s", "Name": "pay", "StepStartedDetails": {}},
	{"EventType": "StepFailed", "EventId": 3, "EventTimestamp": 1000.5, "Id": "s", "Name": "pay", "StepFailedDetails": {
		"Error": {"Payload": {"ErrorType": "Busy", "ErrorMessage": "later"}}, "RetryDetails": {"CurrentAttempt": 1, "NextAttemptDelaySeconds": 5}}},
	{"EventType": "InvocationCompleted", "EventId": 4, "EventTimestamp": 1001, "InvocationCompletedDetails": {"StartTimestamp": 1000, "EndTimestamp": 1000.75}},
	{"EventType": "StepStarted", "EventId": 5, "EventTimestamp": 1006, "Id": "s", "Name": "pay", "StepStartedDetails": {}},
	{"EventType": "StepSucceeded", "EventId": 6, "EventTimestamp": 1006, "Id": "s", "Name": "pay", "StepSucceededDetails": {"Result": {"Payload": "\"paid\""}}},
	{"EventType": "WaitStarted", "EventId": 7, "EventTimestamp": 1006, "Id": "w", "WaitStartedDetails": {"Duration": 60}},
	{"EventType": "InvocationCompleted", "EventId": 8, "EventTimestamp": 1007, "InvocationCompletedDetails": {"StartTimestamp": 1006, "EndTimestamp": 1006.25}},
	{"EventType": "WaitSucceeded", "EventId": 9, "EventTimestamp": 1066, "Id": "w", "WaitSucceededDetails": {"Duration": 60}},
	{"EventType": "ChainedInvokeStarted", "EventId": 10, "EventTimestamp": 1066, "Id": "i", "ChainedInvokeStartedDetails": {"FunctionName": "f", "Input": {"Payload": "[1]"}}},
	{"EventType": "ChainedInvokeSucceeded", "EventId": 11, "EventTimestamp": 1067, "Id": "i", "ChainedInvokeSucceededDetails": {"Result": {"Payload": "\"long\""}}},
	{"EventType": "InvocationCompleted", "EventId": 12, "EventTimestamp": 1068, "InvocationCompletedDetails": {"StartTimestamp": 1067, "EndTimestamp": 1068}},
	{"EventType": "ExecutionSucceeded", "EventId": 13, "EventTimestamp": 1068, "ExecutionSucceededDetails": {"Result": {"Payload": "\"done\""}}}]`
	var events []json.RawMessage
	if err := json.Unmarshal([]byte(text), &events); err != nil {
		t.Fatal(err)
	}
	got, err := durable.UsageOf(events)
	want := durable.Usage{
		Operations:  5,
		Retries:     1,
		Written:     9 + 6 + 3,
		Invocations: 3,
		Compute:     2 * time.Second,
		Lasted:      68 * time.Second,
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if _, err := durable.UsageOf([]json.RawMessage{[]byte(`{"EventType": 5}`)}); err == nil {
		t.Error("an event that is none is accepted")
	}
}
