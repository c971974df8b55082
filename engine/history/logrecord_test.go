package history_test

import (
	"strings"
	"testing"

	"stepback/engine/history"
)

const logged = "arn:aws:states:us-east-1:000000000000:execution:m:x"

func TestAppendLogRecord(t *testing.T) {
	t.Parallel()
	const end = `"event_timestamp":"1717615626123","execution_arn":"` + logged + `","redrive_count":"0"}`
	for name, c := range map[string]struct {
		event history.Event
		data  bool
		want  string
	}{
		"the start with data": {
			history.Event{ID: 1, Type: history.ExecutionStarted, Data: `{}`, More: &history.Details{RoleARN: "role"}},
			true,
			`{"id":"1","type":"ExecutionStarted","details":{"input":"{}","inputDetails":{"truncated":false},"roleArn":"role"},"previous_event_id":"0",`,
		},
		"the start without": {
			history.Event{ID: 1, Type: history.ExecutionStarted, Data: `{}`, More: &history.Details{RoleARN: "role"}},
			false,
			`{"id":"1","type":"ExecutionStarted","details":{"roleArn":"role"},"previous_event_id":"0",`,
		},
		"no details": {
			history.Event{ID: 4, Previous: 3, Type: history.MapStateSucceeded}, true,
			`{"id":"4","type":"MapStateSucceeded","details":{},"previous_event_id":"3",`,
		},
		"an end without data": {
			history.Event{ID: 4, Previous: 3, Type: history.ExecutionSucceeded, Data: `1`}, false,
			`{"id":"4","type":"ExecutionSucceeded","details":{},"previous_event_id":"3",`,
		},
		"a failure": {
			history.Event{ID: 3, Previous: 2, Type: history.ExecutionFailed,
				More: &history.Details{Failure: history.NewFailure("E", "C")}}, false,
			`{"id":"3","type":"ExecutionFailed","details":{"error":"E","cause":"C"},"previous_event_id":"2",`,
		},
	} {
		c.event.Time = 1_717_615_626_123_456_789
		if got := string(c.event.AppendLogRecord(nil, logged, 0, c.data)); got != c.want+end {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want+end)
		}
	}
}

func TestLongDataIsTruncatedInLogRecords(t *testing.T) {
	t.Parallel()
	e := history.Event{ID: 1, Type: history.ExecutionSucceeded, Data: `"` + strings.Repeat("é", 130_000) + `"`}
	got := string(e.AppendLogRecord(nil, logged, 0, true))
	if len(got) > 256<<10 || len(got) < 248<<10 || !strings.Contains(got, `é","outputDetails":{"truncated":true}}`) {
		t.Errorf("%d bytes: %.100s … %.200s", len(got), got, got[len(got)-200:])
	}
}

func TestLogLevels(t *testing.T) {
	t.Parallel()
	for kind, want := range map[history.Type]string{
		history.ExecutionStarted:             "ALL",
		history.PassStateEntered:             "ALL",
		history.TaskSucceeded:                "ALL",
		history.FailStateEntered:             "ALL ERROR",
		history.TaskFailed:                   "ALL ERROR",
		history.TaskSubmitFailed:             "ALL ERROR",
		history.LambdaFunctionScheduleFailed: "ALL ERROR",
		history.ActivityTimedOut:             "ALL ERROR",
		history.MapIterationAborted:          "ALL ERROR",
		history.EvaluationFailed:             "ALL ERROR",
		history.WaitStateAborted:             "ALL ERROR",
		history.ExecutionFailed:              "ALL ERROR FATAL",
		history.ExecutionTimedOut:            "ALL ERROR FATAL",
		history.ExecutionAborted:             "ALL ERROR FATAL",
	} {
		var got []string
		for _, level := range []history.LogLevel{"ALL", "ERROR", "FATAL", "OFF", ""} {
			if level.Includes(kind) {
				got = append(got, string(level))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s is logged at %v, want %s", kind, got, want)
		}
	}
}
