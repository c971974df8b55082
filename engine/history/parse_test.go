package history_test

import (
	"strings"
	"testing"

	"stepback/engine/history"
)

const printed = `{"events": [
 {"timestamp": 1782000000.125, "type": "ExecutionStarted", "id": 1, "previousEventId": 0,
  "executionStartedEventDetails": {"input": "{}", "inputDetails": {"truncated": false}, "roleArn": "arn:aws:iam::1:role/r"}},
 {"timestamp": "2026-06-21T00:00:01.250000+00:00", "type": "TaskFailed", "id": 2, "previousEventId": 1,
  "taskFailedEventDetails": {"resourceType": "lambda", "resource": "invoke", "error": "Busy", "cause": ""}},
 {"timestamp": 1782000002, "type": "MapIterationStarted", "id": 3, "previousEventId": 2,
  "mapIterationStartedEventDetails": {"name": "M", "index": 4}}]}`

func TestParseEvents(t *testing.T) {
	t.Parallel()
	events, err := history.ParseEvents(printed)
	if err != nil || len(events) != 3 {
		t.Fatalf("%v, %v", events, err)
	}
	first, second, third := events[0], events[1], events[2]
	if first.Type != history.ExecutionStarted || first.Data != "{}" || first.Time != 1_782_000_000_125_000_000 {
		t.Errorf("%+v", first)
	}
	if f := second.More.Failure; f.Name != "Busy" || !f.HasCause() || f.Cause != "" ||
		second.At().Format("15:04:05.000") != "00:00:01.250" {
		t.Errorf("%+v %+v", second, f)
	}
	if third.Name != "M" || third.More.Index != 4 || third.Previous != 2 {
		t.Errorf("%+v", third)
	}
}

// Parsed events are written by AppendJSON unchanged.
func TestParsedEventsAreWrittenTheSame(t *testing.T) {
	t.Parallel()
	events, err := history.ParseEvents(printed)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		text := string(events[i].AppendJSON(nil, true))
		again, err := history.ParseEvents("[" + text + "]")
		if err != nil {
			t.Fatal(err)
		}
		if got := string(again[0].AppendJSON(nil, true)); got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestParseEventsRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{`: "not JSON", `{}`: "no array of events", `[1]`: "event 1: it is not an object",
		`[{"type": "TaskFailed"}]`: "event 1: it has no timestamp", `[{"timestamp": "now"}]`: "is not valid",
	} {
		if _, err := history.ParseEvents(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzParseEvents(f *testing.F) {
	f.Add(printed)
	f.Fuzz(func(_ *testing.T, text string) { _, _ = history.ParseEvents(text) })
}
