package cloudwatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/dashboards/render"
	"stepback/retrymetrics/metricmath"
)

// Alarm is a stored alarm, metric or composite.
type Alarm struct {
	render.Alarm
	Composite bool `json:"composite"`
	// Description is the text of the alarm's author. Reason is why it is in its state.
	Description string    `json:"description,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	Updated     time.Time `json:"updated"`
	// Watches describes the rule, or the comparison of a metric alarm.
	Watches        string   `json:"watches"`
	Rule           string   `json:"rule,omitempty"`
	ActionsEnabled bool     `json:"actionsEnabled"`
	AlarmActions   []string `json:"alarmActions,omitempty"`
	OKActions      []string `json:"okActions,omitempty"`
	NoDataActions  []string `json:"insufficientDataActions,omitempty"`
	Comparison     string   `json:"comparisonOperator,omitempty"`
}

// perRequest is the most names in a DescribeAlarms request.
const perRequest = 100

// Alarms implements render.Source. The alarms are those of the regions in their ARNs.
func (s *Source) Alarms(ctx context.Context, arns []string) ([]render.Alarm, error) {
	byRegion := map[string][]string{}
	for _, arn := range arns {
		region := ""
		if parts := strings.Split(arn, ":"); len(parts) > 3 && parts[0] == "arn" {
			region = parts[3]
		}
		byRegion[region] = append(byRegion[region], render.AlarmName(arn))
	}
	found := map[string]*Alarm{}
	for region, names := range byRegion {
		for some := range slices.Chunk(names, perRequest) {
			all, err := describe(ctx, s.Client, &cloudwatch.DescribeAlarmsInput{AlarmNames: some}, region)
			if err != nil {
				return nil, fmt.Errorf("%d alarms: %w", len(arns), err)
			}
			for i := range all {
				found[region+":"+all[i].Name] = &all[i]
			}
		}
	}
	out := make([]render.Alarm, len(arns))
	for i, arn := range arns {
		region := ""
		if parts := strings.Split(arn, ":"); len(parts) > 3 && parts[0] == "arn" {
			region = parts[3]
		}
		out[i] = render.Alarm{Name: render.AlarmName(arn), ARN: arn, State: render.Missing,
			Text: "The dashboard shows this alarm, and the endpoint does not have it."}
		if a := found[region+":"+out[i].Name]; a != nil {
			out[i] = a.Alarm
		}
	}
	return out, nil
}

// AllAlarms returns the alarms, metric and composite, whose names begin with prefix, in a region; those in ALARM first.
// region is empty for the client's own.
func AllAlarms(ctx context.Context, c Client, prefix, region string) ([]Alarm, error) {
	request := &cloudwatch.DescribeAlarmsInput{}
	if prefix != "" {
		request.AlarmNamePrefix = aws.String(prefix)
	}
	all, err := describe(ctx, c, request, region)
	if err != nil {
		return nil, fmt.Errorf("the list of alarms: %w", err)
	}
	rank := map[string]int{render.Alarming: 0, render.InsufficientData: 1, render.OK: 2}
	slices.SortStableFunc(all, func(a, b Alarm) int {
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

// OneAlarm returns an alarm by its name; nil if there is none.
func OneAlarm(ctx context.Context, c Client, name string) (*Alarm, error) {
	all, err := describe(ctx, c, &cloudwatch.DescribeAlarmsInput{AlarmNames: []string{name}}, "")
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// Children returns the alarms in the rule of a composite alarm.
func Children(ctx context.Context, c Client, name string) ([]Alarm, error) {
	return describe(ctx, c, &cloudwatch.DescribeAlarmsInput{ChildrenOfAlarmName: aws.String(name)}, "")
}

func describe(ctx context.Context, c Client, request *cloudwatch.DescribeAlarmsInput, region string) ([]Alarm, error) {
	if request.ChildrenOfAlarmName == nil {
		request.AlarmTypes = []types.AlarmType{types.AlarmTypeMetricAlarm, types.AlarmTypeCompositeAlarm}
	}
	all := []Alarm{}
	for {
		out, err := c.DescribeAlarms(ctx, request, inRegion(region))
		if err != nil {
			return nil, said(err)
		}
		for i := range out.MetricAlarms {
			all = append(all, ofMetric(&out.MetricAlarms[i]))
		}
		for i := range out.CompositeAlarms {
			a := &out.CompositeAlarms[i]
			all = append(all, Alarm{
				Alarm: shown(a.AlarmName, a.AlarmArn, a.StateValue, a.AlarmDescription,
					a.StateTransitionedTimestamp, a.StateUpdatedTimestamp),
				Composite: true, Description: aws.ToString(a.AlarmDescription), Reason: aws.ToString(a.StateReason),
				Updated: aws.ToTime(a.StateUpdatedTimestamp).UTC(), Rule: aws.ToString(a.AlarmRule),
				Watches:        aws.ToString(a.AlarmRule),
				ActionsEnabled: aws.ToBool(a.ActionsEnabled), AlarmActions: a.AlarmActions, OKActions: a.OKActions,
				NoDataActions: a.InsufficientDataActions,
			})
		}
		if request.NextToken = out.NextToken; aws.ToString(request.NextToken) == "" {
			return all, nil
		}
	}
}

func shown(name, arn *string, state types.StateValue, description *string, since, updated *time.Time) render.Alarm {
	if since == nil {
		since = updated
	}
	return render.Alarm{Name: aws.ToString(name), ARN: aws.ToString(arn), State: string(state),
		Text:    aws.ToString(description),
		Tripped: state == types.StateValueAlarm, Since: aws.ToTime(since).UTC()}
}

func ofMetric(a *types.MetricAlarm) Alarm {
	out := Alarm{
		Alarm: shown(a.AlarmName, a.AlarmArn, a.StateValue, a.AlarmDescription, a.StateTransitionedTimestamp,
			a.StateUpdatedTimestamp),
		Description: aws.ToString(a.AlarmDescription), Reason: aws.ToString(a.StateReason),
		Updated: aws.ToTime(a.StateUpdatedTimestamp).UTC(), ActionsEnabled: aws.ToBool(a.ActionsEnabled),
		AlarmActions: a.AlarmActions, OKActions: a.OKActions, NoDataActions: a.InsufficientDataActions,
		Comparison: string(a.ComparisonOperator),
	}
	out.Threshold = a.Threshold
	region := ""
	if parts := strings.Split(out.ARN, ":"); len(parts) > 3 {
		region = parts[3]
	}
	seconds := func(p *int32) time.Duration { return time.Duration(aws.ToInt32(p)) * time.Second }
	if a.MetricName != nil {
		out.Watched = []render.Query{{ID: "m", Metric: metricFrom(aws.ToString(a.Namespace), aws.ToString(a.MetricName), a.Dimensions),
			Stat: cmp.Or(string(a.Statistic), aws.ToString(a.ExtendedStatistic)), Period: seconds(a.Period),
			Region: region}}
	}
	longest := time.Minute
	for _, q := range a.Metrics {
		if q.MetricStat != nil {
			longest = max(longest, seconds(q.MetricStat.Period))
		}
	}
	for _, q := range a.Metrics {
		one := render.Query{ID: aws.ToString(q.Id), Label: aws.ToString(q.Label), Hidden: q.ReturnData != nil &&
			!*q.ReturnData,
			Account: aws.ToString(q.AccountId), Region: region, Expression: aws.ToString(q.Expression),
			Period: cmp.Or(seconds(q.Period), longest)}
		if m := q.MetricStat; m != nil && m.Metric != nil {
			one.Metric = metricFrom(aws.ToString(m.Metric.Namespace), aws.ToString(m.Metric.MetricName),
				m.Metric.Dimensions)
			one.Stat, one.Period = aws.ToString(m.Stat), seconds(m.Period)
		}
		out.Watched = append(out.Watched, one)
	}
	out.Watches = out.comparison(a)
	return out
}

func metricFrom(namespace, name string, dimensions []types.Dimension) *metricmath.Metric {
	m := &metricmath.Metric{Namespace: namespace, Name: name}
	for _, d := range dimensions {
		m.Dimensions = append(m.Dimensions, metricmath.Dimension{Name: aws.ToString(d.Name),
			Value: aws.ToString(d.Value)})
	}
	return m
}

// comparison describes what a metric alarm compares: Sum of AWS/States ExecutionsFailed > 0, 1 of 1 periods of 5m.
func (a *Alarm) comparison(of *types.MetricAlarm) string {
	what := ""
	period := time.Minute
	for _, q := range a.Watched {
		if q.Hidden {
			continue
		}
		period = q.Period
		if what = q.Expression; q.Metric != nil {
			what = q.Stat + " of " + q.Metric.Namespace + " " + q.Metric.Name
		}
		break
	}
	operator := map[types.ComparisonOperator]string{types.ComparisonOperatorGreaterThanThreshold: ">",
		types.ComparisonOperatorGreaterThanOrEqualToThreshold: "≥", types.ComparisonOperatorLessThanThreshold: "<",
		types.ComparisonOperatorLessThanOrEqualToThreshold: "≤"}[of.ComparisonOperator]
	threshold := "outside its band"
	if a.Threshold != nil {
		threshold = fmt.Sprintf("%s %g", cmp.Or(operator, string(of.ComparisonOperator)), *a.Threshold)
	}
	periods := aws.ToInt32(of.EvaluationPeriods)
	return fmt.Sprintf("%s %s, %d of %d periods of %s", what, threshold, cmp.Or(aws.ToInt32(of.DatapointsToAlarm), periods), periods,
		strings.TrimSuffix(strings.TrimSuffix(period.String(), "0s"), "0m"))
}

// Event is an item of an alarm's history.
type Event struct {
	At      time.Time `json:"timestamp"`
	Alarm   string    `json:"alarmName"`
	Kind    string    `json:"type"` // StateUpdate, ConfigurationUpdate or Action
	Summary string    `json:"summary"`
	Data    string    `json:"-"`
}

// History returns the latest events of an alarm, newest first, at most `most`; of all alarms if name is empty.
func History(ctx context.Context, c Client, name string, most int) ([]Event, error) {
	const page = 100
	request := &cloudwatch.DescribeAlarmHistoryInput{MaxRecords: aws.Int32(int32(min(most, page))),
		ScanBy: types.ScanByTimestampDescending, AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm,
			types.AlarmTypeCompositeAlarm}}
	if name != "" {
		request.AlarmName = aws.String(name)
	}
	all := []Event{}
	for {
		out, err := c.DescribeAlarmHistory(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("the history of %s: %w", cmp.Or(name, "all alarms"), said(err))
		}
		for _, h := range out.AlarmHistoryItems {
			all = append(all, Event{aws.ToTime(h.Timestamp).UTC(), aws.ToString(h.AlarmName), string(h.HistoryItemType),
				aws.ToString(h.HistorySummary), aws.ToString(h.HistoryData)})
		}
		if request.NextToken = out.NextToken; aws.ToString(request.NextToken) == "" || len(all) >= most {
			return all[:min(len(all), most)], nil
		}
	}
}
