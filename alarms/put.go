package alarms

import (
	"time"

	"stepback/retrymetrics"
)

// PutMetricAlarm is the input of CloudWatch's PutMetricAlarm operation, with its members' names.
type PutMetricAlarm struct {
	AlarmName        string
	AlarmDescription string
	ActionsEnabled   bool
	AlarmActions     []string `json:",omitempty"`
	// InsufficientDataActions is for an alarm on silence.
	InsufficientDataActions []string          `json:",omitempty"`
	Namespace               string            `json:",omitempty"`
	MetricName              string            `json:",omitempty"`
	Dimensions              []NamedValue      `json:",omitempty"`
	Statistic               retrymetrics.Stat `json:",omitempty"`
	ExtendedStatistic       retrymetrics.Stat `json:",omitempty"`
	Unit                    retrymetrics.Unit `json:",omitempty"`
	Period                  int               `json:",omitempty"`
	Metrics                 []MetricDataQuery `json:",omitempty"`
	EvaluationPeriods       int
	DatapointsToAlarm       int
	Threshold               float64
	ComparisonOperator      Comparison
	TreatMissingData        Missing
	// EvaluateLowSampleCountPercentile is ignore for percentiles: a p99 of three retries is meaningless.
	EvaluateLowSampleCountPercentile string `json:",omitempty"`
}

// NamedValue is a dimension and its value.
type NamedValue struct {
	Name  retrymetrics.Dimension
	Value string
}

// MetricDataQuery is one entry of a metric math alarm: a metric, or the expression.
type MetricDataQuery struct {
	ID         string      `json:"Id"`
	Expression string      `json:",omitempty"`
	Label      string      `json:",omitempty"`
	MetricStat *MetricStat `json:",omitempty"`
	ReturnData bool
}

// MetricStat is a metric, a statistic and a period.
type MetricStat struct {
	Metric struct {
		Namespace, MetricName string
		Dimensions            []NamedValue
	}
	Period int
	Stat   retrymetrics.Stat
	Unit   retrymetrics.Unit
}

// PutCompositeAlarm is the input of CloudWatch's PutCompositeAlarm operation.
type PutCompositeAlarm struct {
	AlarmName        string
	AlarmDescription string
	ActionsEnabled   bool
	AlarmActions     []string `json:",omitempty"`
	AlarmRule        string
}

// Put returns the inputs that create the alarms, and the composites, which must be created after them. No alarm has
// OKActions: a new alarm that turns OK for the first time would report a recovery from nothing. See Recoveries.
func (s Set) Put() ([]PutMetricAlarm, []PutCompositeAlarm) {
	out := make([]PutMetricAlarm, 0, len(s.Alarms))
	for _, a := range s.Alarms {
		out = append(out, s.put(a))
	}
	all := s.Composites()
	composites := make([]PutCompositeAlarm, 0, len(all))
	for _, c := range all {
		to := topics(s.Topic)
		if c.Pages {
			to = topics(s.PagingTopic)
		}
		composites = append(composites, PutCompositeAlarm{
			AlarmName: s.FullName(c.Name), AlarmDescription: c.Meaning + " First: " + c.First + " Guide: " + s.heading(c.Name),
			ActionsEnabled: true, AlarmActions: to, AlarmRule: c.Rule,
		})
	}
	return out, composites
}

// Recoveries returns the full names of the alarms whose change from ALARM to OK is worth a message: those that watch a
// condition and send a message or page when it begins. An alarm that pages is reported by its composite.
func (s Set) Recoveries() []string {
	var names []string
	for _, a := range s.Alarms {
		if a.Page == "" && !a.Part && !a.Event {
			names = append(names, s.FullName(a.Name))
		}
	}
	for _, c := range s.Composites() {
		if !c.Event {
			names = append(names, s.FullName(c.Name))
		}
	}
	return names
}

func (s Set) put(a Alarm) PutMetricAlarm {
	p := PutMetricAlarm{
		AlarmName: s.FullName(a.Name), AlarmDescription: s.Description(a), ActionsEnabled: true,
		EvaluationPeriods: a.Periods, DatapointsToAlarm: a.Breaching, Threshold: a.Threshold,
		ComparisonOperator: a.Comparison, TreatMissingData: a.Missing,
	}
	if a.Page == "" && !a.Part {
		p.AlarmActions = topics(s.Topic)
		if a.Silence {
			p.InsufficientDataActions = p.AlarmActions
		}
	}
	if a.Rate != nil {
		p.Metrics = s.queries(a)
		return p
	}
	p.Namespace, p.MetricName, p.Unit = a.Series.Metric.Namespace(), a.Series.Metric.Name(), a.Series.Metric.Unit()
	p.Dimensions, p.Period = dimensions(*a.Series), int(a.Period/time.Second)
	switch a.Stat {
	case retrymetrics.P50, retrymetrics.P99:
		p.ExtendedStatistic, p.EvaluateLowSampleCountPercentile = a.Stat, "ignore"
	default:
		p.Statistic = a.Stat
	}
	return p
}

func (s Set) queries(a Alarm) []MetricDataQuery {
	var out []MetricDataQuery
	for i, series := range a.watched(s.StateMachine) {
		m := MetricStat{Period: int(a.Period / time.Second), Stat: a.Rate.Terms[i].Stat, Unit: series.Metric.Unit()}
		m.Metric.Namespace, m.Metric.MetricName, m.Metric.Dimensions = series.Metric.Namespace(), series.Metric.Name(),
			dimensions(series)
		out = append(out, MetricDataQuery{ID: a.Rate.Terms[i].ID, MetricStat: &m})
	}
	return append(out, MetricDataQuery{ID: "rate", Expression: a.Rate.Expression, Label: a.Rate.Name, ReturnData: true})
}

func dimensions(s retrymetrics.Series) []NamedValue {
	out := make([]NamedValue, 0, len(s.Values))
	for i, d := range s.Set.Dimensions() {
		out = append(out, NamedValue{d, s.Values[i]})
	}
	return out
}

func topics(arn string) []string {
	if arn == "" {
		return nil
	}
	return []string{arn}
}
