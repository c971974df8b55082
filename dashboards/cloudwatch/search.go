package cloudwatch

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/retrymetrics"
)

// searches evaluates SEARCH expressions by listing metrics.
type searches struct {
	ctx    context.Context // context of the fetch that the searches belong to
	client Client
}

// find returns the series of a metric with a dimension set for a state machine. SEARCH's {namespace,dimensions}
// matches metrics with exactly these dimensions.
func (s searches) find(m *retrymetrics.Metric, set retrymetrics.Set, machine string) ([]retrymetrics.Series, error) {
	in := &cloudwatch.ListMetricsInput{
		Namespace: aws.String(m.Namespace()), MetricName: aws.String(m.Name()),
		Dimensions: []types.DimensionFilter{{Name: aws.String(string(retrymetrics.StateMachine)),
			Value: aws.String(machine)}},
	}
	var found []retrymetrics.Series
	seen := map[string]bool{}
	for {
		out, err := s.client.ListMetrics(s.ctx, in)
		if err != nil {
			return nil, fmt.Errorf("metrics %s of %s: %w", m.Name(), machine, err)
		}
		for _, listed := range out.Metrics {
			given := map[retrymetrics.Dimension]string{}
			for _, d := range listed.Dimensions {
				given[retrymetrics.Dimension(aws.ToString(d.Name))] = aws.ToString(d.Value)
			}
			if series, err := retrymetrics.SeriesOf(m.Name(), given); err == nil && series.Set == set &&
				!seen[series.String()] {
				seen[series.String()] = true // some endpoints list a metric once per datum
				found = append(found, series)
			}
		}
		if in.NextToken = out.NextToken; aws.ToString(in.NextToken) == "" {
			return found, nil
		}
	}
}
