package metricmath_test

import (
	"fmt"
	"testing"

	"stepback/retrymetrics/metricmath"
)

func metric(namespace, name string, pairs ...string) metricmath.Metric {
	m := metricmath.Metric{Namespace: namespace, Name: name}
	for i := 0; i < len(pairs); i += 2 {
		m.Dimensions = append(m.Dimensions, metricmath.Dimension{Name: pairs[i], Value: pairs[i+1]})
	}
	return m
}

func TestSearch(t *testing.T) {
	t.Parallel()
	all := []metricmath.Metric{
		metric("AWS/Lambda", "Errors", "FunctionName", "pay"), metric("AWS/Lambda", "Errors", "FunctionName", "ship"),
		metric("AWS/Lambda", "Throttles", "FunctionName", "pay"), metric("AWS/Lambda", "Errors"),
		metric("AWS/DynamoDB", "SuccessfulRequestLatency", "TableName", "t", "Operation", "GetItem"),
	}
	for text, want := range map[string]string{
		`{AWS/Lambda,FunctionName} MetricName="Errors"`:                           "[pay ship]",
		`{AWS/Lambda,FunctionName} Errors`:                                        "[pay ship]",
		`{AWS/Lambda,FunctionName} MetricName=("Errors" OR "Throttles")`:          "[Errors pay Errors ship Throttles pay]",
		`{AWS/Lambda,FunctionName} MetricName=(Errors OR Throttles) NOT ship`:     "[Errors Throttles]",
		`{AWS/Lambda,FunctionName} FunctionName="pay" AND MetricName="Throttles"`: "[Throttles]",
		`{AWS/DynamoDB,Operation,TableName} TableName="t" latency`:                "[SuccessfulRequestLatency GetItem]",
		`Namespace="AWS/Lambda" FunctionName=pay OR MetricName=Nothing`:           "[Errors Throttles]",
		`{AWS/Lambda} Errors`:   "[Errors]",
		`{AWS/SQS,QueueName} x`: "[]",
	} {
		q, err := metricmath.ParseSearch(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var found []metricmath.Metric
		for _, m := range all {
			if q.Matches(&m) {
				found = append(found, m)
			}
		}
		if got := fmt.Sprint(q.Labels(found)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"{}", "(a", "a)", "MetricName=(a"} {
		if _, err := metricmath.ParseSearch(text); err == nil {
			t.Errorf("%s is taken for a search", text)
		}
	}
	q, err := metricmath.ParseSearch(`{n,D} MetricName="M" D="x"`)
	if namespace, name := q.Exact(); err != nil || namespace != "n" || name != "M" {
		t.Errorf("%s %s %v", namespace, name, err)
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	l := metricmath.Labelled{Label: "own", Values: metricmath.Series{none, 2, 4}}
	for label, want := range map[string]string{"": "own", "x": "x", "${LABEL}: ${MIN}-${MAX}, ${AVG}, ${SUM}": "own: 2-4, 3, 6",
		"${FIRST} ${LAST} ${DATAPOINT_COUNT} ${RANGE} ${STDDEV} ${OTHER}": "2 4 2 2 1 ${OTHER}"} {
		if got := metricmath.Label(label, l); got != want {
			t.Errorf("%s: %s, want %s", label, got, want)
		}
	}
	if got := metricmath.Label("${MAX}", metricmath.Labelled{}); got != "--" {
		t.Error(got)
	}
}
