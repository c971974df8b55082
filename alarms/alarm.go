// Package alarms defines the CloudWatch alarms of the retries as data over the catalogue of retrymetrics. It renders
// them in the form that PutMetricAlarm and PutCompositeAlarm take, and evaluates them by the same rules. It makes no
// calls and sends no notifications.
package alarms

import (
	"cmp"
	"fmt"
	"time"

	"stepback/retrymetrics"
)

// Comparison is a CloudWatch comparison operator.
type Comparison string

// The comparisons in use.
const (
	GreaterThanThreshold          Comparison = "GreaterThanThreshold"
	GreaterThanOrEqualToThreshold Comparison = "GreaterThanOrEqualToThreshold"
	LessThanThreshold             Comparison = "LessThanThreshold"
)

// breaches reports whether a value breaches the threshold.
func (c Comparison) breaches(v, threshold float64) bool {
	switch c {
	case GreaterThanThreshold:
		return v > threshold
	case GreaterThanOrEqualToThreshold:
		return v >= threshold
	default:
		return v < threshold
	}
}

// Missing defines how a period without data is treated. Most metrics here are published only when something goes
// wrong, so missing data usually means that all is well.
type Missing string

// The treatments in use.
const (
	NotBreaching Missing = "notBreaching"
	Ignore       Missing = "ignore" // the alarm keeps its state
	// NoData leaves the alarm in INSUFFICIENT_DATA while data are missing. It is for an alarm with Silence.
	NoData Missing = "missing"
)

// Alarm is one alarm on a series or a rate.
type Alarm struct {
	Name string // without the state machine's name, which precedes it
	// Meaning explains the problem. First describes the first thing to do about it.
	Meaning, First string
	// Series or Rate is the watched quantity; exactly one of them is set.
	Series *retrymetrics.Series
	Rate   *retrymetrics.Rate
	// Machine is the name of the state machine of Rate if it is not that of the set.
	Machine    string
	Stat       retrymetrics.Stat // of Series
	Comparison Comparison
	Threshold  float64
	Period     time.Duration
	Periods    int // number of periods evaluated
	Breaching  int // number of these that must breach
	Missing    Missing
	// Page is the kind of trouble if the alarm pages, through the composite of that kind; it then sends no message
	// itself.
	Page Page
	// Part is true if the alarm sends no message and pages only together with another one.
	Part bool
	// Silence is true if the alarm reports that data stopped: it sends a message when it enters INSUFFICIENT_DATA. A
	// new alarm is in that state, so nothing is reported before the first data.
	Silence bool
	// Event is true if the alarm counts events instead of watching a condition. No OK message is sent: the absence of
	// further events does not resolve the earlier ones.
	Event bool
}

// rateSet is the dimension set of a rate's terms.
const rateSet = retrymetrics.ByMachine

// CloudWatch's limits for alarms.
const (
	maxWindow      = 24 * time.Hour
	maxTerms       = 10
	maxName        = 255
	maxDescription = 1024
	maxRule        = 10240
)

// Check returns the first problem for which CloudWatch would reject the alarm or the alarm could never fire.
func (a Alarm) Check(machine string) error {
	for _, s := range a.watched(machine) {
		if err := s.Check(); err != nil {
			return fmt.Errorf("alarm %s: %w", a.Name, err)
		}
	}
	switch {
	case (a.Series == nil) == (a.Rate == nil):
		return fmt.Errorf("alarm %s watches either a series or a rate", a.Name)
	case a.Rate != nil && len(a.Rate.Terms) > maxTerms:
		return fmt.Errorf("alarm %s: %d metrics, %d are allowed", a.Name, len(a.Rate.Terms), maxTerms)
	case a.Period < time.Minute || a.Period%time.Minute != 0:
		return fmt.Errorf("alarm %s: period %v is not a whole number of minutes, the resolution of the metrics",
			a.Name, a.Period)
	case a.Breaching < 1 || a.Breaching > a.Periods || time.Duration(a.Periods)*a.Period > maxWindow:
		return fmt.Errorf("alarm %s: %d of %d periods of %v", a.Name, a.Breaching, a.Periods, a.Period)
	case a.Meaning == "" || a.First == "":
		return fmt.Errorf("alarm %s lacks its meaning or its first step", a.Name)
	}
	return nil
}

// watched returns the series that the alarm watches in a set of the alarms of machine.
func (a Alarm) watched(machine string) []retrymetrics.Series {
	if a.Rate == nil {
		if a.Series == nil {
			return nil
		}
		return []retrymetrics.Series{*a.Series}
	}
	out := make([]retrymetrics.Series, 0, len(a.Rate.Terms))
	for _, t := range a.Rate.Terms {
		out = append(out, t.Metric.In(rateSet, cmp.Or(a.Machine, machine)))
	}
	return out
}
