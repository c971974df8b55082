package cloudwatch

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/dashboards/render"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricmath"
)

// maxQueries is the most queries in one GetMetricData request.
const maxQueries = 500

// data holds the metric data fetched for [render.Requests], over one grid.
type data struct {
	grid   metricmath.Grid
	values map[string]metricmath.Series // by key
	found  find
}

func key(s retrymetrics.Series, stat retrymetrics.Stat) string {
	return s.String() + " " + string(stat)
}

// Grid implements [render.Data].
func (d *data) Grid() metricmath.Grid { return d.grid }

// Find implements [render.Data].
func (d *data) Find(m *retrymetrics.Metric, set retrymetrics.Set, machine string) ([]retrymetrics.Series, error) {
	return d.found(m, set, machine)
}

// Values implements [render.Data]. A single value for the whole range is computed from the values of the periods,
// which is possible for sums and maxima.
func (d *data) Values(s retrymetrics.Series, stat retrymetrics.Stat, g metricmath.Grid) (metricmath.Series, error) {
	values := d.values[key(s, stat)]
	if g == d.grid {
		if values == nil {
			values = emptySeries(d.grid.Len)
		}
		return values, nil
	}
	one := math.NaN()
	for _, v := range values {
		switch {
		case math.IsNaN(v):
		case math.IsNaN(one):
			one = v
		case stat == retrymetrics.Sum:
			one += v
		case stat == retrymetrics.Maximum:
			one = max(one, v)
		default:
			return nil, fmt.Errorf("%s of %s for the whole range cannot be computed from its periods", stat, s)
		}
	}
	return metricmath.Series{one}, nil
}

// fetch makes all requests, in batches as large as the API allows.
func (d *data) fetch(ctx context.Context, c Client, requests []render.Request) error {
	for batch := range slices.Chunk(requests, maxQueries) {
		in := &cloudwatch.GetMetricDataInput{
			StartTime: aws.Time(d.grid.At(0)), EndTime: aws.Time(d.grid.At(d.grid.Len)),
			ScanBy: types.ScanByTimestampAscending,
		}
		for i, r := range batch {
			in.MetricDataQueries = append(in.MetricDataQueries, d.query(i, r))
		}
		for {
			out, err := c.GetMetricData(ctx, in)
			if err != nil {
				return fmt.Errorf("data of %d metrics: %w", len(batch), err)
			}
			for _, result := range out.MetricDataResults {
				if err := d.take(batch, result); err != nil {
					return err
				}
			}
			if in.NextToken = out.NextToken; aws.ToString(in.NextToken) == "" {
				break
			}
		}
	}
	return nil
}

func (d *data) query(i int, r render.Request) types.MetricDataQuery {
	m := r.Series.Metric
	return types.MetricDataQuery{
		Id: aws.String("q" + strconv.Itoa(i)),
		MetricStat: &types.MetricStat{
			Metric: &types.Metric{Namespace: aws.String(m.Namespace()), MetricName: aws.String(m.Name()),
				Dimensions: dimensions(r.Series)},
			Period: aws.Int32(int32(d.grid.Period.Seconds())), Stat: aws.String(string(r.Stat)),
			Unit: types.StandardUnit(m.Unit()),
		},
	}
}

func dimensions(s retrymetrics.Series) []types.Dimension {
	out := make([]types.Dimension, 0, len(s.Values))
	for i, d := range s.Set.Dimensions() {
		out = append(out, types.Dimension{Name: aws.String(string(d)), Value: aws.String(s.Values[i])})
	}
	return out
}

// take stores one result, or a page of it.
func (d *data) take(batch []render.Request, result types.MetricDataResult) error {
	i, err := strconv.Atoi(strings.TrimPrefix(aws.ToString(result.Id), "q"))
	if err != nil || i < 0 || i >= len(batch) || len(result.Timestamps) != len(result.Values) {
		return fmt.Errorf("the endpoint returned %q with %d times and %d values, which was not requested",
			aws.ToString(result.Id), len(result.Timestamps), len(result.Values))
	}
	k := key(batch[i].Series, batch[i].Stat)
	if d.values[k] == nil {
		d.values[k] = emptySeries(d.grid.Len)
	}
	for n, at := range result.Timestamps {
		if j := int(at.Sub(d.grid.Start) / d.grid.Period); !at.Before(d.grid.Start) && j < d.grid.Len {
			d.values[k][j] = result.Values[n]
		}
	}
	return nil
}

func emptySeries(n int) metricmath.Series {
	s := make(metricmath.Series, n)
	for i := range s {
		s[i] = math.NaN()
	}
	return s
}
