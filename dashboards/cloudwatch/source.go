package cloudwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/dashboards/render"
	"stepback/retrymetrics/metricmath"
)

// Source is an endpoint as the source of a dashboard. It implements render.Source. It must not be copied.
type Source struct {
	Client Client
	// Logs returns the CloudWatch Logs of a region, which is empty for the usual one. If it is nil, log widgets say
	// that there are none.
	LogsOf func(region string) (Logs, error)

	hasMath atomic.Bool // the endpoint has evaluated an expression
}

// maxQueries is the most queries in one GetMetricData request.
const maxQueries = 500

// inRegion returns the option that selects a region; "" is the client's own.
func inRegion(region string) func(*cloudwatch.Options) {
	return func(o *cloudwatch.Options) { o.Region = cmp.Or(region, o.Region) }
}

// Metrics implements render.Source. If the endpoint refuses expressions, or answers them with nothing, they are
// evaluated here over its plain metrics.
func (s *Source) Metrics(ctx context.Context, from, to time.Time, queries []render.Query) ([]render.Series, error) {
	found, err := s.get(ctx, from, to, queries)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	lacking := func(q render.Query) bool {
		return q.Metric == nil && !q.Hidden && !slices.ContainsFunc(found, func(r render.Series) bool {
			return r.ID == q.ID && len(r.Values) > 0
		})
	}
	expressions := slices.ContainsFunc(queries, func(q render.Query) bool { return q.Metric == nil && !q.Hidden })
	if err == nil && expressions && !slices.ContainsFunc(queries, lacking) {
		s.hasMath.Store(true)
	}
	switch {
	case err == nil && (s.hasMath.Load() || !slices.ContainsFunc(queries, lacking)):
		return found, nil
	case err != nil && s.hasMath.Load() && expressions && !slices.ContainsFunc(queries,
		func(q render.Query) bool { return q.Metric != nil }):
		return nil, err
	}
	own, failed := s.evaluate(ctx, from, to, queries)
	if failed != nil {
		return nil, failed
	}
	if err == nil { // the plain metrics are there
		own = slices.DeleteFunc(own, func(r render.Series) bool { return !isLacking(queries, r.ID, lacking) })
		own = append(slices.DeleteFunc(found, func(r render.Series) bool { return isLacking(queries, r.ID, lacking) }),
			own...)
		sortByQuery(own, queries)
		return own, nil
	}
	if len(own) > 0 && !slices.ContainsFunc(own, func(r render.Series) bool { return r.Problem == "" }) {
		return nil, fmt.Errorf("%w; evaluated here: %s", err, own[0].Problem)
	}
	return own, nil
}

func isLacking(queries []render.Query, id string, lacking func(render.Query) bool) bool {
	i := slices.IndexFunc(queries, func(q render.Query) bool { return q.ID == id })
	return i >= 0 && lacking(queries[i])
}

func sortByQuery(all []render.Series, queries []render.Query) {
	at := func(r render.Series) int {
		return slices.IndexFunc(queries, func(q render.Query) bool { return q.ID == r.ID })
	}
	slices.SortStableFunc(all, func(a, b render.Series) int { return cmp.Compare(at(a), at(b)) })
}

// get calls GetMetricData for the queries, which all use the region of the first.
func (s *Source) get(ctx context.Context, from, to time.Time, queries []render.Query) ([]render.Series, error) {
	request := &cloudwatch.GetMetricDataInput{StartTime: aws.Time(from), EndTime: aws.Time(to),
		ScanBy: types.ScanByTimestampAscending}
	var order []string // IDs, with a number for each of their series
	found := map[string]*render.Series{}
	region := ""
	for i := range queries {
		q := &queries[i]
		region = cmp.Or(region, q.Region)
		d := types.MetricDataQuery{Id: aws.String(q.ID), ReturnData: aws.Bool(!q.Hidden)}
		if q.Label != "" {
			d.Label = aws.String(q.Label)
		}
		if q.Account != "" {
			d.AccountId = aws.String(q.Account)
		}
		if seconds := aws.Int32(int32(q.Period / time.Second)); q.Metric != nil {
			d.MetricStat = &types.MetricStat{Metric: metricOf(q.Metric), Period: seconds, Stat: aws.String(q.Stat)}
		} else {
			d.Expression, d.Period = aws.String(q.Expression), seconds
		}
		request.MetricDataQueries = append(request.MetricDataQueries, d)
	}
	for {
		out, err := s.Client.GetMetricData(ctx, request, inRegion(region))
		if err != nil {
			return nil, said(err)
		}
		seen := map[string]int{}
		for _, r := range out.MetricDataResults {
			id := aws.ToString(r.Id)
			i := slices.IndexFunc(queries, func(q render.Query) bool { return q.ID == id })
			if i < 0 || len(r.Timestamps) != len(r.Values) {
				return nil, fmt.Errorf("the endpoint returned %q with %d times and %d values, which was not requested", id,
					len(r.Timestamps), len(r.Values))
			}
			key := fmt.Sprintf("%s %d %s", id, seen[id], aws.ToString(r.Label))
			if queries[i].Metric != nil {
				key = id
			}
			seen[id]++
			if found[key] == nil {
				found[key] = &render.Series{ID: id, Label: cmp.Or(aws.ToString(r.Label), id)}
				order = append(order, key)
			}
			found[key].Times, found[key].Values = append(found[key].Times, r.Timestamps...), append(found[key].Values,
				r.Values...)
		}
		if request.NextToken = out.NextToken; aws.ToString(request.NextToken) == "" {
			break
		}
	}
	all := make([]render.Series, 0, len(order))
	for _, key := range order {
		all = append(all, *found[key])
	}
	sortByQuery(all, queries)
	return all, nil
}

