package render

import (
	"context"
	"strings"
	"time"

	"stepback/retrymetrics/metricmath"
)

// Source provides what widgets show. It is used by several goroutines at the same time.
type Source interface {
	// Metrics evaluates the queries of one widget over a range of time, as CloudWatch's GetMetricData does. The
	// result has the series of the queries that are not hidden, in their order; an expression can have several. If
	// only some queries fail, their results have a Problem.
	Metrics(ctx context.Context, from, to time.Time, queries []Query) ([]Series, error)
	// Alarms returns the alarms with the given ARNs, in this order. An alarm that does not exist has the state
	// [Missing].
	Alarms(ctx context.Context, arns []string) ([]Alarm, error)
	// Logs runs a query of CloudWatch Logs Insights.
	Logs(ctx context.Context, from, to time.Time, q LogQuery) (Table, error)
}

// Query is a row of a metric widget: a statistic of a metric, or an expression.
type Query struct {
	// ID is unique in the widget; expressions refer to it.
	ID string
	// Metric is nil for an expression.
	Metric     *metricmath.Metric
	Stat       string
	Expression string
	// Label is the label to use, which may contain ${MAX} and the like; if it is empty, the source chooses one.
	Label string
	// Period is a whole number of seconds.
	Period time.Duration
	// Hidden queries serve only as terms of expressions.
	Hidden bool
	// Account and Region are empty if the widget names none.
	Account, Region string
}

// Series is a line of a chart: values at ascending times, each the start of a period.
type Series struct {
	ID     string      `json:"id"`
	Label  string      `json:"label"`
	Times  []time.Time `json:"times"`
	Values []float64   `json:"values"`
	// Problem is the reason why there are no values; empty if there is none.
	Problem string `json:"problem,omitempty"`
}

// LogQuery is a query of CloudWatch Logs Insights.
type LogQuery struct {
	Groups   []string // names or ARNs of log groups
	Text     string   // without its SOURCE commands, except SOURCE logGroups(…), with which Groups is empty
	Language string   // empty for CWLI
	Region   string
}

// Table is the result of a log query.
type Table struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// The states of alarms.
const (
	OK               = "OK"
	Alarming         = "ALARM"
	InsufficientData = "INSUFFICIENT_DATA"
	Missing          = "missing"
)

// Alarm is an alarm with its state.
type Alarm struct {
	Name string `json:"name"`
	ARN  string `json:"arn,omitempty"`
	// State is the state as it is shown: OK, ALARM, INSUFFICIENT_DATA or missing, and possibly since when.
	State string `json:"state"`
	// Text says what the alarm means.
	Text string `json:"text,omitempty"`
	// Tripped is true if the alarm is shown as fired: it is in ALARM, or was during the range shown.
	Tripped bool `json:"tripped"`
	// Since is the time of the latest change of state; zero if it is unknown.
	Since time.Time `json:"since,omitzero"`
	// Watched are the queries of a metric alarm, of which those that are not hidden are compared with Threshold.
	Watched   []Query  `json:"-"`
	Threshold *float64 `json:"threshold,omitempty"`
}

// Window is the range of time that a page shows.
type Window struct {
	From, To time.Time
	// Now is the time from which the age of data counts; zero means To.
	Now time.Time
	// Period is the length of the periods of all widgets; 0 lets the widgets and the range decide.
	Period time.Duration
}

// The most periods that a line has. A dashboard with periodOverride "inherit" keeps its widgets' periods up to more
// of them.
const (
	mostPeriods      = 180
	mostOwnedPeriods = 1440
)

// customary are the lengths of periods, in ascending order.
var customary = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// CloudWatch keeps data with a resolution of one minute for 15 days, of five minutes for 63 days, and of an hour for
// 455 days.
const (
	minutesKept     = 15 * 24 * time.Hour
	fiveMinutesKept = 63 * 24 * time.Hour
)

// periodOf returns the period for a row with a period of its own: at least that period, and long enough that the range
// has at most `most` of them and CloudWatch still has data in that resolution.
func (w Window) periodOf(own time.Duration, most int) time.Duration {
	if w.Period > 0 {
		return w.Period
	}
	least := own
	now := w.To
	if !w.Now.IsZero() {
		now = w.Now
	}
	switch age := now.Sub(w.From); {
	case age > fiveMinutesKept:
		least = max(least, time.Hour)
	case age > minutesKept:
		least = max(least, 5*time.Minute)
	}
	span := w.To.Sub(w.From)
	if own == least && span <= time.Duration(most)*own {
		return own
	}
	for _, p := range customary {
		if p >= least && span <= time.Duration(most)*p {
			return p
		}
	}
	return max(least, 24*time.Hour)
}

// whole returns the period that covers the whole window, in whole minutes.
func (w Window) whole() time.Duration {
	return max(time.Minute, (w.To.Sub(w.From) + time.Minute - 1).Truncate(time.Minute))
}

// AlarmName returns the name in an alarm's ARN; text itself if it is not an ARN.
func AlarmName(text string) string {
	if _, name, ok := strings.Cut(text, ":alarm:"); ok && strings.HasPrefix(text, "arn:") {
		return name
	}
	return text
}
