package monitor

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stepback/outbox"
)

type fixed struct {
	stats  outbox.Stats
	health outbox.Health
	err    error
}

func (f *fixed) Stats(context.Context) (outbox.Stats, error) { return f.stats, f.err }
func (f *fixed) Health() outbox.Health                       { return f.health }

func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	f := &fixed{stats: outbox.Stats{Pending: 1, Failed: 2, Dead: 3, Oldest: 90 * time.Second}}
	m := New(f)
	for _, e := range []outbox.Event{
		{Kind: outbox.EventClaimed, Count: 5, Took: time.Millisecond},
		{Kind: outbox.EventSent, Took: time.Second, Delivery: &outbox.Delivery{Waited: 2 * time.Second}},
		{Kind: outbox.EventRetry, Error: "TimeoutError"},
		{Kind: outbox.EventDead, Error: "InvalidInput", Reason: "refused"},
		{Kind: outbox.EventSettled, Count: 3, Lost: 2},
		{Kind: outbox.EventStoreFailed, Error: "claim messages"},
		{Kind: outbox.EventReleased}, {Kind: outbox.EventOverrun}, {Kind: outbox.EventDeleted, Count: 7},
	} {
		m.Observe(e)
	}
	code, text := get(t, m.Handler(f, time.Minute), "/metrics")
	for _, want := range []string{
		"stepback_outbox_sent_total 1\n", `stepback_outbox_retries_total{error="TimeoutError"} 1`,
		`stepback_outbox_dead_letters_total{error="InvalidInput",reason="refused"} 1`,
		"stepback_outbox_fenced_total 2\n",
		`stepback_outbox_store_failures_total{call="claim messages"} 1`, "stepback_outbox_deleted_total 7\n",
		`stepback_outbox_messages{status="dead"} 3`, "stepback_outbox_oldest_seconds 90\n",
		"stepback_outbox_wait_seconds_sum 2\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("status %d: %q is not in\n%s", code, want, text)
		}
	}
	f.err = errors.New("gone")
	if code, text := get(t, m.Handler(f, time.Minute), "/metrics"); code != http.StatusOK ||
		strings.Contains(text, "outbox_messages") {
		t.Errorf("without a database: %d\n%s", code, text)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		health outbox.Health
		code   int
		text   string
	}{
		"fine":        {outbox.Health{Running: true, LastClaim: now.Add(-time.Second)}, 200, `"healthy":true`},
		"not running": {outbox.Health{}, 503, "has not been started"},
		"silent": {outbox.Health{Running: true, LastClaim: now.Add(-time.Hour)}, 503,
			"has not looked for messages since 2026-11-22T11:00:00Z"},
		"sink hangs": {outbox.Health{Running: true, LastClaim: now.Add(-time.Hour), Overruns: 3}, 503,
			"does not return"},
		"database": {outbox.Health{
			Running: true, LastClaim: now.Add(-2 * time.Minute), Failing: errors.New("gone"),
			FailingSince: now.Add(-2 * time.Minute),
		}, 503, "since 2026-11-22T11:58:00Z: gone"},
		"database, a moment ago": {outbox.Health{
			Running: true, LastClaim: now.Add(-time.Second), Failing: errors.New("gone"),
			FailingSince: now.Add(-time.Second),
		}, 200, `"healthy":true`},
	} {
		m := New(&fixed{})
		m.now = func() time.Time { return now }
		if code, text := get(t, m.Handler(&fixed{health: tt.health}, time.Minute), "/healthz"); code != tt.code ||
			!strings.Contains(text, tt.text) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
}
