package local_test

import (
	"reflect"
	"testing"
	"time"

	"stepback/local"
)

// TestMetricFiltersCountLogs logs an event that a metric filter matches, and reads the metric from the next platform.
func TestMetricFiltersCountLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := local.Open(t.Context(), local.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s, now := stacksOf(t, p), time.Now()
	for _, call := range []struct {
		operation string
		in        map[string]any
	}{
		{"CreateLogGroup", map[string]any{}},
		{"CreateLogStream", map[string]any{"logStreamName": "s"}},
		{"PutMetricFilter", map[string]any{"filterName": "f", "filterPattern": "{$.ms > 0}", "metricTransformations": []any{
			map[string]any{"metricNamespace": "Orders", "metricName": "Latency", "metricValue": "$.ms",
				"dimensions": map[string]any{"Client": "$.client"}}}}},
		{"PutLogEvents", map[string]any{"logStreamName": "s", "logEvents": []any{
			map[string]any{"timestamp": now.UnixMilli(), "message": `{"ms":12.5,"client":"c"}`}}}},
	} {
		call.in["logGroupName"] = "orders"
		if _, err := s.try("cloudwatchlogs", call.operation, call.in); err != nil {
			t.Fatal(call.operation, err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	s = stacksOf(t, open(t, local.Config{Dir: dir}))
	out, err := s.try("cloudwatch", "GetMetricStatistics", map[string]any{"Namespace": "Orders", "MetricName": "Latency",
		"Dimensions": []any{map[string]any{"Name": "Client", "Value": "c"}}, "Statistics": []any{"Sum"}, "Period": 3600,
		"StartTime": now.Add(-2 * time.Hour).Truncate(time.Hour).Unix(),
		"EndTime":   now.Add(2 * time.Hour).Truncate(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	points, _ := out["Datapoints"].([]any)
	if len(points) != 1 || !reflect.DeepEqual(points[0].(map[string]any)["Sum"], 12.5) {
		t.Errorf("%v", out)
	}
}
