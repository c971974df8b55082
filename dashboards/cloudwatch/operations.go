package cloudwatch

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
)

// Of returns the needed operations of the SDK's client.
//
// A *cloudwatch.Client in an interface value would keep all 40 operations in a binary that has templates, because
// these may call any method by its name: 2 MB of the command. Of keeps four.
func Of(c *cloudwatch.Client) Client {
	return operations{c.GetDashboard, c.GetMetricData, c.ListMetrics, c.DescribeAlarms}
}

// operation is one operation of the SDK's client.
type operation[I, O any] func(context.Context, *I, ...func(*cloudwatch.Options)) (*O, error)

type operations struct {
	getDashboard   operation[cloudwatch.GetDashboardInput, cloudwatch.GetDashboardOutput]
	getMetricData  operation[cloudwatch.GetMetricDataInput, cloudwatch.GetMetricDataOutput]
	listMetrics    operation[cloudwatch.ListMetricsInput, cloudwatch.ListMetricsOutput]
	describeAlarms operation[cloudwatch.DescribeAlarmsInput, cloudwatch.DescribeAlarmsOutput]
}

// GetDashboard implements [Client].
func (o operations) GetDashboard(ctx context.Context, in *cloudwatch.GetDashboardInput,
	options ...func(*cloudwatch.Options),
) (*cloudwatch.GetDashboardOutput, error) {
	return o.getDashboard(ctx, in, options...)
}

// GetMetricData implements [Client].
func (o operations) GetMetricData(ctx context.Context, in *cloudwatch.GetMetricDataInput,
	options ...func(*cloudwatch.Options),
) (*cloudwatch.GetMetricDataOutput, error) {
	return o.getMetricData(ctx, in, options...)
}

// ListMetrics implements [Client].
func (o operations) ListMetrics(ctx context.Context, in *cloudwatch.ListMetricsInput,
	options ...func(*cloudwatch.Options),
) (*cloudwatch.ListMetricsOutput, error) {
	return o.listMetrics(ctx, in, options...)
}

// DescribeAlarms implements [Client].
func (o operations) DescribeAlarms(ctx context.Context, in *cloudwatch.DescribeAlarmsInput,
	options ...func(*cloudwatch.Options),
) (*cloudwatch.DescribeAlarmsOutput, error) {
	return o.describeAlarms(ctx, in, options...)
}
