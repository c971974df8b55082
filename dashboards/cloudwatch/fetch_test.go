package cloudwatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/dashboards"
	"stepback/dashboards/cloudwatch"
	"stepback/retrymetrics"
)

const machine = "csv-import"

func body(t *testing.T) []byte {
	t.Helper()
	d, err := dashboards.Monitor(dashboards.Options{
		StateMachine: machine, Region: "us-east-1",
		Alarms: []string{"arn:aws:cloudwatch:us-east-1:123456789012:alarm:csv-import-page",
			"arn:aws:cloudwatch:us-east-1:123456789012:alarm:gone"},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := d.Body()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// endpoint responds like CloudWatch, with one item per page. In the second and third minute each metric has the value
// 2, and TaskAttempts 6.
type endpoint struct {
	body    []byte
	broken  string // the operation that fails
	asked   int
	plain   bool // percentiles are not supported
	queries map[string]bool
	answer  func(*types.MetricDataResult)
}

var errBroken = errors.New("broken")

func (e *endpoint) fails(operation string) error {
	if e.broken == operation {
		return errBroken
	}
	return nil
}

func (e *endpoint) GetDashboard(_ context.Context, in *sdk.GetDashboardInput,
	_ ...func(*sdk.Options)) (*sdk.GetDashboardOutput, error) {
	return &sdk.GetDashboardOutput{DashboardName: in.DashboardName, DashboardBody: aws.String(string(e.body))},
		e.fails("GetDashboard")
}

func (e *endpoint) GetMetricData(_ context.Context, in *sdk.GetMetricDataInput,
	_ ...func(*sdk.Options)) (*sdk.GetMetricDataOutput, error) {
	out := &sdk.GetMetricDataOutput{}
	minute := 1
	if in.NextToken == nil {
		out.NextToken = aws.String("more")
		e.asked++
	} else {
		minute = 2
	}
	for _, q := range in.MetricDataQueries {
		if e.plain && strings.HasPrefix(*q.MetricStat.Stat, "p") {
			return nil, errBroken
		}
		e.queries[fmt.Sprintf("%s %s %s %d", *q.MetricStat.Metric.MetricName, *q.MetricStat.Stat, q.MetricStat.Unit,
			*q.MetricStat.Period)] = true
		v := 2.0
		if *q.MetricStat.Metric.MetricName == retrymetrics.TaskAttempts.Name() {
			v = 6
		}
		r := types.MetricDataResult{Id: q.Id,
			Timestamps: []time.Time{in.StartTime.Add(time.Duration(minute) * time.Minute)}, Values: []float64{v}}
		if e.answer != nil {
			e.answer(&r)
		}
		out.MetricDataResults = append(out.MetricDataResults, r)
	}
	return out, e.fails("GetMetricData")
}

func (e *endpoint) ListMetrics(_ context.Context, in *sdk.ListMetricsInput,
	_ ...func(*sdk.Options)) (*sdk.ListMetricsOutput, error) {
	listed := func(pairs ...string) types.Metric {
		m := types.Metric{Namespace: in.Namespace, MetricName: in.MetricName}
		for i := 0; i < len(pairs); i += 2 {
			m.Dimensions = append(m.Dimensions, types.Dimension{Name: aws.String(pairs[i]),
				Value: aws.String(pairs[i+1])})
		}
		return m
	}
	if in.NextToken == nil {
		return &sdk.ListMetricsOutput{NextToken: aws.String("more"), Metrics: []types.Metric{
			listed("StateMachine", machine), listed("ErrorType", "States.Timeout", "StateMachine", machine),
		}}, e.fails("ListMetrics")
	}
	return &sdk.ListMetricsOutput{Metrics: []types.Metric{listed("StateMachine", machine, "State", "Work"),
		listed("StateMachine", machine, "State", "Work"), listed("Other", "x")}}, nil
}

// DescribeAlarms returns two pages, the first of which is empty.
func (e *endpoint) DescribeAlarms(_ context.Context, in *sdk.DescribeAlarmsInput,
	_ ...func(*sdk.Options)) (*sdk.DescribeAlarmsOutput, error) {
	if in.NextToken == nil {
		return &sdk.DescribeAlarmsOutput{NextToken: aws.String("2")}, e.fails("DescribeAlarms")
	}
	return &sdk.DescribeAlarmsOutput{CompositeAlarms: []types.CompositeAlarm{
		{AlarmName: aws.String("csv-import-page"), StateValue: types.StateValueAlarm,
			AlarmDescription: aws.String("act")},
	}}, e.fails("DescribeAlarms")
}

func TestFetch(t *testing.T) {
	t.Parallel()
	e := &endpoint{body: body(t), queries: map[string]bool{}}
	from := time.Date(2026, 11, 21, 5, 0, 30, 0, time.UTC)
	page, err := cloudwatch.Fetch(t.Context(), e, "d", from, from.Add(5*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if e.asked != 2 || !e.queries["RetryDelay p99 Seconds 60"] || !e.queries["RetryAttempts Sum Count 60"] {
		t.Errorf("%d calls, %v", e.asked, e.queries)
	}
	if empty, err := page.Empty(); err != nil || len(empty) != 0 {
		t.Errorf("no data in %q (%v)", empty, err)
	}
	g := page.Data.Grid()
	if !g.At(0).Equal(from.Truncate(time.Minute)) || g.Len != 6 {
		t.Errorf("%+v", g)
	}
	values, err := page.Data.Values(retrymetrics.Throttles.In(retrymetrics.ByMachine, machine), retrymetrics.Sum, g)
	if err != nil || fmt.Sprint([]float64(values)) != "[NaN 2 2 NaN NaN NaN]" {
		t.Errorf("%v %v", values, err)
	}
	var out bytes.Buffer
	if err := page.HTML(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), ">Work</text>"); n != 1 {
		t.Errorf("the state is drawn %d times in the legend", n)
	}
	// 2 + 2 retries in the whole range; an error found by a search; the states of the alarms.
	for _, want := range []string{`y="58.0">4</text>`, ">States.Timeout</text>",
		`<td class="ALARM">ALARM</td><td>csv-import-page</td><td>act</td>`, "missing"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not on the page", want)
		}
	}
}

func TestAnEndpointWithoutPercentiles(t *testing.T) {
	t.Parallel()
	e := &endpoint{body: body(t), queries: map[string]bool{}, plain: true}
	page, err := cloudwatch.Fetch(t.Context(), e, "d", time.Unix(0, 0), time.Unix(600, 0))
	if err != nil || !strings.HasPrefix(page.Note, "Percentiles are not shown: data of 2 metrics: broken") {
		t.Fatalf("%q %v", page.Note, err)
	}
	if empty, err := page.Empty(); err != nil || len(empty) != 0 {
		t.Errorf("no data in %q (%v)", empty, err)
	}
}

func TestFetchTellsWhatFailed(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]string{
		"GetDashboard": "dashboard d: broken", "ListMetrics": "of csv-import: broken",
		"GetMetricData": "metrics: broken", "DescribeAlarms": "2 alarms: broken",
	} {
		e := &endpoint{body: body(t), broken: operation, queries: map[string]bool{}}
		_, err := cloudwatch.Fetch(t.Context(), e, "d", time.Unix(0, 0), time.Unix(600, 0))
		if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", operation, err, want)
		}
	}
	for name, answer := range map[string]func(*types.MetricDataResult){
		"a result that was not asked for": func(r *types.MetricDataResult) { r.Id = aws.String("q9999") },
		"times without values":            func(r *types.MetricDataResult) { r.Values = nil },
	} {
		e := &endpoint{body: body(t), queries: map[string]bool{}, answer: answer}
		if _, err := cloudwatch.Fetch(t.Context(), e, "d", time.Unix(0, 0), time.Unix(600, 0)); err == nil ||
			!strings.Contains(err.Error(), "was not requested") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := cloudwatch.Fetch(t.Context(), &endpoint{}, "d", time.Unix(60, 0), time.Unix(60, 0)); err == nil {
		t.Error("an empty range is fetched")
	}
}

func TestOneNumberForTheRange(t *testing.T) {
	t.Parallel()
	const metric = `{"widgets":[{"type":"metric","width":6,"height":3,"properties":{"view":"singleValue","metrics":[["CSVProcessing/Retry","RetryDelay","StateMachine","csv-import",{"stat":%q}]]}}]}`
	for stat, want := range map[retrymetrics.Stat]string{retrymetrics.Maximum: "2", retrymetrics.Sum: "4",
		retrymetrics.P99: "cannot be computed"} {
		e := &endpoint{body: fmt.Appendf(nil, metric, stat), queries: map[string]bool{}}
		page, err := cloudwatch.Fetch(t.Context(), e, "d", time.Unix(0, 0), time.Unix(600, 0))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = page.SVG(&out)
		if stat == retrymetrics.P99 {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", stat, err)
			}
			continue
		}
		if err != nil || !strings.Contains(out.String(), ">"+want+"</text>") {
			t.Errorf("%s: %v, want %s", stat, err, want)
		}
	}
}
