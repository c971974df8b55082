package cloudwatch

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/cloudwatch/evaluation"
)

// described holds the members that metric alarms and composite alarms share in responses.
type described struct {
	ActionsEnabled          bool
	AlarmActions            []string
	AlarmArn                string
	Configured              server.Time `json:"AlarmConfigurationUpdatedTimestamp"`
	Description             string      `json:"AlarmDescription,omitempty"`
	Name                    string      `json:"AlarmName"`
	InsufficientDataActions []string
	OKActions               []string
	Reason                  string      `json:"StateReason"`
	Data                    string      `json:"StateReasonData,omitempty"`
	Updated                 server.Time `json:"StateUpdatedTimestamp"`
	State                   string      `json:"StateValue"`
	Transitioned            server.Time `json:"StateTransitionedTimestamp"`
}

type compositeAlarm struct {
	described
	Rule string `json:"AlarmRule"`
}

type metricAlarm struct {
	described
	Metric     string `json:"MetricName,omitempty"`
	Namespace  string `json:",omitempty"`
	Statistic  string `json:",omitempty"`
	Extended   string `json:"ExtendedStatistic,omitempty"`
	Dimensions []Dimension
	Period     int64         `json:",omitempty"`
	Unit       string        `json:",omitempty"`
	Periods    int           `json:"EvaluationPeriods"`
	Datapoints int           `json:"DatapointsToAlarm,omitempty"`
	Threshold  *float64      `json:",omitempty"`
	Band       string        `json:"ThresholdMetricId,omitempty"`
	Comparison string        `json:"ComparisonOperator"`
	Missing    string        `json:"TreatMissingData,omitempty"`
	LowSamples string        `json:"EvaluateLowSampleCountPercentile,omitempty"`
	Metrics    []metricQuery `json:",omitempty"`
}

func list(arns []string) []string { return append([]string{}, arns...) }

func (a *alarm) described() described {
	return described{a.Enabled, list(a.Alarm), a.ARN, server.Time(a.Configured), a.Description, a.Name,
		list(a.Insufficient),
		list(a.OK), a.Reason, a.Data, server.Time(a.Updated), a.State, server.Time(a.Transitioned)}
}

func (a *alarm) metric() metricAlarm {
	m := metricAlarm{
		described:  a.described(),
		Periods:    a.Periods,
		Datapoints: a.Datapoints,
		Band:       a.Band,
		Dimensions: []Dimension{},
		Comparison: a.Comparison,
		Missing:    a.Missing,
		LowSamples: a.LowSamples,
		Metrics:    a.Metrics,
	}
	if a.Band == "" {
		m.Threshold = &a.Threshold
	}
	if a.Metric == nil {
		return m
	}
	m.Metric, m.Namespace, m.Dimensions = a.Metric.Metric.Name, a.Metric.Metric.Namespace, a.Metric.Metric.Dimensions
	m.Period, m.Unit = a.Metric.Period, a.Metric.Unit
	switch a.Metric.Stat {
	case "SampleCount", "Sum", "Average", "Minimum", "Maximum":
		m.Statistic = a.Metric.Stat
	default:
		m.Extended = a.Metric.Stat
	}
	return m
}

type describeAlarmsRequest struct {
	namesRequest
	Prefix       string   `json:"AlarmNamePrefix"`
	Types        []string `json:"AlarmTypes"`
	Children     string   `json:"ChildrenOfAlarmName"`
	Parents      string   `json:"ParentsOfAlarmName"`
	State        string   `json:"StateValue"`
	ActionPrefix string
	Most         int `json:"MaxRecords"`
	NextToken    string
}

type describeAlarmsAnswer struct {
	Composite []compositeAlarm `json:"CompositeAlarms"`
	Metric    []metricAlarm    `json:"MetricAlarms"`
	NextToken string           `json:",omitempty"`
}

