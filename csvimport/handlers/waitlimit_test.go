package handlers_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"stepback/csvimport/handlers"
	"stepback/csvimport/process"
)

const (
	waitingRow = `{"source":{"bucket":"b","key":"k","etag":"e"},"run":"x 2026-11-27T08:00:00Z","row":0,` +
		`"record":{"user_id":"anna","login_count":"1","post_count":"2"},"attempt":{"state":"ProcessSingleUserRecord","retries":2,"entered":"2026-11-27T09:00:00Z"}}`
	waitingBatch = `{"source":{"bucket":"b","key":"k","etag":"e"},"run":"x 2026-11-27T08:00:00Z","items":[` +
		`{"row":7,"record":{"user_id":"anna","login_count":"1","post_count":"2"}},{"row":8,"record":{"user_id":"bert","login_count":"3","post_count":"4"}}],` +
		`"attempt":{"state":"ApplyBatch","retries":2,"entered":"2026-11-27T09:00:00Z"}}`
)

// TestRecordsDoNotWaitBeyondTheLimit: an attempt that would wait fails as before until the limit, and is given up from
// then on.
func TestRecordsDoNotWaitBeyondTheLimit(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	call := func(after time.Duration, name, event string) (process.Answer, string, string) {
		t.Helper()
		w := handlers.Waiting{Limit: 21 * time.Hour, Now: func() time.Time { return start.Add(after) }}
		out, err := w.Limited(func(context.Context, json.RawMessage) (process.Answer, error) {
			return process.Answer{}, messages.InvokeResponse_Error{Type: name, Message: "the callee's circuit is open"}
		})(t.Context(), json.RawMessage(event))
		text := ""
		if err != nil {
			text = err.Error()
		}
		return out, nameOf(err), text
	}
	for _, c := range []struct {
		after       time.Duration
		name, event string
		want        string
	}{
		{21*time.Hour - time.Second, "CircuitOpen", waitingRow, "CircuitOpen"},
		{21*time.Hour - time.Second, "CircuitOpen", waitingBatch, "CircuitOpen"},
		{21 * time.Hour, "CircuitOpen", waitingRow, "RetryNotWorthwhile"},
		{21 * time.Hour, "RetryBudgetExhausted", waitingRow, "RetryNotWorthwhile"},
		{21 * time.Hour, "DatabaseConnectionError", waitingRow, "DatabaseConnectionError"},
		{21 * time.Hour, "CircuitOpen", `{"run":"by hand","row":0}`, "CircuitOpen"},
		{21 * time.Hour, "CircuitOpen", `{`, "CircuitOpen"},
	} {
		if _, got, text := call(c.after, c.name, c.event); got != c.want {
			t.Errorf("%s after %v: %s (%s), want %s", c.name, c.after, got, text, c.want)
		}
	}
	out, name, text := call(21*time.Hour, "CircuitOpen", waitingBatch)
	if name != "" {
		t.Fatalf("%s: %s", name, text)
	}
	const cause = "the callee is still not available 21h0m0s after the import's start, when records stop waiting for it: " +
		"CircuitOpen: the callee's circuit is open"
	row := func(n, record string) string {
		return `{"outcome":"deadLettered","row":` + n + `,"record":` + record + `,"error":"RetryNotWorthwhile","cause":"` + cause +
			`","attempts":3,"firstTime":"2026-11-27T09:00:00Z","lastTime":"2026-11-28T05:00:00Z"}`
	}
	want := `{"applied":[],"alreadyApplied":[],"rejected":[` +
		row("7", `{"user_id":"anna","login_count":"1","post_count":"2"}`) + "," +
		row("8", `{"user_id":"bert","login_count":"3","post_count":"4"}`) + `],"oneByOne":[]}`
	if got, err := json.Marshal(out); err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
}

func TestWaitingFromTheEnvironment(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "21h0m0s": 21 * time.Hour} {
		if w, err := handlers.WaitingFrom(func(string) string { return text }); err != nil || w.Limit != want {
			t.Errorf("%q: %v, %v", text, w.Limit, err)
		}
	}
	for _, text := range []string{"21", "-1h", "0s"} {
		if _, err := handlers.WaitingFrom(func(string) string { return text }); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
