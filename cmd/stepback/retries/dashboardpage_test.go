package retries

import (
	"slices"
	"testing"
	"time"

	"stepback/dashboards/render"
	"stepback/retrymetrics"
)

func TestAlarmsOfSeveralDaysTellTheDay(t *testing.T) {
	t.Parallel()
	at := func(text string) retrymetrics.Point {
		start, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return retrymetrics.Point{Metric: retrymetrics.RowsDeadLettered,
			Labels: retrymetrics.Labels{StateMachine: "csv-import"}, Start: start, Values: []float64{1},
			Counts: []int64{1}}
	}
	for want, points := range map[string][]retrymetrics.Point{
		"ALARM since 10:01:00":     {at("2026-11-21T10:01:00Z")},
		"ALARM since 21 Nov 10:01": {at("2026-11-21T10:01:00Z"), at("2026-11-22T10:01:00Z")},
	} {
		page, err := dashboardPage(t.Context(), "csv-import", points)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(page.Alarms, func(a render.Alarm) bool { return a.State == want }) {
			t.Errorf("no alarm says %q: %v", want, page.Alarms)
		}
	}
}
