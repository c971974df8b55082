package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/alarms"
	"stepback/retrymetrics"
)

// AlarmRow is an alarm of a state machine and its state according to the metric data.
type AlarmRow struct {
	Machine string    `json:"stateMachine"`
	Name    string    `json:"name"`
	State   string    `json:"state"`
	Since   time.Time `json:"since,omitzero"`
	Meaning string    `json:"meaning"`
	First   string    `json:"first"` // the first thing to do if it fires
	Watches string    `json:"watches"`
	// Changes are the times at which the alarm entered and left ALARM.
	Changes []alarms.Change `json:"changes,omitempty"`
	// Data are the values of its latest evaluation.
	Data []retrymetrics.Datapoint `json:"data,omitempty"`
	// Deployed is a deployed alarm that watches the same metrics, if there is one, with its state.
	Deployed      string   `json:"deployedAlarm,omitempty"`
	DeployedState string   `json:"deployedState,omitempty"`
	metrics       []string // names of the metrics that it watches
}

// alarms evaluates the alarms of a state machine.
func (c *charts) alarms(machine string, now time.Time) ([]AlarmRow, error) {
	points, err := c.of(machine)
	if err != nil || len(points) == 0 {
		return nil, err
	}
	c.mu.Lock()
	stood, ok := c.stood[machine]
	c.mu.Unlock()
	if ok {
		return stood, nil
	}
	set, err := alarms.New(alarms.Options{StateMachine: machine, General: !retrymetrics.OfImport(machine, points)})
	if err != nil {
		return nil, err
	}
	var rows []AlarmRow
	for _, a := range set.Alarms {
		changes, err := set.Evaluate(a, points)
		if err != nil {
			continue // the alarm needs data that only CloudWatch has
		}
		row := AlarmRow{Machine: machine, Name: a.Name, State: string(alarms.OK), Meaning: a.Meaning, First: a.First,
			Watches: watches(a), metrics: metricsOf(a)}
		changes = begun(changes, a.Period, now)
		row.Changes = changes
		if n := len(changes); n > 0 {
			row.State, row.Since = string(changes[n-1].State), changes[n-1].At
			if row.State == string(alarms.Alarming) {
				row.Since = changes[n-1].Since
			}
		}
		if a.Series != nil {
			row.Data, _ = retrymetrics.Statistic(points, *a.Series, a.Stat, a.Period)
			if n := len(row.Data); n > shownValues {
				row.Data = row.Data[n-shownValues:]
			}
		}
		// An alarm whose failures ended long ago no longer fires, even if no newer data say so.
		if row.State == string(alarms.Alarming) && now.Sub(row.Since) > loadHours &&
			now.Sub(newest(points)) > loadHours {
			row.State = string(alarms.OK)
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b AlarmRow) int {
		return cmp.Compare(btoi(b.State == string(alarms.Alarming)), btoi(a.State == string(alarms.Alarming)))
	})
	c.mu.Lock()
	c.stood[machine] = rows
	c.mu.Unlock()
	return rows, nil
}

// begun returns the state changes up to now. An evaluation is dated at the end of its last period, which may be in
// the future: an alarm that fires in that period fires now, and is dated at its first breaching datapoint. One that
// recovers at the period's end has not recovered yet.
func begun(all []alarms.Change, period time.Duration, now time.Time) []alarms.Change {
	for i, c := range all {
		if !c.At.After(now) {
			continue
		}
		if c.State == alarms.Alarming && c.At.Sub(now) <= period {
			c.At = c.Since
			return append(slices.Clone(all[:i]), c)
		}
		return all[:i]
	}
	return all
}

// shownValues is the number of an alarm's values that are shown.
const shownValues = 10

func newest(points []retrymetrics.Point) (t time.Time) {
	for i := range points {
		if points[i].Start.After(t) {
			t = points[i].Start
		}
	}
	return t
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// metricsOf returns the names of the metrics that an alarm evaluates.
func metricsOf(a alarms.Alarm) []string {
	if a.Series != nil {
		return []string{a.Series.Metric.Name()}
	}
	var names []string
	if a.Rate != nil {
		for _, t := range a.Rate.Terms {
			names = append(names, t.Metric.Name())
		}
	}
	return names
}

// watches describes the metric that an alarm evaluates.
func watches(a alarms.Alarm) string {
	what := ""
	switch {
	case a.Series != nil:
		what = string(a.Stat) + " of " + a.Series.Metric.Name()
	case a.Rate != nil:
		what = a.Rate.Name
	}
	words := map[alarms.Comparison]string{alarms.GreaterThanThreshold: ">",
		alarms.GreaterThanOrEqualToThreshold: "≥", alarms.LessThanThreshold: "<"}
	return fmt.Sprintf("%s %s %g, %d of %d periods of %s", what, words[a.Comparison], a.Threshold, a.Breaching, a.Periods,
		strings.TrimSuffix(a.Period.String(), "0s"))
}

// firing returns the alarms of all state machines that are in ALARM.
func (c *charts) firing(names []string, now time.Time) []AlarmRow {
	var firing []AlarmRow
	for _, name := range names {
		rows, err := c.alarms(name, now)
		if err != nil {
			continue
		}
		for _, a := range rows {
			if a.State == string(alarms.Alarming) {
				firing = append(firing, a)
			}
		}
	}
	return firing
}
