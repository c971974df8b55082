package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"stepback/retrymetrics"
)

func delivery(t *testing.T, kind string, messages ...string) json.RawMessage {
	t.Helper()
	return deliveryOf(t, "/aws/vendedlogs/states/csv-import", kind, messages...)
}

func deliveryOf(t *testing.T, logGroup, kind string, messages ...string) json.RawMessage {
	t.Helper()
	data := events.CloudwatchLogsData{MessageType: kind, LogGroup: logGroup}
	for _, m := range messages {
		data.LogEvents = append(data.LogEvents, events.CloudwatchLogsLogEvent{Message: m})
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if err := json.NewEncoder(z).Encode(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return raw(t, base64.StdEncoding.EncodeToString(packed.Bytes()))
}

func raw(t *testing.T, packed string) json.RawMessage {
	t.Helper()
	event, err := json.Marshal(events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{Data: packed}})
	if err != nil {
		t.Fatal(err)
	}
	return event
}

func TestALogDeliveryBecomesEMF(t *testing.T) {
	t.Parallel()
	var out, log bytes.Buffer
	h := handler{reader: retrymetrics.LogReader{Level: retrymetrics.LevelError}, out: &out,
		log: slog.New(slog.NewTextHandler(&log, nil))}
	const record = `{"id":"5","type":"TaskFailed","details":{"error":"States.Timeout","resource":"invoke","resourceType":"lambda"},` +
		`"previous_event_id":"4","event_timestamp":"120000","execution_arn":"arn:aws:states:us-east-1:000000000000:execution:csv-import:f","redrive_count":"0"}`
	if err := h.handle(t.Context(), delivery(t, "DATA_MESSAGE", record, "hello")); err != nil {
		t.Fatal(err)
	}
	if err := h.handle(t.Context(), delivery(t, "CONTROL_MESSAGE",
		"CWL CONTROL MESSAGE: Checking health of destination")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"TaskFailures":1`, `"Timeouts":1`, `"ErrorType":"States.Timeout"`,
		`"Timestamp":120000`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out.String())
		}
	}
	if strings.Contains(out.String(), `"State":`) {
		t.Errorf("the record does not tell the state: %s", out.String())
	}
	if n := strings.Count(log.String(), "record skipped"); n != 1 {
		t.Errorf("log: %s", log.String())
	}
	if err := h.handle(t.Context(), raw(t, "?")); err == nil {
		t.Error("a damaged delivery passes")
	}
}

// TestAttemptsThatCannotBeginAreFailures: types that a function never sees count as failed attempts, and what follows
// them as retries.
func TestAttemptsThatCannotBeginAreFailures(t *testing.T) {
	t.Parallel()
	for failed, scheduled := range map[string]string{
		"LambdaFunctionScheduleFailed": "LambdaFunctionScheduled",
		"LambdaFunctionStartFailed":    "LambdaFunctionScheduled",
		"ActivityScheduleFailed":       "ActivityScheduled",
	} {
		var records []string
		for i, typ := range []string{"TaskStateEntered", scheduled, failed, scheduled} {
			records = append(records, fmt.Sprintf(`{"id":"%d","type":"%s","details":{"name":"Work","error":"Busy"},`+
				`"previous_event_id":"%d","event_timestamp":"120000","redrive_count":"0",`+
				`"execution_arn":"arn:aws:states:us-east-1:000000000000:execution:csv-import:f"}`, i+1, typ, i))
		}
		var out bytes.Buffer
		h := handler{out: &out}
		if err := h.handle(t.Context(), delivery(t, "DATA_MESSAGE", records...)); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"TaskAttempts":2`, `"TaskFailures":1`, `"RetryAttempts":1`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %s is not in %s", failed, want, out.String())
			}
		}
	}
}
