package local_test

import (
	"fmt"
	"testing"
)

// CloudFormation creates a metric filter whose dimensions are a list, although the API of CloudWatch Logs takes a
// map.
func TestMetricFilterOfAStack(t *testing.T) {
	t.Parallel()
	p := openPlatform(t, t.TempDir())
	defer p.Close()
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "filters", "TemplateBody": `{"Resources":{
		"Group":{"Type":"AWS::Logs::LogGroup","Properties":{"LogGroupName":"app"}},
		"Filter":{"Type":"AWS::Logs::MetricFilter","Properties":{"LogGroupName":{"Ref":"Group"},"FilterPattern":"{ $.code = 503 }",
			"MetricTransformations":[{"MetricNamespace":"App","MetricName":"Refused","MetricValue":"1",
				"Dimensions":[{"Key":"Region","Value":"$.region"}]}]}}}}`})
	if status, reason := s.settled("filters"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("filters"))
	}
	out, err := s.try("cloudwatchlogs", "DescribeMetricFilters", map[string]any{"logGroupName": "app"})
	if err != nil {
		t.Fatal(err)
	}
	filters, _ := out["metricFilters"].([]any)
	if len(filters) != 1 {
		t.Fatalf("%v", out)
	}
	transformations, _ := filters[0].(map[string]any)["metricTransformations"].([]any)
	if got := fmt.Sprint(transformations[0].(map[string]any)["dimensions"]); got != "map[Region:$.region]" {
		t.Errorf("dimensions %s", got)
	}
}
