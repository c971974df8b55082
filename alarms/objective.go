package alarms

import (
	"fmt"
	"math"
	"time"

	"stepback/retrymetrics"
)

// Burn is a rate at which the error budget of an objective is used up. It is watched over a long window, so that a
// short fault does not trigger, and over a short one, so that the alarm ends soon after the fault. See "Alerting on
// SLOs" in Google's Site Reliability Workbook.
type Burn struct {
	// Name is the beginning of the names of its two alarms.
	Name string
	// Share is the share of the budget, in percent, that is gone after a long window at this rate.
	Share       float64
	Long, Short time.Duration
	// Page is true if it pages; it sends a message otherwise.
	Page bool
}

// Burns returns the burn rates that are watched, by the shares of the Site Reliability Workbook: 2 % of the budget in
// an hour, 5 % in six hours, and the share that a day may use. CloudWatch's longest period is a day. For 28 days the
// rates are 13.44, 5.6 and 1; the workbook's 14.4 and 6 are those of 30 days.
func Burns() []Burn {
	const day = 24 * time.Hour
	over := retrymetrics.DefaultObjective().Over
	return []Burn{
		{"budget-fast", 2, time.Hour, 5 * time.Minute, true},
		{"budget-slow", 5, 6 * time.Hour, 30 * time.Minute, true},
		{"budget-drain", 100 * day.Hours() / over.Hours(), day, 6 * time.Hour, false},
	}
}

// Times returns the rate for an objective: at 1, the budget is used up exactly at the end of the objective's period.
func (b Burn) Times(o retrymetrics.Objective) float64 {
	const digits = 1e6
	return math.Round(digits*b.Share/100*o.Over.Hours()/b.Long.Hours()) / digits
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
				Name: b.Name + "-" + window(length), Rate: &rate, Comparison: GreaterThanThreshold, Threshold: math.Round(1e6*b.Times(objective)*objective.Budget()) / 1e6,
				Period: length, Periods: 1, Breaching: 1, Missing: NotBreaching, Part: true,
				Meaning: fmt.Sprintf("Over %s, more batches were late than %g times the error budget allows (%s).",
					window(length), b.Times(objective), objective),
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
