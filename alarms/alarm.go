// Package alarms is the CloudWatch alarms of the retries as data over the catalogue of retrymetrics: in the form that
// PutMetricAlarm and PutCompositeAlarm take, and evaluated by the same rules. It calls nothing and wakes nobody.
package alarms

import (
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

// breaches reports whether a value is on the wrong side.
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

// Missing says what a period without data is. Most metrics here are published only when something goes wrong, so that
// silence is good news.
type Missing string

// The treatments in use.
const (
	NotBreaching Missing = "notBreaching"
	Ignore       Missing = "ignore"    // the alarm keeps its state
	Breaching    Missing = "breaching" // silence is the trouble
)

// Alarm is one alarm on a series or a rate.
type Alarm struct {
	Name string // without the state machine's, which goes before it
	// Meaning says what is the matter, First what to do first.
	Meaning, First string
	// Series or Rate is what is watched.
	Series     *retrymetrics.Series
	Rate       *retrymetrics.Rate
	Stat       retrymetrics.Stat // of Series
	Comparison Comparison
	Threshold  float64
	Period     time.Duration
	Periods    int // how many are looked at
	Breaching  int // of which how many have to breach
	Missing    Missing
	// Pages says that the alarm wakes a person by way of the composite and sends no message of its own.
	Pages bool
	// Event says that the alarm counts what happened, in place of watching how something is: that nothing more happens
	// mends nothing, so that nobody is told when it is OK again.
	Event bool
}

// rateSet is the dimension set that a rate's terms are taken from.
const rateSet = retrymetrics.ByMachine

// Limits of alarms.
const (
	maxWindow      = 24 * time.Hour
	maxTerms       = 10
	maxName        = 255
	maxDescription = 1024
	maxRule        = 10240
)

// Check reports the first thing that CloudWatch would refuse or that would keep the alarm silent for ever.
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
		return fmt.Errorf("alarm %s: period %v is not a number of minutes, which is what the metrics are published by",
			a.Name, a.Period)
	case a.Breaching < 1 || a.Breaching > a.Periods || time.Duration(a.Periods)*a.Period > maxWindow:
		return fmt.Errorf("alarm %s: %d of %d periods of %v", a.Name, a.Breaching, a.Periods, a.Period)
	case a.Meaning == "" || a.First == "":
		return fmt.Errorf("alarm %s does not say what it means and what to do first", a.Name)
	}
	return nil
}

func (a Alarm) watched(machine string) []retrymetrics.Series {
	if a.Rate == nil {
		if a.Series == nil {
			return nil
		}
		return []retrymetrics.Series{*a.Series}
	}
	out := make([]retrymetrics.Series, 0, len(a.Rate.Terms))
	for _, t := range a.Rate.Terms {
		out = append(out, t.Metric.In(rateSet, machine))
	}
	return out
}
