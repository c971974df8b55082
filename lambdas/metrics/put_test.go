package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"

	"stepback/retrymetrics"
)

// putData records the metric data that it receives, as lines.
type putData struct{ lines []string }

func (p *putData) PutMetricData(_ context.Context, in *cloudwatch.PutMetricDataInput, _ ...func(*cloudwatch.Options),
) (*cloudwatch.PutMetricDataOutput, error) {
	for _, d := range in.MetricData {
		line := fmt.Sprintf("%s %s", *in.Namespace, *d.MetricName)
		for _, x := range d.Dimensions {
			line += fmt.Sprintf(" %s=%s", *x.Name, *x.Value)
		}
		p.lines = append(p.lines, fmt.Sprintf("%s %v %s %d", line, d.Values, d.Unit, d.Timestamp.UnixMilli()))
	}
	return &cloudwatch.PutMetricDataOutput{}, nil
}

// TestMetricDataArePut: with METRIC_DATA=put, counts from the log and embedded metrics in the logs of functions are put
// into CloudWatch, with each set of dimensions.
func TestMetricDataArePut(t *testing.T) {
	t.Parallel()
	var out, log bytes.Buffer
	data := &putData{}
	h := handler{reader: retrymetrics.LogReader{Level: retrymetrics.LevelError}, out: &out, put: &putter{data},
		log: slog.New(slog.NewTextHandler(&log, nil))}
	const record = `{"id":"5","type":"TaskFailed","details":{"error":"States.Timeout","resource":"invoke","resourceType":"lambda"},` +
		`"previous_event_id":"4","event_timestamp":"120000","execution_arn":"arn:aws:states:us-east-1:000000000000:execution:csv-import:f","redrive_count":"0"}`
	const circuit = `{"_aws":{"Timestamp":60000,"CloudWatchMetrics":[{"Namespace":"CSVProcessing/Retry","Dimensions":[["StateMachine"],["StateMachine","State"],["Missing"]],` +
		`"Metrics":[{"Name":"CircuitBreakerState","Unit":"None"},{"Name":"Absent"}]}]},"StateMachine":"csv-import","State":"S","CircuitBreakerState":[1,0]}`
	if err := h.handle(t.Context(), delivery(t, "DATA_MESSAGE", record)); err != nil {
		t.Fatal(err)
	}
	if err := h.handle(t.Context(), deliveryOf(t, "/aws/lambda/csv-import-process", "DATA_MESSAGE", circuit, `{"level":"INFO"}`, "START")); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(data.lines, "\n")
	for _, want := range []string{
		"CSVProcessing/Retry TaskFailures StateMachine=csv-import [1] Count 120000",
		"CSVProcessing/Retry TaskFailures StateMachine=csv-import ErrorType=States.Timeout [1] Count 120000",
		"CSVProcessing/Retry CircuitBreakerState StateMachine=csv-import [1 0] None 60000",
		"CSVProcessing/Retry CircuitBreakerState StateMachine=csv-import State=S [1 0] None 60000",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	if out.Len() > 0 || strings.Contains(got, "Absent") || strings.Contains(got, "Missing") {
		t.Errorf("printed %q, put\n%s", out.String(), got)
	}
	if log.Len() > 0 {
		t.Errorf("the function's own lines are reported: %s", log.String())
	}
}

func TestManyValuesAreSplit(t *testing.T) {
	t.Parallel()
	values := strings.TrimSuffix(strings.Repeat("1,", 151), ",")
	data := &putData{}
	line := `{"_aws":{"Timestamp":0,"CloudWatchMetrics":[{"Namespace":"N","Dimensions":[[]],"Metrics":[{"Name":"M"}]}]},"M":[` + values + `]}`
	if err := (putter{data}).put(t.Context(), []byte(line+"\n"+line+"\n")); err != nil || len(data.lines) != 4 {
		t.Errorf("%d data, %v", len(data.lines), err)
	}
	if err := (putter{data}).put(t.Context(), []byte("{")); err == nil {
		t.Error("a damaged line passes")
	}
}
