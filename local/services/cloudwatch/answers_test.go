package cloudwatch_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// A deleted alarm has no tags; asking for them is no error. In JSON, a whole threshold has a point, as on AWS.
func TestTagsAndNumbersOfAlarms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	if _, err := b.PutMetricAlarm(ctx, &client.PutMetricAlarmInput{AlarmName: sdk.String("a"), Namespace: sdk.String("N"),
		MetricName: sdk.String("m"), Period: sdk.Int32(60), EvaluationPeriods: sdk.Int32(1), Threshold: sdk.Float64(30),
		ComparisonOperator: "GreaterThanThreshold", Statistic: "Sum", Tags: []types.Tag{{Key: sdk.String("k"), Value: sdk.String("v")}}}); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.server.URL, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "GraniteServiceVersion20100801.DescribeAlarms")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=111111111111/20261122/eu-west-1/monitoring/aws4_request, Signature=0")
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	if err != nil || !strings.Contains(string(body), `"Threshold":30.0`) || !strings.Contains(string(body), `"Period":60,`) {
		t.Errorf("%s, %v", body, err)
	}
	if _, err := b.DeleteAlarms(ctx, &client.DeleteAlarmsInput{AlarmNames: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	tags, err := b.ListTagsForResource(ctx, &client.ListTagsForResourceInput{
		ResourceARN: sdk.String("arn:aws:cloudwatch:eu-west-1:111111111111:alarm:a")})
	if err != nil || len(tags.Tags) != 0 {
		t.Errorf("%+v, %v", tags, err)
	}
}

// TestPagesOfMetricData reads the data of two metrics in pages of seven datapoints.
func TestPagesOfMetricData(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	now := b.clock.Now().Truncate(time.Minute)
	var data []types.MetricDatum
	for i := range 10 {
		at := now.Add(-time.Duration(i+1) * time.Minute)
		data = append(data, types.MetricDatum{MetricName: sdk.String("a"), Timestamp: &at, Value: sdk.Float64(float64(i))},
			types.MetricDatum{MetricName: sdk.String("b"), Timestamp: &at, Values: []float64{1},
				StatisticValues: &types.StatisticSet{SampleCount: sdk.Float64(2), Sum: sdk.Float64(20),
					Minimum: sdk.Float64(10),
					Maximum: sdk.Float64(10)}})
	}
	if _, err := b.PutMetricData(ctx, &client.PutMetricDataInput{Namespace: sdk.String("N"), MetricData: data}); err != nil {
		t.Fatal(err)
	}
	of := func(id string) types.MetricDataQuery {
		return types.MetricDataQuery{Id: &id, MetricStat: &types.MetricStat{Period: sdk.Int32(60), Stat: sdk.String("Sum"),
			Metric: &types.Metric{Namespace: sdk.String("N"), MetricName: &id}}}
	}
	in := &client.GetMetricDataInput{StartTime: sdk.Time(now.Add(-time.Hour)), EndTime: &now,
		MaxDatapoints:     sdk.Int32(7),
		MetricDataQueries: []types.MetricDataQuery{of("a"), of("b"), of("none")}}
	var pages []string
	sums := map[string]float64{}
	for {
		out, err := b.GetMetricData(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		page := ""
		for _, r := range out.MetricDataResults {
			page += *r.Id + strings.Repeat(".", len(r.Values)) + string(r.StatusCode) + " "
			for _, v := range r.Values {
				sums[*r.Id] += v
			}
		}
		pages = append(pages, strings.TrimSpace(page))
		if in.NextToken = out.NextToken; in.NextToken == nil {
			break
		}
	}
	if got := strings.Join(pages, "; "); got != "a.......PartialData; a...Complete b....PartialData; b......Complete" {
		t.Errorf("pages %s", got)
	}
	if sums["a"] != 45 || sums["b"] != 210 {
		t.Errorf("sums %v", sums)
	}
	in.NextToken = sdk.String("x")
	_, err := b.GetMetricData(ctx, in)
	refused(t, err, "InvalidNextToken", "The next token is not valid for this request.")
}