func metricOf(m *metricmath.Metric) *types.Metric {
	out := &types.Metric{Namespace: aws.String(m.Namespace), MetricName: aws.String(m.Name)}
	for _, d := range m.Dimensions {
		out.Dimensions = append(out.Dimensions, types.Dimension{Name: aws.String(d.Name), Value: aws.String(d.Value)})
	}
	return out
}

// evaluate evaluates the queries here, over plain metrics of the endpoint. Those that fail have a Problem.
func (s *Source) evaluate(ctx context.Context, from, to time.Time, queries []render.Query) ([]render.Series, error) {
	region := ""
	for i := range queries {
		region = cmp.Or(region, queries[i].Region)
	}
	return render.Evaluator{
		Values: func(ctx context.Context, m *metricmath.Metric, stat string, g metricmath.Grid) (metricmath.Series,
			error) {
			one := []render.Query{{ID: "m", Metric: m, Stat: stat, Period: g.Period, Region: region}}
			found, err := s.get(ctx, g.Start, g.At(g.Len), one)
			values := make(metricmath.Series, g.Len)
			for i := range values {
				values[i] = math.NaN()
			}
			for _, r := range found {
				for n, at := range r.Times {
					if i := int(at.Sub(g.Start) / g.Period); !at.Before(g.Start) && i < g.Len {
						values[i] = r.Values[n]
					}
				}
			}
			return values, err
		},
		Find: func(ctx context.Context, q *metricmath.Search) ([]metricmath.Metric, error) {
			return s.find(ctx, q, region)
		},
	}.Metrics(ctx, from, to, queries)
}

// find evaluates a search by listing metrics.
func (s *Source) find(ctx context.Context, q *metricmath.Search, region string) ([]metricmath.Metric, error) {
	const most = 100
	request := &cloudwatch.ListMetricsInput{}
	if namespace, name := q.Exact(); namespace != "" {
		request.Namespace = aws.String(namespace)
		if name != "" {
			request.MetricName = aws.String(name)
		}
	}
	var found []metricmath.Metric
	seen := map[string]bool{}
	for {
		out, err := s.Client.ListMetrics(ctx, request, inRegion(region))
		if err != nil {
			return nil, fmt.Errorf("the list of metrics: %w", said(err))
		}
		for _, listed := range out.Metrics {
			m := metricmath.Metric{Namespace: aws.ToString(listed.Namespace), Name: aws.ToString(listed.MetricName)}
			for _, d := range listed.Dimensions {
				m.Dimensions = append(m.Dimensions, metricmath.Dimension{Name: aws.ToString(d.Name),
					Value: aws.ToString(d.Value)})
			}
			sorted := slices.SortedFunc(slices.Values(m.Dimensions), func(a,
				b metricmath.Dimension) int {
				return strings.Compare(a.Name, b.Name)
			})
			key := fmt.Sprint(m.Namespace, m.Name, sorted)
			if !seen[key] && q.Matches(&m) && len(found) < most { // some endpoints list a metric once per datum
				seen[key] = true
				found = append(found, m)
			}
		}
		if request.NextToken = out.NextToken; aws.ToString(request.NextToken) == "" {
			return found, nil
		}
	}
}

// Logs implements render.Source.
func (s *Source) Logs(ctx context.Context, from, to time.Time, q render.LogQuery) (render.Table, error) {
	if s.LogsOf == nil {
		return render.Table{}, errors.New("log queries are not read here")
	}
	logs, err := s.LogsOf(q.Region)
	if err != nil {
		return render.Table{}, err
	}
	return runQuery(ctx, logs, from, to, q)
}
