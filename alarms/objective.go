package alarms

import (
	"fmt"
	"time"

	"stepback/retrymetrics"
)

// Burn is a rate at which the error budget of an objective is used up. It is watched over a long window, so that a
// short fault does not trigger, and over a short one, so that the alarm ends soon after the fault. See "Alerting on
// SLOs" in Google's Site Reliability Workbook.
type Burn struct {
	// Name is the beginning of the names of its two alarms.
	Name string
	// Times is the rate: at 1, the budget is used up exactly at the end of the objective's period.
	Times       float64
	Long, Short time.Duration
	// Page is true if it pages; it sends a message otherwise.
	Page bool
}

// Burns returns the burn rates that are watched: at 14.4 the budget of 28 days is gone in two days, at 6 in five days,
// and at 1 in time. CloudWatch's longest period is a day.
func Burns() []Burn {
	return []Burn{
		{"budget-fast", 14.4, time.Hour, 5 * time.Minute, true},
		{"budget-slow", 6, 6 * time.Hour, 30 * time.Minute, true},
		{"budget-drain", 1, 24 * time.Hour, 6 * time.Hour, false},
	}
}

// LongName returns the name of the alarm on the long window.
func (b Burn) LongName() string { return b.Name + "-" + window(b.Long) }

// ShortName returns the name of the alarm on the short window.
func (b Burn) ShortName() string { return b.Name + "-" + window(b.Short) }

// window returns a duration as 24h, 1h or 5m.
func window(d time.Duration) string {
	if d >= time.Hour {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

// burning returns the alarms on burn rates. None of them acts by itself: a composite does if both windows burn.
func (o Options) burning() []Alarm {
	if o.General {
		return nil // batches without an objective
	}
	var all []Alarm
	objective := retrymetrics.DefaultObjective()
	for _, b := range Burns() {
		for _, length := range []time.Duration{b.Long, b.Short} {
			rate := retrymetrics.LateShare()
			all = append(all, Alarm{
				Name: b.Name + "-" + window(length), Rate: &rate, Comparison: GreaterThanThreshold, Threshold: b.Times * objective.Budget(),
				Period: length, Periods: 1, Breaching: 1, Missing: NotBreaching, Part: true,
				Meaning: fmt.Sprintf("Over %s, more batches were late than %g times the error budget allows (%s).",
					window(length), b.Times, objective),
				First: "Nothing on this alarm alone: if the other window burns, too, " + o.composedBy(b) + " reports it.",
			})
		}
	}
	return all
}

func (o Options) composedBy(b Burn) string {
	if b.Page {
		return string(PageObjective)
	}
	return drained
}
