package cloudwatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"stepback/dashboards"
	"stepback/dashboards/cloudwatch"
	"stepback/dashboards/render"
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
	math    string // how it answers expressions: "" refuses them, "silent" returns nothing, "own" returns 42
	plain   bool   // percentiles are not supported
	answer  func(*types.MetricDataResult)
	mu      sync.Mutex
	queries map[string]bool
	asked   int
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

// ListDashboards returns two pages.
func (e *endpoint) ListDashboards(_ context.Context, in *sdk.ListDashboardsInput,
	_ ...func(*sdk.Options)) (*sdk.ListDashboardsOutput, error) {
	if in.NextToken == nil {
		return &sdk.ListDashboardsOutput{NextToken: aws.String("2"), DashboardEntries: []types.DashboardEntry{
			{DashboardName: aws.String("a"), Size: aws.Int64(7)}}}, e.fails("ListDashboards")
	}
	return &sdk.ListDashboardsOutput{DashboardEntries: []types.DashboardEntry{{DashboardName: aws.String("b")}}}, nil
}

func (e *endpoint) GetMetricData(_ context.Context, in *sdk.GetMetricDataInput,
	_ ...func(*sdk.Options)) (*sdk.GetMetricDataOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := &sdk.GetMetricDataOutput{}
	minute := 1
	if in.NextToken == nil {
		out.NextToken = aws.String("more")
		e.asked++
	} else {
		minute = 2
	}
	for _, q := range in.MetricDataQueries {
		v := 2.0
		switch {
		case q.MetricStat == nil && e.math == "":
			return nil, &smithy.GenericAPIError{Code: "ValidationError", Message: "no expressions"}
		case q.MetricStat == nil && e.math == "silent":
			continue
		case q.MetricStat == nil:
			v = 42
		case e.plain && strings.HasPrefix(*q.MetricStat.Stat, "p"):
			return nil, &smithy.GenericAPIError{Code: "ValidationError", Message: "no percentiles"}
		case *q.MetricStat.Metric.MetricName == retrymetrics.TaskAttempts.Name():
			v = 6
		}
		if m := q.MetricStat; m != nil {
			e.queries[fmt.Sprintf("%s %s %d", *m.Metric.MetricName, *m.Stat, *m.Period)] = true
		}
		if !*q.ReturnData {
			continue
		}
		r := types.MetricDataResult{Id: q.Id, Label: q.Label, Values: []float64{v},
			Timestamps: []time.Time{in.StartTime.Add(time.Duration(minute) * time.Minute)}}
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
	return &sdk.DescribeAlarmsOutput{
		CompositeAlarms: []types.CompositeAlarm{{AlarmName: aws.String("csv-import-page"), StateValue: types.StateValueAlarm,
			AlarmDescription: aws.String("act"), AlarmRule: aws.String(`ALARM("x")`)}},
		MetricAlarms: []types.MetricAlarm{{AlarmName: aws.String("rate"), StateValue: types.StateValueOk,
			ComparisonOperator: types.ComparisonOperatorGreaterThanOrEqualToThreshold, Threshold: aws.Float64(0.5),
			EvaluationPeriods: aws.Int32(3), DatapointsToAlarm: aws.Int32(2),
			Metrics: []types.MetricDataQuery{{Id: aws.String("e"), Expression: aws.String("a / b"), Period: aws.Int32(300)},
				{Id: aws.String("a"), ReturnData: aws.Bool(false), MetricStat: &types.MetricStat{Stat: aws.String("Sum"),
					Period: aws.Int32(300), Metric: &types.Metric{Namespace: aws.String("n"), MetricName: aws.String("A")}}}}}},
	}, e.fails("DescribeAlarms")
}

func (e *endpoint) DescribeAlarmHistory(_ context.Context, _ *sdk.DescribeAlarmHistoryInput,
	_ ...func(*sdk.Options)) (*sdk.DescribeAlarmHistoryOutput, error) {
	item := types.AlarmHistoryItem{AlarmName: aws.String("rate"), HistoryItemType: types.HistoryItemTypeAction,
		HistorySummary: aws.String("done"), Timestamp: aws.Time(time.Unix(60, 0))}
	return &sdk.DescribeAlarmHistoryOutput{AlarmHistoryItems: []types.AlarmHistoryItem{item, item}, NextToken: aws.String("more")},
		e.fails("DescribeAlarmHistory")
}

// fetched returns the dashboard of an endpoint over five minutes and a half.
func fetched(t *testing.T, e *endpoint) render.Page {
	t.Helper()
	e.queries = map[string]bool{}
	from := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	page, err := cloudwatch.Fetch(t.Context(), &cloudwatch.Source{Client: e}, "d", render.Window{From: from, To: from.Add(5 * time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// An endpoint without metric math and searches is drawn like one that has them: expressions are evaluated over its
// plain metrics.
func TestFetch(t *testing.T) {
	t.Parallel()
	for _, math := range []string{"", "silent"} {
		e := &endpoint{body: body(t), math: math}
		page := fetched(t, e)
		if !e.queries["RetryDelay p99 60"] || !e.queries["RetryAttempts Sum 60"] || !e.queries["RetryAttempts Sum 300"] {
			t.Errorf("%q: %v", math, e.queries)
		}
		if empty := page.Empty(); len(empty) != 0 {
			t.Errorf("%q: no data in %q", math, empty)
		}
		for _, w := range page.Widgets {
			if w.Problem != "" || len(w.Notes) > 0 {
				t.Errorf("%q: %s: %s %q", math, w.Title, w.Problem, w.Notes)
			}
		}
		var out bytes.Buffer
		if err := page.HTML(&out); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), ">Work</text>"); n != 1 {
			t.Errorf("%q: the state is drawn %d times in the legend", math, n)
		}
		// 2 + 2 retries; an error found by a search; the states of the alarms.
		for _, want := range []string{">States.Timeout</text>", ">csv-import-page</text>", ">missing</text>", "success rate: 50</title>"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q: %s is not on the page", math, want)
			}
		}
	}
}

// The results of an endpoint that evaluates expressions are drawn as they are.
func TestAnEndpointWithMetricMath(t *testing.T) {
	t.Parallel()
	e := &endpoint{body: body(t), math: "own"}
	page := fetched(t, e)
	i := slices.IndexFunc(page.Widgets, func(w render.Widget) bool { return w.Title == "Failed attempts by error" })
	if l := page.Widgets[i].Lines; len(l) != 1 || fmt.Sprint(l[0].Values) != "[42 42]" {
		t.Errorf("%+v", l)
	}
}

func TestAnEndpointWithoutPercentiles(t *testing.T) {
	t.Parallel()
	page := fetched(t, &endpoint{body: body(t), plain: true})
	i := slices.IndexFunc(page.Widgets, func(w render.Widget) bool { return w.Title == "Retry Delays" })
	if w := page.Widgets[i]; len(w.Lines) != 2 || fmt.Sprint(w.Notes) != "[p50: ValidationError: no percentiles p99: ValidationError: no percentiles]" {
		t.Errorf("%d lines, %q", len(w.Lines), w.Notes)
	}
}

// Errors of the dashboard itself are returned; those of data and alarms are said in the widgets.
func TestFetchTellsWhatFailed(t *testing.T) {
	t.Parallel()
	w := render.Window{From: time.Unix(0, 0), To: time.Unix(600, 0)}
	fetch := func(e *endpoint) (render.Page, error) {
		e.queries = map[string]bool{}
		return cloudwatch.Fetch(t.Context(), &cloudwatch.Source{Client: e}, "d", w)
	}
	if _, err := fetch(&endpoint{broken: "GetDashboard"}); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "dashboard d: broken") {
		t.Errorf("%v", err)
	}
	for name, c := range map[string]struct {
		e    *endpoint
		want string
	}{
		"ListMetrics":    {&endpoint{body: body(t), broken: "ListMetrics"}, "the list of metrics: broken"},
		"GetMetricData":  {&endpoint{body: body(t), broken: "GetMetricData"}, "broken"},
		"DescribeAlarms": {&endpoint{body: body(t), broken: "DescribeAlarms"}, "2 alarms: broken"},
		"a result that was not asked for": {&endpoint{body: body(t), answer: func(r *types.MetricDataResult) { r.Id = aws.String("q9999") }},
			"was not requested"},
		"times without values": {&endpoint{body: body(t), answer: func(r *types.MetricDataResult) { r.Values = nil }}, "was not requested"},
	} {
		page, err := fetch(c.e)
		if err != nil || !slices.ContainsFunc(page.Widgets, func(w render.Widget) bool {
			return strings.Contains(w.Problem+strings.Join(w.Notes, " "), c.want)
		}) {
			t.Errorf("%s: %v, no widget says %q", name, err, c.want)
		}
	}
	w.To = w.From
	if _, err := fetch(&endpoint{}); err == nil {
		t.Error("an empty range is fetched")
	}
}

// The window begins shortly before the data and ends after them.
func TestTheDataChooseTheWindow(t *testing.T) {
	t.Parallel()
	e := &endpoint{body: body(t), math: "own", queries: map[string]bool{}}
	now := time.Date(2026, 11, 21, 5, 30, 20, 0, time.UTC)
	s := &cloudwatch.Source{Client: e}
	w, err := s.Around(t.Context(), e.body, now)
	if err != nil {
		t.Fatal(err)
	}
	// The endpoint has data from 2:01 to 2:07, in periods of up to 5 minutes, of which the window shows three.
	if got := w.From.Format(time.TimeOnly) + " " + w.To.Format(time.TimeOnly); got != "01:56:00 02:11:00" {
		t.Error(got)
	}
	e.broken = "GetMetricData"
	if w, err = s.Around(t.Context(), e.body, now); err != nil || w.To != now || w.From.Format(time.TimeOnly) != "02:30:00" {
		t.Errorf("without data %+v, %v", w, err)
	}
}

func TestAlarmsAndDashboards(t *testing.T) {
	t.Parallel()
	e := &endpoint{}
	all, err := cloudwatch.AllAlarms(t.Context(), e, "", "")
	if err != nil || len(all) != 2 || all[0].Name != "csv-import-page" || !all[0].Composite || all[1].Watches != "a / b ≥ 0.5, 2 of 3 periods of 5m" {
		t.Errorf("%+v, %v", all, err)
	}
	events, err := cloudwatch.History(t.Context(), e, "rate", 3)
	if err != nil || len(events) != 3 || events[0].Kind != "Action" {
		t.Errorf("%+v, %v", events, err)
	}
	list, err := cloudwatch.List(t.Context(), e)
	if err != nil || len(list) != 2 || list[0].Bytes != 7 {
		t.Errorf("%+v, %v", list, err)
	}
}

// logs answers a query when it is asked the second time.
type logs struct{ asked int }

func (l *logs) Call(_ context.Context, operation string, in, out any) error {
	text := `{"queryId":"q"}`
	if operation == "GetQueryResults" {
		if text = `{"status":"Running"}`; l.asked > 0 {
			text = `{"status":"Complete","results":[[{"field":"a","value":"1"},{"field":"@ptr","value":"p"}],[{"field":"b","value":"2"}]]}`
		}
		l.asked++
	} else if got := fmt.Sprint(in.(map[string]any)["logGroupNames"]); got != "[g]" {
		return errors.New(got)
	}
	return json.Unmarshal([]byte(text), out)
}

func TestLogs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &cloudwatch.Source{Client: &endpoint{}, LogsOf: func(string) (cloudwatch.Logs, error) {
			return &logs{},
				nil
		}}
		got, err := s.Logs(t.Context(), time.Unix(0, 0), time.Unix(60, 0), render.LogQuery{Groups: []string{"g"}, Text: "fields a"})
		if err != nil || fmt.Sprint(got) != "{[a b] [[1 ] [ 2]]}" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
