package cloudwatch_test

import (
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// learned puts a metric with alternating values of 10 and 12 for the last two hours, and returns a query for it.
func learned(b *bench) types.MetricDataQuery {
	b.t.Helper()
	for i := range 120 {
		if _, err := b.PutMetricData(b.t.Context(), &client.PutMetricDataInput{Namespace: sdk.String("App"), MetricData: []types.MetricDatum{{
			MetricName: sdk.String("load"), Value: sdk.Float64(10 + float64(i%2)*2), Timestamp: sdk.Time(epoch.Add(time.Duration(i-120) * time.Minute))}}}); err != nil {
			b.t.Fatal(err)
		}
	}
	return types.MetricDataQuery{
		Id:         sdk.String("m1"),
		ReturnData: sdk.Bool(true),
		MetricStat: &types.MetricStat{Period: sdk.Int32(60),
			Stat: sdk.String(
				"Average",
			), Metric: &types.Metric{Namespace: sdk.String("App"), MetricName: sdk.String("load")}},
	}
}

func TestBand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	q := learned(b)
	out, err := b.GetMetricData(
		t.Context(),
		&client.GetMetricDataInput{StartTime: sdk.Time(epoch.Add(-time.Minute)), EndTime: sdk.Time(epoch),
			MetricDataQueries: []types.MetricDataQuery{
				q,
				{Id: sdk.String("ad"), Expression: sdk.String("ANOMALY_DETECTION_BAND(m1, 3)")},
			}},
	)
	if err != nil || len(out.MetricDataResults) != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	upper, lower := out.MetricDataResults[1].Values, out.MetricDataResults[2].Values
	if len(upper) != 1 || len(lower) != 1 || upper[0] < 13.9 || upper[0] > 14.1 || lower[0] < 7.9 || lower[0] > 8.1 {
		t.Errorf("%v to %v, want 8 to 14", lower, upper)
	}
}

func TestAlarmOnABand(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	q := learned(b)
	in := &client.PutMetricAlarmInput{
		AlarmName:          sdk.String("odd"),
		EvaluationPeriods:  sdk.Int32(1),
		AlarmActions:       []string{topic},
		ComparisonOperator: types.ComparisonOperatorLessThanLowerOrGreaterThanUpperThreshold,
		ThresholdMetricId:  sdk.String("ad"),
		Metrics: []types.MetricDataQuery{
			q,
			{Id: sdk.String("ad"), Expression: sdk.String("ANOMALY_DETECTION_BAND(m1, 3)")},
		},
	}
	if _, err := b.PutMetricAlarm(ctx, in); err != nil {
		t.Fatal(err)
	}
	b.put("load", 11)
	b.pass(2 * time.Minute)
	state := func() types.MetricAlarm {
		t.Helper()
		out, err := b.DescribeAlarms(ctx, &client.DescribeAlarmsInput{AlarmNames: []string{"odd"}})
		if err != nil || len(out.MetricAlarms) != 1 {
			t.Fatal(err)
		}
		return out.MetricAlarms[0]
	}
	if a := state(); a.StateValue != "OK" || a.Threshold != nil || sdk.ToString(a.ThresholdMetricId) != "ad" {
		t.Errorf("%s: %s", a.StateValue, *a.StateReason)
	}
	b.put("load", 99)
	b.pass(70 * time.Second)
	if a := state(); a.StateValue != "ALARM" || !strings.Contains(
		*a.StateReason,
		"was less than the lower thresholds [8.",
	) || !strings.Contains(*a.StateReason, "or greater than the upper thresholds [1") {
		t.Errorf("%s: %s", a.StateValue, *a.StateReason)
	}
	in.ThresholdMetricId = sdk.String("m1")
	_, err := b.PutMetricAlarm(ctx, in)
	refused(t, err, "ValidationError", "must be an ANOMALY_DETECTION_BAND")
}

func TestDetectors(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	learned(b)
	single := &types.SingleMetricAnomalyDetector{
		Namespace:  sdk.String("App"),
		MetricName: sdk.String("load"),
		Stat:       sdk.String("Average"),
	}
	if _, err := b.PutAnomalyDetector(ctx, &client.PutAnomalyDetectorInput{SingleMetricAnomalyDetector: single,
		Configuration: &types.AnomalyDetectorConfiguration{MetricTimezone: sdk.String("Europe/Berlin"), ExcludedTimeRanges: []types.Range{
			{StartTime: sdk.Time(epoch.Add(-time.Hour)), EndTime: sdk.Time(epoch)}}}}); err != nil {
		t.Fatal(err)
	}
	out, err := b.DescribeAnomalyDetectors(ctx, &client.DescribeAnomalyDetectorsInput{Namespace: sdk.String("App")})
	if err != nil || len(out.AnomalyDetectors) != 1 {
		t.Fatal(out, err)
	}
	d := out.AnomalyDetectors[0]
	if d.StateValue != types.AnomalyDetectorStateValueTrained || *d.SingleMetricAnomalyDetector.Stat != "Average" ||
		len(d.Configuration.ExcludedTimeRanges) != 1 || !d.Configuration.ExcludedTimeRanges[0].EndTime.Equal(epoch) {
		t.Errorf("%+v", d)
	}
	gone := &client.DeleteAnomalyDetectorInput{SingleMetricAnomalyDetector: single}
	if _, err := b.DeleteAnomalyDetector(ctx, gone); err != nil {
		t.Error(err)
	}
	_, err = b.DeleteAnomalyDetector(ctx, &client.DeleteAnomalyDetectorInput{SingleMetricAnomalyDetector: single})
	refused(t, err, "ResourceNotFoundException", "does not exist")
}

