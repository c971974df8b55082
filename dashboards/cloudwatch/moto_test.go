package cloudwatch_test

import (
	"bytes"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	sdk "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/alarms"
	"stepback/dashboards/cloudwatch"
	"stepback/dashboards/render"
	"stepback/retrymetrics"
)

// moto starts moto_server, which implements CloudWatch's API, and stops it when the test ends.
func moto(t *testing.T) *sdk.Client {
	t.Helper()
	program, err := exec.LookPath("moto_server")
	if err != nil {
		t.Skip("moto_server is not installed (pip install 'moto[server]')")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(address, ":")
	var log bytes.Buffer
	server := exec.CommandContext(t.Context(), program, "-p", port)
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() }) // killed with the test's context
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address); err == nil {
			c.Close()
			tick.Stop()
			break
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("moto_server does not listen: %s", log.String())
		}
	}
	return sdk.New(sdk.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://localhost:" + port),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
}

// put publishes points as CloudWatch's metrics: one for each dimension set.
func put(t *testing.T, c *sdk.Client, points []retrymetrics.Point) {
	t.Helper()
	var all []types.MetricDatum
	for _, p := range points {
		for _, set := range p.Metric.Sets() {
			if !p.Labels.Has(set) {
				continue
			}
			d := types.MetricDatum{MetricName: aws.String(p.Metric.Name()), Timestamp: aws.Time(p.Start),
				Unit: types.StandardUnit(p.Metric.Unit())}
			for _, name := range set.Dimensions() {
				d.Dimensions = append(d.Dimensions, types.Dimension{Name: aws.String(string(name)),
					Value: aws.String(p.Labels.Value(name))})
			}
			for i, v := range p.Values {
				for range p.Counts[i] {
					one := d
					one.Value = aws.Float64(v)
					all = append(all, one)
				}
			}
		}
	}
	for batch := range slices.Chunk(all, 200) {
		if _, err := c.PutMetricData(t.Context(), &sdk.PutMetricDataInput{Namespace: aws.String(retrymetrics.Namespace),
			MetricData: batch}); err != nil {
			t.Fatal(err)
		}
	}
}

func happened(at time.Time) []retrymetrics.Point {
	var c retrymetrics.Collector
	c.AddRows(machine, at, retrymetrics.Rows{Applied: 97, Rejected: 2, DeadLettered: 1})
	c.AddConfiguration(machine, at, []retrymetrics.Configuration{{State: "ProcessSingleUserRecord", Retries: 9,
		Wait: 30 * time.Second}})
	points := c.Points()
	for minute, n := range []float64{3, 1, 4} {
		for _, m := range []*retrymetrics.Metric{retrymetrics.TaskAttempts, retrymetrics.TaskFailures,
			retrymetrics.RetryAttempts, retrymetrics.RetrySuccess, retrymetrics.RetryFailure} {
			v := n
			if m == retrymetrics.TaskAttempts {
				v = 10 * n
			}
			points = append(points, retrymetrics.Point{
				Metric: m, Labels: retrymetrics.Labels{StateMachine: machine, State: "Work",
					ErrorType: "States.Timeout"},
				Start: at.Add(time.Duration(minute) * time.Minute), Values: []float64{v}, Counts: []int64{1},
			})
		}
	}
	return points
}

// What an endpoint returns for published points equals what is computed from them locally, widget by widget and line
// by line.
func TestAnEndpointDrawsWhatThePointsDo(t *testing.T) {
	t.Parallel()
	c := moto(t)
	from := time.Now().UTC().Add(-time.Hour).Truncate(time.Minute)
	points := happened(from.Add(10 * time.Minute))
	put(t, c, points)
	shown := bytes.ReplaceAll(body(t), []byte("csv-import-page"), []byte("csv-import-dead-letters"))
	if _, err := c.PutDashboard(t.Context(), &sdk.PutDashboardInput{DashboardName: aws.String("d"),
		DashboardBody: aws.String(string(shown))}); err != nil {
		t.Fatal(err)
	}
	putAlarms(t, c)
	window := render.Window{From: from, To: from.Add(time.Hour), Period: time.Minute}
	page, err := cloudwatch.Fetch(t.Context(), &cloudwatch.Source{Client: c}, "d", window)
	if err != nil {
		t.Fatal(err)
	}
	own, err := render.Load(t.Context(), "d", shown, render.Points(points), window)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, w := range page.Widgets {
		if w.Title == "Retry Delays" {
			continue // moto has no percentiles
		}
		for n, l := range own.Widgets[i].Lines {
			if n >= len(w.Lines) || !slices.Equal(l.Values, w.Lines[n].Values) {
				t.Errorf("%s, %s: %+v, want %v", w.Title, l.Label, w.Lines, l.Values)
			}
			if len(l.Values) > 0 {
				compared++
			}
		}
	}
	if compared < 12 {
		t.Errorf("only %d lines have data", compared)
	}
	i := slices.IndexFunc(page.Widgets, func(w render.Widget) bool { return w.Type == "alarm" })
	if all := page.Widgets[i].Alarms; len(all) != 2 || all[1].Name != "csv-import-dead-letters" || all[0].State != "missing" {
		t.Errorf("alarms %+v", all)
	}
}

// putAlarms creates the alarms from their PutMetricAlarm form. moto 5.2 fails on every composite alarm.
func putAlarms(t *testing.T, c *sdk.Client) {
	t.Helper()
	set, err := alarms.New(alarms.Options{StateMachine: machine, Topic: "arn:aws:sns:us-east-1:123456789012:t"})
	if err != nil {
		t.Fatal(err)
	}
	all, _ := set.Put()
	for _, a := range all {
		if a.MetricName == "" {
			continue
		}
		in := &sdk.PutMetricAlarmInput{
			AlarmName: aws.String(a.AlarmName), AlarmDescription: aws.String(a.AlarmDescription),
			Namespace: aws.String(a.Namespace), MetricName: aws.String(a.MetricName),
			ComparisonOperator: types.ComparisonOperator(a.ComparisonOperator),
			EvaluationPeriods:  aws.Int32(int32(a.EvaluationPeriods)),
			DatapointsToAlarm:  aws.Int32(int32(a.DatapointsToAlarm)), Threshold: aws.Float64(a.Threshold),
			Period:    aws.Int32(int32(a.Period)),
			Statistic: types.Statistic(a.Statistic), TreatMissingData: aws.String(string(a.TreatMissingData)),
			Unit: types.StandardUnit(a.Unit),
		}
		if _, err := c.PutMetricAlarm(t.Context(), in); err != nil {
			t.Errorf("%s: %v", a.AlarmName, err)
		}
	}
}
