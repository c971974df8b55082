package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
)

// metricData is the part of the CloudWatch client that stores metric data.
type metricData interface {
	PutMetricData(context.Context, *cloudwatch.PutMetricDataInput,
		...func(*cloudwatch.Options)) (*cloudwatch.PutMetricDataOutput, error)
}

// Limits of a PutMetricData request.
const (
	maxData   = 1000 // metrics
	maxValues = 150  // different values of a metric
)

// putter puts what lines in the embedded metric format contain into CloudWatch, for endpoints whose logs do not extract
// metrics.
type putter struct{ client metricData }

// put puts the metrics of all lines.
func (p putter) put(ctx context.Context, lines []byte) error {
	byNamespace := map[string][]types.MetricDatum{}
	var order []string
	for line := range bytes.Lines(lines) {
		found, err := embedded(bytes.TrimSpace(line))
		if err != nil {
			return err
		}
		for _, f := range found {
			if byNamespace[f.namespace] == nil {
				order = append(order, f.namespace)
			}
			byNamespace[f.namespace] = append(byNamespace[f.namespace], f.data...)
		}
	}
	for _, namespace := range order {
		for all := byNamespace[namespace]; len(all) > 0; {
			n := min(len(all), maxData)
			if _, err := p.client.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: &namespace,
				MetricData: all[:n]}); err != nil {
				return fmt.Errorf("putting %d metrics of %s: %w", n, namespace, err)
			}
			all = all[n:]
		}
	}
	return nil
}

// isEmbedded reports whether a log message is a line in the embedded metric format.
func isEmbedded(message string) bool {
	var line struct {
		AWS *struct{ CloudWatchMetrics []json.RawMessage } `json:"_aws"`
	}
	return json.Unmarshal([]byte(message), &line) == nil && line.AWS != nil && line.AWS.CloudWatchMetrics != nil
}

// embeddedIn is the metric data of a namespace in a line.
type embeddedIn struct {
	namespace string
	data      []types.MetricDatum
}

// embedded returns the metric data of a line: one datum for each metric, set of dimensions, and 150 values. A metric or
// dimension that the line names and lacks is left out, as CloudWatch does.
func embedded(line []byte) ([]embeddedIn, error) {
	var head struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("a line of embedded metrics: %w", err)
	}
	if err := json.Unmarshal(line, &members); err != nil {
		return nil, fmt.Errorf("a line of embedded metrics: %w", err)
	}
	var all []embeddedIn
	for _, d := range head.AWS.CloudWatchMetrics {
		in := embeddedIn{namespace: d.Namespace}
		for _, m := range d.Metrics {
			values, err := valuesOf(members[m.Name])
			if err != nil {
				return nil, fmt.Errorf("the metric %s of a line of embedded metrics: %w", m.Name, err)
			}
			for _, set := range d.Dimensions {
				dimensions, ok := dimensionsOf(set, members)
				if !ok {
					continue
				}
				for rest := values; len(rest) > 0; {
					n := min(len(rest), maxValues)
					datum := types.MetricDatum{MetricName: aws.String(m.Name), Dimensions: dimensions, Values: rest[:n],
						Timestamp: aws.Time(time.UnixMilli(head.AWS.Timestamp))}
					if m.Unit != "" {
						datum.Unit = types.StandardUnit(m.Unit)
					}
					in.data, rest = append(in.data, datum), rest[n:]
				}
			}
		}
		all = append(all, in)
	}
	return all, nil
}

// valuesOf returns the values of a metric, which is a number or an array of numbers.
func valuesOf(text json.RawMessage) ([]float64, error) {
	if text == nil {
		return nil, nil
	}
	var one float64
	if json.Unmarshal(text, &one) == nil {
		return []float64{one}, nil
	}
	var all []float64
	err := json.Unmarshal(text, &all)
	return all, err
}

// dimensionsOf returns the dimensions of a set with their values; ok is false if the line lacks one.
func dimensionsOf(set []string, members map[string]json.RawMessage) (dimensions []types.Dimension, ok bool) {
	for _, name := range set {
		var value string
		if json.Unmarshal(members[name], &value) != nil || value == "" {
			return nil, false
		}
		dimensions = append(dimensions, types.Dimension{Name: aws.String(name), Value: &value})
	}
	return dimensions, true
}
