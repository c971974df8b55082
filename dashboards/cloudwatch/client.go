package cloudwatch

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
)

// ClientOf returns the operations of c that a dashboard needs. kong and html/template call methods by name, so the
// linker keeps every exported method of a type that is stored in an interface. *cloudwatch.Client itself would bring
// along all of CloudWatch's operations, 1.4 MB of the command.
func ClientOf(c *cloudwatch.Client) Client {
	return operations{c.GetDashboard, c.ListDashboards, c.GetMetricData, c.ListMetrics, c.DescribeAlarms,
		c.DescribeAlarmHistory}
}

// operation is a method of the SDK's client.
type operation[In, Out any] func(context.Context, *In, ...func(*cloudwatch.Options)) (*Out, error)

// operations implements Client.
type operations struct {
	getDashboard         operation[cloudwatch.GetDashboardInput, cloudwatch.GetDashboardOutput]
	listDashboards       operation[cloudwatch.ListDashboardsInput, cloudwatch.ListDashboardsOutput]
	getMetricData        operation[cloudwatch.GetMetricDataInput, cloudwatch.GetMetricDataOutput]
	listMetrics          operation[cloudwatch.ListMetricsInput, cloudwatch.ListMetricsOutput]
	describeAlarms       operation[cloudwatch.DescribeAlarmsInput, cloudwatch.DescribeAlarmsOutput]
	describeAlarmHistory operation[cloudwatch.DescribeAlarmHistoryInput, cloudwatch.DescribeAlarmHistoryOutput]
}

// GetDashboard implements Client.
func (o operations) GetDashboard(ctx context.Context, in *cloudwatch.GetDashboardInput,
	options ...func(*cloudwatch.Options)) (*cloudwatch.GetDashboardOutput, error) {
	return o.getDashboard(ctx, in, options...)
}

// ListDashboards implements Client.
func (o operations) ListDashboards(ctx context.Context, in *cloudwatch.ListDashboardsInput,
	options ...func(*cloudwatch.Options)) (*cloudwatch.ListDashboardsOutput, error) {
	return o.listDashboards(ctx, in, options...)
}

// GetMetricData implements Client.
func (o operations) GetMetricData(ctx context.Context, in *cloudwatch.GetMetricDataInput,
	options ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error) {
	return o.getMetricData(ctx, in, options...)
}

// ListMetrics implements Client.
func (o operations) ListMetrics(ctx context.Context, in *cloudwatch.ListMetricsInput,
	options ...func(*cloudwatch.Options)) (*cloudwatch.ListMetricsOutput, error) {
	return o.listMetrics(ctx, in, options...)
}

// DescribeAlarms implements Client.
func (o operations) DescribeAlarms(ctx context.Context, in *cloudwatch.DescribeAlarmsInput,
	options ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmsOutput, error) {
	return o.describeAlarms(ctx, in, options...)
}

// DescribeAlarmHistory implements Client.
func (o operations) DescribeAlarmHistory(ctx context.Context, in *cloudwatch.DescribeAlarmHistoryInput,
	options ...func(*cloudwatch.Options)) (*cloudwatch.DescribeAlarmHistoryOutput, error) {
	return o.describeAlarmHistory(ctx, in, options...)
}
