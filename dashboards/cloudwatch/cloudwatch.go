// Package cloudwatch fetches dashboards, their metric data, their alarms and their log queries from CloudWatch or a
// compatible endpoint, for package render to draw. Metric math and searches are evaluated by the endpoint, or here if
// the endpoint has none. It is read-only.
package cloudwatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/smithy-go"

	"stepback/dashboards/render"
)

// Client is the part of *cloudwatch.Client that the package needs.
type Client interface {
	GetDashboard(context.Context, *cloudwatch.GetDashboardInput,
		...func(*cloudwatch.Options)) (*cloudwatch.GetDashboardOutput, error)
	ListDashboards(context.Context, *cloudwatch.ListDashboardsInput,
		...func(*cloudwatch.Options)) (*cloudwatch.ListDashboardsOutput, error)
	GetMetricData(context.Context, *cloudwatch.GetMetricDataInput,
		...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error)
	ListMetrics(context.Context, *cloudwatch.ListMetricsInput,
		...func(*cloudwatch.Options)) (*cloudwatch.ListMetricsOutput, error)
	DescribeAlarms(context.Context, *cloudwatch.DescribeAlarmsInput,
		...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error)
	DescribeAlarmHistory(context.Context, *cloudwatch.DescribeAlarmHistoryInput,
		...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmHistoryOutput, error)
}

// Logs calls operations of CloudWatch Logs by their names; *client.Client implements it.
type Logs interface {
	Call(ctx context.Context, operation string, in, out any) error
}

// Dashboard is a stored dashboard in a list.
type Dashboard struct {
	Name     string    `json:"name"`
	ARN      string    `json:"arn"`
	Modified time.Time `json:"lastModified"`
	Bytes    int       `json:"size"`
}

// List returns the dashboards of the account, by name.
func List(ctx context.Context, c Client) ([]Dashboard, error) {
	all := []Dashboard{}
	in := &cloudwatch.ListDashboardsInput{}
	for {
		out, err := c.ListDashboards(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("the list of dashboards: %w", said(err))
		}
		for _, d := range out.DashboardEntries {
			all = append(all, Dashboard{aws.ToString(d.DashboardName), aws.ToString(d.DashboardArn),
				aws.ToTime(d.LastModified).UTC(), int(aws.ToInt64(d.Size))})
		}
		if in.NextToken = out.NextToken; aws.ToString(in.NextToken) == "" {
			return all, nil
		}
	}
}

// Body returns the body of the named dashboard.
func Body(ctx context.Context, c Client, name string) ([]byte, error) {
	found, err := c.GetDashboard(ctx, &cloudwatch.GetDashboardInput{DashboardName: aws.String(name)})
	if err != nil {
		return nil, fmt.Errorf("dashboard %s: %w", name, said(err))
	}
	return []byte(aws.ToString(found.DashboardBody)), nil
}

// Fetch returns the named dashboard with its data. If w.From is zero, the data choose the window, up to w.To; see
// [Source.Around]. The error is one of GetDashboard, of the body or of the context: what cannot be read for a widget,
// the widget says.
func Fetch(ctx context.Context, s *Source, name string, w render.Window) (render.Page, error) {
	text, err := Body(ctx, s.Client, name)
	if err != nil {
		return render.Page{}, err
	}
	switch {
	case w.From.IsZero():
		if w, err = s.Around(ctx, text, w.To); err != nil {
			return render.Page{}, err
		}
	case !w.From.Before(w.To):
		return render.Page{}, errors.New("a dashboard's data end before they begin")
	}
	return render.Load(ctx, name, text, s, w)
}

// said returns what an API says about a refused request, without the client's description of the request; other errors
// as they are.
func said(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) {
		return &apiError{api}
	}
	return err
}

// apiError is an API's error with a short text.
type apiError struct{ smithy.APIError }

// Error implements error.
func (e *apiError) Error() string { return e.ErrorCode() + ": " + e.ErrorMessage() }

// Unwrap returns the API's error.
func (e *apiError) Unwrap() error { return e.APIError }
