package controller

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/retrymetrics"
)

// CloudWatch reads metrics from CloudWatch, or from any endpoint that implements GetMetricData.
type CloudWatch struct {
	Client cloudwatch.GetMetricDataAPIClient
}

// queriesAtOnce is the maximum number of queries in one GetMetricData request.
const queriesAtOnce = 500

// Minutes implements [Metrics].
func (c CloudWatch) Minutes(ctx context.Context, all []retrymetrics.Series, from, to time.Time,
) ([]map[time.Time]float64, error) {
	out := make([]map[time.Time]float64, 0, len(all))
	for some := range slices.Chunk(all, queriesAtOnce) {
		values, err := c.fetch(ctx, some, from, to)
		if err != nil {
			return nil, err
		}
		out = append(out, values...)
	}
	return out, nil
}

func (c CloudWatch) fetch(ctx context.Context, all []retrymetrics.Series, from, to time.Time,
) ([]map[time.Time]float64, error) {
	in := &cloudwatch.GetMetricDataInput{StartTime: &from, EndTime: &to, ScanBy: types.ScanByTimestampAscending}
	out := make([]map[time.Time]float64, len(all))
	for i, s := range all {
		if err := s.Check(); err != nil {
			return nil, err
		}
		out[i] = map[time.Time]float64{}
		metric := &types.Metric{
			Namespace: aws.String(s.Metric.Namespace()), MetricName: aws.String(s.Metric.Name()),
		}
		for j, d := range s.Set.Dimensions() {
			metric.Dimensions = append(metric.Dimensions,
				types.Dimension{Name: aws.String(string(d)), Value: aws.String(s.Values[j])})
		}
		in.MetricDataQueries = append(in.MetricDataQueries, types.MetricDataQuery{
			Id: aws.String("m" + strconv.Itoa(i)),
			MetricStat: &types.MetricStat{
				Metric: metric, Period: aws.Int32(60), Stat: aws.String(string(s.Metric.Stat())),
				Unit: types.StandardUnit(s.Metric.Unit()),
			},
		})
	}
	for pages := cloudwatch.NewGetMetricDataPaginator(c.Client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		for _, r := range page.MetricDataResults {
			i, err := strconv.Atoi(aws.ToString(r.Id)[1:])
			if err != nil || i < 0 || i >= len(all) || len(r.Timestamps) != len(r.Values) {
				return nil, fmt.Errorf("metrics: the response contains the query %q, which was not sent", aws.ToString(r.Id))
			}
			for j, at := range r.Timestamps {
				at = at.UTC()
				if _, twice := out[i][at]; twice {
					return nil, fmt.Errorf("metrics: the response contains %s of %s twice", all[i], at.Format(time.RFC3339))
				}
				out[i][at] = r.Values[j]
			}
		}
	}
	return out, nil
}
