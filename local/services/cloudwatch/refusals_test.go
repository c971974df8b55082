package cloudwatch_test

import (
	"math"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// TestAlarmsOnImpossibleExpressions checks the expressions of an alarm when it is put, not when it is evaluated.
func TestAlarmsOnImpossibleExpressions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	metric := func(id string) types.MetricDataQuery {
		return types.MetricDataQuery{Id: &id, ReturnData: sdk.Bool(false), MetricStat: &types.MetricStat{
			Period: sdk.Int32(60), Stat: sdk.String("Sum"), Metric: &types.Metric{Namespace: sdk.String("App"), MetricName: sdk.String("m")}}}
	}
	many := []types.MetricDataQuery{{Id: sdk.String("e"), Expression: sdk.String("SUM(METRICS())")}}
	for _, id := range []string{"a", "b", "c", "d", "f", "g", "h", "i", "j", "k", "l"} {
		many = append(many, metric(id))
	}
	expression := func(text string) []types.MetricDataQuery {
		return []types.MetricDataQuery{metric("m"), metric("n"), {Id: sdk.String("e"), Expression: &text}}
	}
	for _, c := range []struct {
		queries []types.MetricDataQuery
		want    string
	}{
		{expression("zz*2"), "Error in expression 'e': column 1: no metric or expression has the id zz"},
		{expression("m*"), "Error in expression 'e': column 3: expected a number, an id, a function or ("},
		{expression("NOPE(m)"), "Error in expression 'e': column 1: the function NOPE is not known here"},
		{expression("e+m"), "the expressions refer to each other in a circle"},
		{expression("SEARCH('{App} m', 'Sum', 60)"), "SEARCH is not supported on Metric Alarms."},
		{expression("METRICS()"), "an alarm compares one time series, and the expression has an array of them"},
		{expression("SELECT SUM(m) FROM"), "Error in expression 'e': "},
		{expression("SELECT SUM(m) FROM App GROUP BY Host"), "an alarm compares one time series"},
		{many, "An alarm can have at most 10 metrics."},
		{expression("IF(FILL(m, 0) > 1 && n < 2, m/n*100, AVG(METRICS()))"), ""},
		{expression("SELECT SUM(m) FROM App"), ""},
		{many[:10], ""},
	} {
		_, err := b.PutMetricAlarm(t.Context(), &client.PutMetricAlarmInput{AlarmName: sdk.String("a"), Metrics: c.queries,
			ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold, EvaluationPeriods: sdk.Int32(1),
			Threshold: sdk.Float64(1)})
		if c.want != "" {
			refused(t, err, "ValidationError", c.want)
		} else if err != nil {
			t.Error(err)
		}
	}
}

func TestDataThatAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	statistics := func(count, sum, low, high float64) types.MetricDatum {
		return types.MetricDatum{StatisticValues: &types.StatisticSet{SampleCount: &count, Sum: &sum, Minimum: &low,
			Maximum: &high}}
	}
	for _, c := range []struct {
		namespace string
		datum     types.MetricDatum
		want      string
	}{
		{"App", types.MetricDatum{Value: sdk.Float64(math.NaN())}, "The value NaN for parameter MetricData.member.1.Value is invalid."},
		{"App", types.MetricDatum{Value: sdk.Float64(math.Inf(1))}, "The value +Inf for parameter MetricData.member.1.Value is invalid."},
		{"App", types.MetricDatum{Values: []float64{1, math.NaN()}}, "The value NaN for parameter MetricData.member.1.Value is invalid."},
		{"App", types.MetricDatum{Values: []float64{1}, Counts: []float64{-1}},
			"The value -1 for parameter MetricData.member.1.Counts.member.1 is invalid."},
		{"App", statistics(math.NaN(), 1, 1, 1), "The value NaN for parameter MetricData.member.1.Value is invalid."},
		{"App", statistics(1, 1, 1, math.NaN()), "The value NaN for parameter MetricData.member.1.Value is invalid."},
		{"a*b", types.MetricDatum{Value: sdk.Float64(1)}, "The value a*b for parameter Namespace is invalid."},
		{"A 1.-_/#:", types.MetricDatum{Value: sdk.Float64(1)}, ""},
	} {
		c.datum.MetricName = sdk.String("m")
		_, err := b.PutMetricData(t.Context(), &client.PutMetricDataInput{Namespace: &c.namespace,
			MetricData: []types.MetricDatum{c.datum}})
		if c.want != "" {
			refused(t, err, "InvalidParameterValue", c.want)
		} else if err != nil {
			t.Error(err)
		}
	}
}