func (s *Service) describeAlarms(_ context.Context, scope aws.Scope, in *describeAlarmsRequest) (*describeAlarmsAnswer,
	error) {
	const usual = 50
	if len(in.Names) > 0 && in.Prefix != "" {
		return nil, combination("The parameters AlarmNames and AlarmNamePrefix are mutually exclusive and you have specified both.")
	}
	all, err := s.alarms(scope, in.Prefix)
	if err != nil {
		return nil, err
	}
	types := in.Types
	if len(types) == 0 {
		types = []string{"MetricAlarm"}
		if len(in.Names) > 0 || in.Children != "" || in.Parents != "" {
			types = []string{"MetricAlarm", "CompositeAlarm"}
		}
	}
	related, err := s.related(scope, in)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(a *alarm) bool {
		kind := "MetricAlarm"
		if a.Rule != "" {
			kind = "CompositeAlarm"
		}
		return !slices.Contains(types, kind) || len(in.Names) > 0 && !slices.Contains(in.Names, a.Name) ||
			in.State != "" && a.State != in.State || related != nil && !related[a.Name] ||
			in.ActionPrefix != "" &&
				!slices.ContainsFunc(slices.Concat(a.OK, a.Alarm, a.Insufficient), func(arn string) bool {
					return strings.HasPrefix(arn, in.ActionPrefix)
				})
	})
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), "alarms", scopeKey(scope), in.Prefix), in.NextToken,
		cmp.Or(in.Most, usual), all, func(a *alarm) string { return a.Name })
	if !ok {
		return nil, invalidToken()
	}
	answer := &describeAlarmsAnswer{[]compositeAlarm{}, []metricAlarm{}, next}
	for _, a := range page {
		if a.Rule != "" {
			answer.Composite = append(answer.Composite, compositeAlarm{a.described(), a.Rule})
		} else {
			answer.Metric = append(answer.Metric, a.metric())
		}
	}
	return answer, nil
}

// related returns the names of the alarms in the rule of a given alarm (its children), or of the alarms whose rules
// contain it (its parents). It returns nil if the request asks for neither.
func (s *Service) related(scope aws.Scope, in *describeAlarmsRequest) (map[string]bool, error) {
	if in.Children == "" && in.Parents == "" {
		return nil, nil //nolint:nilnil // documented
	}
	all, err := s.alarms(scope, "")
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, a := range all {
		if a.Rule == "" {
			continue
		}
		rule, err := evaluation.ParseComposite(a.Rule)
		if err != nil {
			return nil, err
		}
		for _, name := range rule.Alarms() {
			if a.Name == in.Children {
				found[alarmName(name)] = true
			}
			if alarmName(name) == in.Parents {
				found[a.Name] = true
			}
		}
	}
	return found, nil
}

type forMetricRequest struct {
	Metric     string `json:"MetricName"`
	Namespace  string
	Statistic  string
	Extended   string `json:"ExtendedStatistic"`
	Dimensions []Dimension
	Period     int64
	Unit       string
}

type forMetricAnswer struct {
	Alarms []metricAlarm `json:"MetricAlarms"`
}

func (s *Service) describeAlarmsForMetric(_ context.Context, scope aws.Scope, in *forMetricRequest) (*forMetricAnswer,
	error) {
	m := Metric{in.Namespace, in.Metric, in.Dimensions}
	m.sorted()
	all, err := s.alarms(scope, "")
	answer := &forMetricAnswer{[]metricAlarm{}}
	for _, a := range all {
		if a.Metric != nil && a.Metric.Metric.text() == m.text() && (in.Period == 0 || in.Period == a.Metric.Period) &&
			(in.Unit == "" || in.Unit == a.Metric.Unit) &&
			(in.Statistic+in.Extended == "" || in.Statistic+in.Extended == a.Metric.Stat) {
			answer.Alarms = append(answer.Alarms, a.metric())
		}
	}
	return answer, err
}