func TestInsightRulesAndStreams(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	const definition = `{"Schema":{"Name":"CloudWatchLogRule","Version":1},"LogGroupNames":["g"],"LogFormat":"JSON","Contribution":{"Keys":["$.ip"],"Filters":[]},"AggregateOn":"Count"}`
	if _, err := b.PutInsightRule(ctx, &client.PutInsightRuleInput{RuleName: sdk.String("r"), RuleDefinition: sdk.String(definition)}); err != nil {
		t.Fatal(err)
	}
	failed, err := b.DisableInsightRules(ctx, &client.DisableInsightRulesInput{RuleNames: []string{"r", "none"}})
	if err != nil || len(failed.Failures) != 1 || *failed.Failures[0].FailureResource != "none" {
		t.Errorf("%+v, %v", failed, err)
	}
	rules, err := b.DescribeInsightRules(ctx, nil)
	if err != nil || len(rules.InsightRules) != 1 || *rules.InsightRules[0].State != "DISABLED" {
		t.Errorf("%+v, %v", rules, err)
	}
	stream := &client.PutMetricStreamInput{
		Name:         sdk.String("s"),
		RoleArn:      sdk.String("arn:aws:iam::111111111111:role/s"),
		OutputFormat: "json",
		FirehoseArn: sdk.String(
			"arn:aws:firehose:eu-west-1:111111111111:deliverystream/d",
		),
		Tags: []types.Tag{{Key: sdk.String("k"), Value: sdk.String("v")}},
	}
	put, err := b.PutMetricStream(ctx, stream)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.StopMetricStreams(ctx, &client.StopMetricStreamsInput{Names: []string{"s"}}); err != nil {
		t.Error(err)
	}
	got, err := b.GetMetricStream(ctx, &client.GetMetricStreamInput{Name: sdk.String("s")})
	if err != nil || *got.State != "stopped" || *got.FirehoseArn != *stream.FirehoseArn {
		t.Errorf("%+v, %v", got, err)
	}
	tags, err := b.ListTagsForResource(ctx, &client.ListTagsForResourceInput{ResourceARN: put.Arn})
	if err != nil || len(tags.Tags) != 1 || *tags.Tags[0].Value != "v" {
		t.Errorf("%+v, %v", tags, err)
	}
	if _, err := b.DeleteMetricStream(ctx, &client.DeleteMetricStreamInput{Name: sdk.String("s")}); err != nil {
		t.Error(err)
	}
	_, err = b.GetMetricStream(ctx, &client.GetMetricStreamInput{Name: sdk.String("s")})
	refused(t, err, "ResourceNotFoundException", "does not exist")
}

func TestUnitsAreNotMixedAndLabelsTellMetricsApart(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	put := func(name string, value float64, unit types.StandardUnit) {
		t.Helper()
		if _, err := b.PutMetricData(ctx, &client.PutMetricDataInput{Namespace: sdk.String("App"), MetricData: []types.MetricDatum{{
			MetricName: &name, Value: &value, Unit: unit, Timestamp: sdk.Time(epoch.Add(-time.Minute))}}}); err != nil {
			t.Fatal(err)
		}
	}
	put("wait", 60_000, types.StandardUnitMilliseconds)
	put("wait", 5, types.StandardUnitSeconds)
	query := func(id, stat string, period int32) types.MetricDataQuery {
		return types.MetricDataQuery{Id: &id, MetricStat: &types.MetricStat{Period: &period, Stat: &stat,
			Metric: &types.Metric{Namespace: sdk.String("App"), MetricName: sdk.String("wait")}}}
	}
	out, err := b.GetMetricData(
		ctx,
		&client.GetMetricDataInput{StartTime: sdk.Time(epoch.Add(-time.Hour)), EndTime: sdk.Time(epoch),
			MetricDataQueries: []types.MetricDataQuery{query("a", "Sum", 60), query("b", "Minimum", 300)}},
	)
	if err != nil || len(out.MetricDataResults) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	a := out.MetricDataResults[0]
	if len(a.Values) != 1 || a.Values[0] != 60_000 || *a.Label != "wait Sum 60" || len(a.Messages) != 1 ||
		*a.Messages[0].Code != "MultipleUnits" || *a.Messages[0].Value != "Multiple units returned: '[Milliseconds, Seconds]'" {
		t.Errorf("%+v", a)
	}
	if l := *out.MetricDataResults[1].Label; l != "wait Minimum 300" {
		t.Error(l)
	}
	statistics, err := b.GetMetricStatistics(
		ctx,
		&client.GetMetricStatisticsInput{Namespace: sdk.String("App"), MetricName: sdk.String("wait"),
			StartTime: sdk.Time(
				epoch.Add(-time.Hour),
			), EndTime: sdk.Time(epoch), Period: sdk.Int32(3600), Statistics: []types.Statistic{"Average"}},
	)
	if err != nil || len(statistics.Datapoints) != 2 || *statistics.Datapoints[0].Average != 60_000 ||
		*statistics.Datapoints[1].Average != 5 {
		t.Errorf("%+v, %v", statistics, err)
	}
}
