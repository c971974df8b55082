package cloudwatch_test

import (
	"fmt"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// TestTooMuchMetricData refuses requests that compute too much: over a long time with a short period, for many
// metrics, and with expressions that refer to each other so that their number doubles with each.
func TestTooMuchMetricData(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	metric := func(id string, period int32) types.MetricDataQuery {
		return types.MetricDataQuery{Id: &id, MetricStat: &types.MetricStat{Period: &period, Stat: sdk.String("Sum"),
			Metric: &types.Metric{Namespace: sdk.String("App"), MetricName: sdk.String("Calls")}}}
	}
	expression := func(id, text string) types.MetricDataQuery {
		return types.MetricDataQuery{Id: &id,
			Expression: &text}
	}
	var many, doubled []types.MetricDataQuery
	for i := range 400 {
		many = append(many, metric(fmt.Sprintf("m%d", i), 60))
	}
	doubled = append(doubled, expression("e0", "TIME_SERIES(1)"))
	for i := range 45 {
		doubled = append(doubled, expression(fmt.Sprintf("e%d", i+1), fmt.Sprintf("e%d + e%d", i, i)))
	}
	const message = "The request computes more than 500000 values; ask for less by a longer Period, a shorter time or fewer expressions."
	for name, test := range map[string]struct {
		days    int
		queries []types.MetricDataQuery
	}{
		"long":    {400, []types.MetricDataQuery{metric("m", 1), expression("e", "FILL(m, 0)"), expression("f", "TIME_SERIES(1)")}},
		"many":    {10, many},
		"doubled": {1, doubled},
		"all":     {10, append(many[:400:400], expression("sum", "SUM(METRICS())"))},
	} {
		_, err := b.GetMetricData(t.Context(),
			&client.GetMetricDataInput{StartTime: sdk.Time(epoch.Add(-time.Duration(test.days) * 24 * time.Hour)),
				EndTime: &epoch, MetricDataQueries: test.queries})
		t.Log(name)
		refused(t, err, "ValidationError", message)
	}
}
