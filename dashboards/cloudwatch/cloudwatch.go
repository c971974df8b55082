// Package cloudwatch fetches a dashboard, its metric data and its alarms from CloudWatch or a compatible endpoint,
// for package render to draw. It evaluates metric math and searches itself, because an endpoint may not support
// them. It is read-only.
package cloudwatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"stepback/dashboards/render"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricmath"
)

// Client is the part of *cloudwatch.Client that the package needs.
type Client interface {
	GetDashboard(context.Context, *cloudwatch.GetDashboardInput,
		...func(*cloudwatch.Options)) (*cloudwatch.GetDashboardOutput, error)
	GetMetricData(context.Context, *cloudwatch.GetMetricDataInput,
		...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error)
	ListMetrics(context.Context, *cloudwatch.ListMetricsInput,
		...func(*cloudwatch.Options)) (*cloudwatch.ListMetricsOutput, error)
	DescribeAlarms(context.Context, *cloudwatch.DescribeAlarmsInput,
		...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error)
}

// Fetch returns the named dashboard with its data between two times; from is moved back to the start of a period.
// It returns errors of the API, with the request that failed, and errors of drawing the body.
func Fetch(ctx context.Context, c Client, name string, from, to time.Time) (render.Page, error) {
	if !from.Before(to) {
		return render.Page{}, errors.New("a dashboard's data end before they begin")
	}
	found, err := c.GetDashboard(ctx, &cloudwatch.GetDashboardInput{DashboardName: aws.String(name)})
	if err != nil {
		return render.Page{}, fmt.Errorf("dashboard %s: %w", name, err)
	}
	page := render.Page{Name: name, Body: []byte(aws.ToString(found.DashboardBody))}
	s := searches{ctx, c}
	requests, err := render.Requests(page.Body, s.find)
	if err != nil {
		return page, err
	}
	d := data{grid: metricmath.GridOver(from, to, periodOf(to.Sub(from))), values: map[string]metricmath.Series{},
		found: s.find}
	// Some endpoints do not support percentiles, and fail. Everything else is drawn nevertheless.
	percentiles, others := split(requests)
	if err := d.fetch(ctx, c, others); err != nil {
		return page, err
	}
	if err := d.fetch(ctx, c, percentiles); err != nil {
		if ctx.Err() != nil {
			return page, err
		}
		page.Note = fmt.Sprintf("Percentiles are not shown: %v", err)
	}
	page.Data = &d
	page.Alarms, err = alarms(ctx, c, page.Body)
	return page, err
}

// split separates percentiles from the statistics that every endpoint has.
func split(all []render.Request) (percentiles, others []render.Request) {
	for _, r := range all {
		switch r.Stat {
		case retrymetrics.P50, retrymetrics.P99:
			percentiles = append(percentiles, r)
		default:
			others = append(others, r)
		}
	}
	return percentiles, others
}

// periodOf returns the shortest customary period that divides span into at most 120 periods.
func periodOf(span time.Duration) time.Duration {
	const most = 120
	for _, p := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour} {
		if span <= most*p {
			return p
		}
	}
	return 24 * time.Hour
}

// find implements Find of [render.Data].
type find func(*retrymetrics.Metric, retrymetrics.Set, string) ([]retrymetrics.Series, error)
