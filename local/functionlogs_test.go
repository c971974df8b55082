package local_test

import (
	"strings"
	"testing"
	"time"

	"stepback/local"
)

const measuring = `
Resources:
  Log: {Type: AWS::Logs::LogGroup, Properties: {LogGroupName: of-mine}}
  Measure:
    Type: AWS::Lambda::Function
    Properties:
      FunctionName: measure
      Handler: index.handler
      Runtime: python3.12
      Timeout: 20
      Role: arn:aws:iam::000000000000:role/x
      LoggingConfig: {LogGroup: !Ref Log}
      Code:
        ZipFile: |
          import json, time
          def handler(event, context):
              print(json.dumps({"_aws": {"Timestamp": int(time.time() * 1000), "CloudWatchMetrics": [{"Namespace": "Mine",
                  "Dimensions": [[]], "Metrics": [{"Name": "Rows", "Unit": "Count"}]}]}, "Rows": 7}))
              print("plain words")
              return context.log_stream_name
`

// A function logs metrics in the embedded format and plain text to the log group of its LoggingConfig. The text is
// stored unchanged, and the metrics can be read as soon as the function has ended.
func TestWhatFunctionsLogIsThereAsTheyWroteIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := openPlatform(t, dir)
	s := stacksOf(t, p)
	s.call("CreateStack", map[string]any{"StackName": "measure", "TemplateBody": measuring})
	if status, reason := s.settled("measure"); status != "CREATE_COMPLETE" {
		t.Fatal(status, reason, s.events("measure"))
	}
	if out, err := s.try("lambda", "Invoke", map[string]any{"FunctionName": "measure"}); err != nil || out["FunctionError"] != nil {
		t.Fatal(out, err)
	}
	logged, err := s.try("cloudwatchlogs", "FilterLogEvents", map[string]any{"logGroupName": "of-mine"})
	if err != nil || !strings.Contains(jsonText(logged), `"message":"plain words\n"`) {
		t.Error(jsonText(logged), err)
	}
	seven := func(when string, s stacks) {
		t.Helper()
		now := time.Now()
		out, err := s.try("cloudwatch", "GetMetricStatistics", map[string]any{"Namespace": "Mine", "MetricName": "Rows",
			"Statistics": []any{"Sum"}, "Period": 3600, "StartTime": now.Add(-2 * time.Hour).Truncate(time.Hour).Unix(),
			"EndTime": now.Add(2 * time.Hour).Truncate(time.Hour).Unix()})
		if points, _ := out["Datapoints"].([]any); err != nil || len(points) != 1 || points[0].(map[string]any)["Sum"] != 7.0 {
			t.Errorf("%s: %v, %v", when, out, err)
		}
	}
	seven("at once", s)
	if err := p.Close(); err != nil { // waits until the metrics are stored
		t.Fatal(err)
	}
	seven("in the next process", stacksOf(t, open(t, local.Config{Dir: dir})))
}
