package alarms_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"stepback/alarms"
	"stepback/retrymetrics"
)

// batches returns 28 days of batches, one every three seconds, of which a share is late from one minute to another.
func batches(days int, from, to int, share float64) []retrymetrics.Point {
	var all []retrymetrics.Point
	for minute := range days * 24 * 60 {
		late := 0.0
		if minute >= from && minute < to {
			late = 20 * share
		}
		all = append(all, point(retrymetrics.BatchesInTime, minute, 20-late), point(retrymetrics.BatchesLate, minute,
			late))
	}
	return all
}

// paged returns the minute in which both windows of a paging burn rate are in ALARM for the first time, or -1.
func paged(t *testing.T, points []retrymetrics.Point) int {
	t.Helper()
	s := newSet(t, retrymetrics.LevelAll)
	first := -1
	for _, b := range alarms.Burns() {
		if !b.Page {
			continue
		}
		var changes [2][]alarms.Change
		for i, name := range []string{b.LongName(), b.ShortName()} {
			j := slices.IndexFunc(s.Alarms, func(a alarms.Alarm) bool { return a.Name == name })
			var err error
			if changes[i], err = s.Evaluate(s.Alarms[j], points); err != nil {
				t.Fatal(err)
			}
		}
		for minute := range int(points[len(points)-1].Start.Unix()/60) + 1 {
			at := time.Unix(int64(60*minute), 0).UTC()
			if alarmed(changes[0], at) && alarmed(changes[1], at) && (first < 0 || minute < first) {
				first = minute
				break
			}
		}
	}
	return first
}

func alarmed(changes []alarms.Change, at time.Time) bool {
	in := false
	for _, c := range changes {
		if !c.At.After(at) {
			in = c.State == alarms.Alarming
		}
	}
	return in
}

// TestTheObjectivePages: a fault is paged within ten minutes of using up 2 % of the budget, which is 13.44 times the
// budget for an hour. 28 days in which batches are late as often as the objective allows cause no page.
func TestTheObjectivePages(t *testing.T) {
	t.Parallel()
	const start = 6 * 60
	for share, want := range map[float64]string{1: "paged after 5 minutes", 0.5: "paged after 10 minutes",
		0.2: "paged after 25 minutes", 0.08: "paged after 55 minutes"} {
		minute := paged(t, batches(1, start, start+180, share))
		used := share * float64(minute-start) / (0.005 * 28 * 24 * 60) // of the budget, when paged
		if got := fmt.Sprintf("paged after %d minutes", minute-start); got != want || used > 0.02+share*10/(0.005*28*24*60) {
			t.Errorf("%v late: %s, want %s; %.1f %% of the budget is used", share, got, want, 100*used)
		}
	}
	if minute := paged(t, batches(28, 0, 28*24*60, 0.005)); minute >= 0 {
		t.Errorf("the objective is met, and minute %d pages", minute)
	}
}
