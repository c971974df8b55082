package cloudwatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/local/services/cloudwatch"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
)

var epoch = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

const topic = "arn:aws:sns:eu-west-1:111111111111:pages"

// targets records deliveries, and rejects as many as configured.
type targets struct {
	mu   sync.Mutex
	fail int
	got  []string
	all  []delivery.Message
}

func (t *targets) Takes(string) bool { return true }

func (t *targets) Deliver(_ context.Context, arn string, m *delivery.Message) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fail > 0 {
		t.fail--
		return &aws.Error{Code: "InternalError", Status: 500, Message: "not now"}
	}
	t.got = append(t.got, arn+" "+m.Subject+m.DetailType)
	t.all = append(t.all, *m)
	return nil
}

func (t *targets) delivered() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.got, "\n")
}

// bench is a service on an in-memory disk and in virtual time, behind HTTP, with AWS's client for it.
type bench struct {
	*client.Client
	t       *testing.T
	clock   *clock.Clock
	store   *documents.Store
	service *cloudwatch.Service
	server  *httptest.Server
	targets targets
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clock: clock.Virtual(epoch)}
	b.open(vfs.NewCrashableMem())
	t.Cleanup(func() {
		b.close()
		b.clock.Close()
	})
	return b
}

func (b *bench) open(disk vfs.FS) {
	b.t.Helper()
	var err error
	if b.store, err = documents.Open("/documents", disk); err != nil {
		b.t.Fatal(err)
	}
	if b.service, err = cloudwatch.Open(cloudwatch.Options{Documents: b.store, Clock: b.clock, Targets: &b.targets,
		Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}}); err != nil {
		b.t.Fatal(err)
	}
	if err = b.service.Resume(); err != nil {
		b.t.Fatal(err)
	}
	b.server = httptest.NewServer(b.service.Handler())
	b.Client = client.New(client.Options{BaseEndpoint: &b.server.URL, Region: "eu-west-1", RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("111111111111", "secret", "")})
}

func (b *bench) close() {
	b.server.Close()
	if err := errors.Join(b.service.Close(), b.store.Close()); err != nil {
		b.t.Error(err)
	}
}

// pass lets virtual time pass. Alarms are evaluated in that time.
func (b *bench) pass(d time.Duration) {
	b.t.Helper()
	b.clock.Hold()
	defer b.clock.Release()
	if err := b.clock.Sleep(b.t.Context(), d); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) put(name string, value float64, dimensions ...string) {
	b.t.Helper()
	d := types.MetricDatum{MetricName: &name, Value: &value, Timestamp: sdk.Time(b.clock.Now())}
	for i := 0; i < len(dimensions); i += 2 {
		d.Dimensions = append(d.Dimensions, types.Dimension{Name: &dimensions[i], Value: &dimensions[i+1]})
	}
	if _, err := b.PutMetricData(b.t.Context(), &client.PutMetricDataInput{Namespace: sdk.String("App"),
		MetricData: []types.MetricDatum{d}}); err != nil {
		b.t.Fatal(err)
	}
}

func refused(t *testing.T, err error, code, message string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code || !strings.Contains(e.ErrorMessage(), message) {
		t.Errorf("%v; want %s: %s", err, code, message)
	}
}

func TestDataAndMath(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	for i := range 5 {
		b.put("Calls", float64(i+1), "Function", "a")
		b.put("Errors", 1, "Function", "a")
		b.put("Calls", 10, "Function", "b")
		b.pass(time.Minute)
	}
	in := client.GetMetricStatisticsInput{Namespace: sdk.String("App"), MetricName: sdk.String("Calls"),
		Dimensions: []types.Dimension{{Name: sdk.String("Function"), Value: sdk.String("a")}}, Period: sdk.Int32(300),
		StartTime: &epoch, EndTime: sdk.Time(epoch.Add(10 * time.Minute)),
		Statistics: []types.Statistic{types.StatisticSum, types.StatisticMaximum}}
	got, err := b.GetMetricStatistics(ctx, &in)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Datapoints) != 1 || *got.Datapoints[0].Sum != 15 || *got.Datapoints[0].Maximum != 5 ||
		!got.Datapoints[0].Timestamp.Equal(epoch) {
		t.Errorf("statistics %+v", got.Datapoints)
	}
	in.ExtendedStatistics = []string{"p50"}
	_, err = b.GetMetricStatistics(ctx, &in)
	refused(t, err, "InvalidParameterCombination",
		"The parameters Statistics and ExtendedStatistics are mutually exclusive and you have specified both.")
	in.Statistics = nil
	if got, err = b.GetMetricStatistics(ctx, &in); err != nil || got.Datapoints[0].ExtendedStatistics["p50"] != 3 {
		t.Errorf("percentiles %+v, %v", got, err)
	}
	metric := func(id, name string) types.MetricDataQuery {
		return types.MetricDataQuery{Id: &id, ReturnData: sdk.Bool(false),
			MetricStat: &types.MetricStat{Period: sdk.Int32(60),
				Stat: sdk.String("Sum"), Metric: &types.Metric{Namespace: sdk.String("App"), MetricName: &name,
					Dimensions: []types.Dimension{{Name: sdk.String("Function"), Value: sdk.String("a")}}}}}
	}
	data, err := b.GetMetricData(ctx, &client.GetMetricDataInput{StartTime: &epoch,
		EndTime: sdk.Time(epoch.Add(5 * time.Minute)),
		ScanBy:  types.ScanByTimestampAscending, MetricDataQueries: []types.MetricDataQuery{metric("calls", "Calls"), metric("errors", "Errors"),
			{Id: sdk.String("rate"), Expression: sdk.String("100 * errors / calls"), Label: sdk.String("${LABEL} (max ${MAX})")},
			{Id: sdk.String("all"), Expression: sdk.String(`SUM(SEARCH('{App,Function} MetricName="Calls"', 'Sum', 60))`)},
			{Id: sdk.String("each"), Expression: sdk.String(`SEARCH('{App,Function} calls NOT b', 'Sum', 60)`)}}})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range data.MetricDataResults {
		lines = append(lines, fmt.Sprintf("%s %s %v", *r.Id, *r.Label, r.Values))
	}
	const want = `rate rate (max 100) [100 50 33.333333333333336 25 20]
all all [11 12 13 14 15]
each each [1 2 3 4 5]`
	if strings.Join(lines, "\n") != want {
		t.Errorf("data:\n%s", strings.Join(lines, "\n"))
	}
	listed, err := b.ListMetrics(ctx, &client.ListMetricsInput{Namespace: sdk.String("App"), MetricName: sdk.String("Calls")})
	if err != nil || len(listed.Metrics) != 2 {
		t.Errorf("metrics %+v, %v", listed, err)
	}
	_, err = b.GetMetricData(ctx, &client.GetMetricDataInput{StartTime: &epoch, EndTime: sdk.Time(epoch.Add(time.Hour)),
		MetricDataQueries: []types.MetricDataQuery{{Id: sdk.String("e"), Expression: sdk.String("1 + nothing")}}})
	refused(t, err, "ValidationError", "Error in expression 'e': column 5: no metric or expression has the id nothing")
}

// A period as long as the range begins with the range, wherever it begins: one value sums up all of it.
func TestPeriodsBeginWithTheRange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 10 {
		b.put("Errors", 1)
		b.pass(time.Minute)
	}
	got, err := b.GetMetricData(t.Context(), &client.GetMetricDataInput{StartTime: sdk.Time(epoch.Add(2*time.Minute +
		10*time.Second)),
		EndTime: sdk.Time(epoch.Add(9 * time.Minute)), MetricDataQueries: []types.MetricDataQuery{{Id: sdk.String("m"),
			MetricStat: &types.MetricStat{Period: sdk.Int32(420), Stat: sdk.String("Sum"),
				Metric: &types.Metric{Namespace: sdk.String("App"), MetricName: sdk.String("Errors")}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if r := got.MetricDataResults[0]; fmt.Sprint(r.Values) != "[7]" || !r.Timestamps[0].Equal(epoch.Add(2*time.Minute)) {
		t.Errorf("%v at %v", r.Values, r.Timestamps)
	}
}

// TestAlarm makes an alarm fire, notify a topic that is unavailable at first, and return to OK; a composite alarm
// follows it.
func TestAlarm(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	if _, err := b.PutMetricAlarm(ctx, &client.PutMetricAlarmInput{AlarmName: sdk.String("Errors"), Namespace: sdk.String("App"),
		MetricName: sdk.String("Errors"), Statistic: types.StatisticSum, Period: sdk.Int32(60), EvaluationPeriods: sdk.Int32(2),
		DatapointsToAlarm: sdk.Int32(2), Threshold: sdk.Float64(3),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
		TreatMissingData:   sdk.String("notBreaching"), AlarmActions: []string{topic}, OKActions: []string{topic}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PutCompositeAlarm(ctx, &client.PutCompositeAlarmInput{AlarmName: sdk.String("Any"),
		AlarmRule: sdk.String(`ALARM("Errors")`)}); err != nil {
		t.Fatal(err)
	}
	b.targets.fail = 1
	for range 3 {
		b.put("Errors", 5)
		b.pass(time.Minute)
	}
	b.pass(10 * time.Minute)
	const want = `arn:aws:events:eu-west-1:111111111111:event-bus/default CloudWatch Alarm State Change`
	got := b.targets.delivered()
	if !strings.Contains(got, topic+` ALARM: "Errors" in EU (Ireland)`) || !strings.Contains(got, topic+` OK: "Errors" in EU (Ireland)`) ||
		!strings.Contains(got, want) {
		t.Errorf("delivered\n%s", got)
	}
	var told struct{ AlarmName, NewStateValue, NewStateReason, OldStateValue string }
	for _, m := range b.targets.all {
		if strings.HasPrefix(m.Subject, "ALARM") {
			if err := json.Unmarshal([]byte(m.Body), &told); err != nil {
				t.Error(err)
			}
		}
	}
	if told.NewStateReason != "Threshold Crossed: 2 out of the last 2 datapoints [5.0 (22/11/26 12:00:00), 5.0 (22/11/26 12:01:00)] "+
		"were greater than the threshold (3.0) (minimum 2 datapoints for OK -> ALARM transition)." {
		t.Errorf("told %+v", told)
	}
	const mail = `You are receiving this email because your Amazon CloudWatch Alarm "Errors" in the EU (Ireland) region has ` +
		`entered the ALARM state, because "Threshold Crossed: 2 out of the last 2 datapoints [5.0 (22/11/26 12:00:00), ` +
		`5.0 (22/11/26 12:01:00)] were greater than the threshold (3.0) (minimum 2 datapoints for OK -> ALARM transition)." at ` +
		`"Sunday 22 November, 2026 12:02:02 UTC".

Alarm Details:
- Name:                       Errors
- State Change:               OK -> ALARM
- Reason for State Change:    Threshold Crossed: 2 out of the last 2 datapoints [5.0 (22/11/26 12:00:00), 5.0 (22/11/26 12:01:00)] were greater than the threshold (3.0) (minimum 2 datapoints for OK -> ALARM transition).
- Timestamp:                  Sunday 22 November, 2026 12:02:02 UTC
- AWS Account:                111111111111
- Alarm Arn:                  arn:aws:cloudwatch:eu-west-1:111111111111:alarm:Errors

Threshold:
- The alarm is in the ALARM state when the metric is GreaterThanThreshold 3.0 for at least 2 of the last 2 period(s) of 60 seconds.

Monitored Metric:
- MetricNamespace:                     App
- MetricName:                          Errors
- Dimensions:                          []
- Period:                              60 seconds
- Statistic:                           Sum
- Unit:                                not specified
- TreatMissingData:                    notBreaching

State Change Actions:
- OK: [` + topic + `] 
- ALARM: [` + topic + `] 
- INSUFFICIENT_DATA: 
`
	if i := slices.IndexFunc(b.targets.all, func(m delivery.Message) bool { return strings.HasPrefix(m.Subject, "ALARM") }); i < 0 ||
		b.targets.all[i].ByProtocol["email"] != mail {
		t.Errorf("the e-mail is\n%s", b.targets.all[max(i, 0)].ByProtocol["email"])
	}
	all, err := b.DescribeAlarms(ctx, &client.DescribeAlarmsInput{AlarmNames: []string{"Errors", "Any"}})
	if err != nil || len(all.MetricAlarms) != 1 || len(all.CompositeAlarms) != 1 ||
		all.MetricAlarms[0].StateValue != types.StateValueOk ||
		all.CompositeAlarms[0].StateValue != types.StateValueOk {
		t.Errorf("alarms %+v, %v", all, err)
	}
	history, err := b.DescribeAlarmHistory(ctx, &client.DescribeAlarmHistoryInput{AlarmName: sdk.String("Any"),
		HistoryItemType: types.HistoryItemTypeStateUpdate, ScanBy: types.ScanByTimestampAscending})
	if err != nil {
		t.Fatal(err)
	}
	var summaries []string
	for _, i := range history.AlarmHistoryItems {
		summaries = append(summaries, *i.HistorySummary)
	}
	if strings.Join(summaries, "; ") != "Alarm updated from INSUFFICIENT_DATA to OK; Alarm updated from OK to ALARM; "+
		"Alarm updated from ALARM to OK" {
		t.Errorf("history %q", summaries)
	}
	_, err = b.DeleteAlarms(ctx, &client.DeleteAlarmsInput{AlarmNames: []string{"Errors"}})
	refused(t, err, "ValidationError", "Cannot delete Errors as there are composite alarm(s) depending on it: Any")
}

// A composite alarm names the alarm of its rule that changed, and lists those that are in ALARM.
func TestCompositeAlarmsNameWhatChanged(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	for _, name := range []string{"A", "B", "C"} {
		if _, err := b.PutMetricAlarm(ctx, &client.PutMetricAlarmInput{AlarmName: &name, Namespace: sdk.String("App"),
			MetricName: sdk.String("Errors" + name), Statistic: types.StatisticSum, Period: sdk.Int32(60),
			EvaluationPeriods: sdk.Int32(1), Threshold: sdk.Float64(3),
			ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold, TreatMissingData: sdk.String("notBreaching")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.PutCompositeAlarm(ctx, &client.PutCompositeAlarmInput{AlarmName: sdk.String("Page"),
		AlarmRule: sdk.String(`ALARM("A") OR ALARM("B") OR ALARM("C")`), AlarmActions: []string{topic}, OKActions: []string{topic}}); err != nil {
		t.Fatal(err)
	}
	b.pass(2 * time.Minute)
	for range 2 {
		b.put("ErrorsB", 5)
		b.pass(time.Minute)
	}
	const of = "arn:aws:cloudwatch:eu-west-1:111111111111:alarm:"
	page, err := b.DescribeAlarms(ctx, &client.DescribeAlarmsInput{AlarmNames: []string{"Page"},
		AlarmTypes: []types.AlarmType{types.AlarmTypeCompositeAlarm}})
	if err != nil || len(page.CompositeAlarms) != 1 {
		t.Fatal(err)
	}
	got := page.CompositeAlarms[0]
	if got.StateValue != types.StateValueAlarm ||
		*got.StateReason != of+"B transitioned to ALARM at Sunday 22 November, 2026 12:03:02 UTC" ||
		*got.StateReasonData != `{"triggeringAlarms":[{"arn":"`+of+`B","state":{"value":"ALARM","timestamp":"2026-11-22T12:03:02.000+0000"}}]}` {
		t.Errorf("%s, because %s; %s", got.StateValue, *got.StateReason, *got.StateReasonData)
	}
	var told struct {
		TriggeringChildren []struct {
			Arn   string
			State struct{ Value, Timestamp string }
		}
	}
	for _, m := range b.targets.all {
		if strings.HasPrefix(m.Subject, `ALARM: "Page"`) {
			if err := json.Unmarshal([]byte(m.Body), &told); err != nil {
				t.Error(err)
			}
			if !strings.Contains(m.ByProtocol["email"], "\nTriggering children (max. 10):\n- "+of+"B transitioned to ALARM at Sunday 22") {
				t.Errorf("the e-mail is\n%s", m.ByProtocol["email"])
			}
		}
	}
	if len(told.TriggeringChildren) != 1 || told.TriggeringChildren[0].Arn != of+"B" || told.TriggeringChildren[0].State.Value != "ALARM" {
		t.Errorf("%+v", told)
	}
}

// TestAnAlarmOfHalfAMinute checks that an alarm with a period below a minute sees data with a resolution of one
// minute, and reports the sample counts.
func TestAnAlarmOfHalfAMinute(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	if _, err := b.PutMetricAlarm(ctx, &client.PutMetricAlarmInput{AlarmName: sdk.String("Errors"), Namespace: sdk.String("App"),
		MetricName: sdk.String("Errors"), Statistic: types.StatisticAverage, Period: sdk.Int32(30),
		EvaluationPeriods: sdk.Int32(1), Threshold: sdk.Float64(2), TreatMissingData: sdk.String("notBreaching"),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold}); err != nil {
		t.Fatal(err)
	}
	b.put("Errors", 21)
	b.put("Errors", 22)
	b.pass(40 * time.Second)
	all, err := b.DescribeAlarms(ctx, &client.DescribeAlarmsInput{AlarmNames: []string{"Errors"}})
	if err != nil {
		t.Fatal(err)
	}
	a := all.MetricAlarms[0]
	if a.StateValue != types.StateValueAlarm || *a.StateReason != "Threshold Crossed: 1 datapoint [21.5 (22/11/26 12:00:00)] "+
		"was greater than the threshold (2.0)." || !strings.Contains(*a.StateReasonData,
		`"evaluatedDatapoints":[{"timestamp":"2026-11-22T12:00:00.000+0000","sampleCount":2,"value":21.5}]`) {
		t.Errorf("%s: %s: %s", a.StateValue, *a.StateReason, *a.StateReasonData)
	}
}

func TestActionsSurviveACrash(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	b.close()
	disk := vfs.NewCrashableMem()
	b.open(disk)
	if _, err := b.PutMetricAlarm(ctx, &client.PutMetricAlarmInput{AlarmName: sdk.String("A"), Namespace: sdk.String("App"),
		MetricName: sdk.String("M"), Statistic: types.StatisticSum, Period: sdk.Int32(60), EvaluationPeriods: sdk.Int32(1),
		Threshold: sdk.Float64(1), ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
		AlarmActions: []string{topic}}); err != nil {
		t.Fatal(err)
	}
	b.targets.fail = 1000
	if _, err := b.SetAlarmState(ctx, &client.SetAlarmStateInput{AlarmName: sdk.String("A"), StateValue: types.StateValueAlarm,
		StateReason: sdk.String("a drill")}); err != nil {
		t.Fatal(err)
	}
	after := disk.CrashClone(vfs.CrashCloneCfg{})
	b.close()
	b.targets.fail = 0
	b.open(after)
	b.pass(10 * time.Minute)
	if got := b.targets.delivered(); !strings.Contains(got, `ALARM: "A"`) {
		t.Errorf("delivered %q", got)
	}
}

// TestTimePassesAfterAServiceHasClosed closes services while their first round is about to run. None of them may leave
// virtual time standing still for the next one.
func TestTimePassesAfterAServiceHasClosed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.PutMetricAlarm(t.Context(), &client.PutMetricAlarmInput{AlarmName: sdk.String("A"),
		Namespace: sdk.String("App"), MetricName: sdk.String("M"), Statistic: types.StatisticSum, Period: sdk.Int32(60),
		EvaluationPeriods: sdk.Int32(1), Threshold: sdk.Float64(1),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold}); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		s, err := cloudwatch.Open(cloudwatch.Options{Documents: b.store, Clock: b.clock, Targets: &b.targets,
			Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Resume(), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	b.pass(time.Minute) // does not return if one of them still holds the clock
}

// TestMissedRounds has no process when an alarm is due, nor for some minutes afterwards.
func TestMissedRounds(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	b.close()
	disk := vfs.NewCrashableMem()
	b.open(disk)
	if _, err := b.PutMetricAlarm(ctx, &client.PutMetricAlarmInput{AlarmName: sdk.String("A"), Namespace: sdk.String("App"),
		MetricName: sdk.String("M"), Statistic: types.StatisticSum, Period: sdk.Int32(60), EvaluationPeriods: sdk.Int32(1),
		Threshold: sdk.Float64(1), ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold,
		AlarmActions: []string{topic}}); err != nil {
		t.Fatal(err)
	}
	b.pass(70 * time.Second)
	b.put("M", 5)
	after := disk.CrashClone(vfs.CrashCloneCfg{})
	b.close()
	b.pass(10 * time.Minute)
	b.open(after)
	b.pass(15 * time.Second)
	if got := b.targets.delivered(); !strings.Contains(got, `ALARM: "A"`) {
		t.Errorf("delivered %q", got)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), t.Context()
	_, err := b.PutMetricData(ctx, &client.PutMetricDataInput{Namespace: sdk.String("AWS/Lambda"),
		MetricData: []types.MetricDatum{{MetricName: sdk.String("m"), Value: sdk.Float64(1)}}})
	refused(t, err, "InvalidParameterValue", "Namespace")
	_, err = b.PutMetricData(ctx, &client.PutMetricDataInput{Namespace: sdk.String("App"), MetricData: []types.MetricDatum{{
		MetricName: sdk.String("m"), Value: sdk.Float64(1), Timestamp: sdk.Time(epoch.Add(-30 * 24 * time.Hour))}}})
	refused(t, err, "InvalidParameterValue", "no more than 2 weeks in the past")
	for _, d := range []struct{ name, value, want string }{
		{":d", "v", "The value :d for parameter MetricData.member.1.Dimensions.member.1.Name is invalid."},
		{"dé", "v", "The value dé for parameter MetricData.member.1.Dimensions.member.1.Name is invalid."},
		{"d", " ", "The value   for parameter MetricData.member.1.Dimensions.member.1.Value is invalid."},
	} {
		_, err = b.PutMetricData(ctx, &client.PutMetricDataInput{Namespace: sdk.String("App"), MetricData: []types.MetricDatum{{
			MetricName: sdk.String("m"), Value: sdk.Float64(1), Dimensions: []types.Dimension{{Name: &d.name, Value: &d.value}}}}})
		refused(t, err, "InvalidParameterValue", d.want)
	}
	for _, c := range []struct {
		change     func(*client.PutMetricAlarmInput)
		code, want string
	}{
		{func(in *client.PutMetricAlarmInput) { in.ExtendedStatistic = sdk.String("p99") }, "InvalidParameterCombination",
			"The parameters Statistic and ExtendedStatistic are mutually exclusive and you have specified both."},
		{func(in *client.PutMetricAlarmInput) { in.EvaluateLowSampleCountPercentile = sdk.String("x") }, "ValidationError",
			`Option "x" for parameter "EvaluateLowSampleCountPercentile" is invalid. Options: [evaluate, ignore]`},
		{func(in *client.PutMetricAlarmInput) { in.AlarmActions = []string{"topic"} }, "ValidationError",
			"Invalid arn syntax or unsupported action: topic."},
	} {
		in := &client.PutMetricAlarmInput{AlarmName: sdk.String("a"), Namespace: sdk.String("App"), MetricName: sdk.String("m"),
			ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold, EvaluationPeriods: sdk.Int32(1),
			Period: sdk.Int32(60), Statistic: types.StatisticSum, Threshold: sdk.Float64(1)}
		c.change(in)
		_, err = b.PutMetricAlarm(ctx, in)
		refused(t, err, c.code, c.want)
	}
	_, err = b.DescribeAlarms(ctx, &client.DescribeAlarmsInput{AlarmNames: []string{"a"}, AlarmNamePrefix: sdk.String("a")})
	refused(t, err, "InvalidParameterCombination",
		"The parameters AlarmNames and AlarmNamePrefix are mutually exclusive and you have specified both.")
	_, err = b.PutDashboard(ctx, &client.PutDashboardInput{DashboardName: sdk.String("a b"), DashboardBody: sdk.String("{}")})
	refused(t, err, "InvalidParameterInput", "The value a b for field DashboardName contains invalid characters. "+
		"It can only contain alphanumerics, dash (-) and underscore (_).")
	_, err = b.PutCompositeAlarm(ctx, &client.PutCompositeAlarmInput{AlarmName: sdk.String("c"), AlarmRule: sdk.String("ALARM(x)")})
	refused(t, err, "ValidationError", "do not exist")
	_, err = b.SetAlarmState(ctx, &client.SetAlarmStateInput{AlarmName: sdk.String("c"), StateValue: types.StateValueOk,
		StateReason: sdk.String("x")})
	refused(t, err, "ResourceNotFound", "c not found")
	_, err = b.GetDashboard(ctx, &client.GetDashboardInput{DashboardName: sdk.String("d")})
	refused(t, err, "ResourceNotFound", "Dashboard d does not exist")
	_, err = b.PutDashboard(ctx, &client.PutDashboardInput{DashboardName: sdk.String("d"), DashboardBody: sdk.String("{")})
	refused(t, err, "InvalidParameterInput", "must be a valid JSON object")
	if _, err = b.PutDashboard(ctx, &client.PutDashboardInput{DashboardName: sdk.String("d"), DashboardBody: sdk.String(`{"widgets":[]}`)}); err != nil {
		t.Error(err)
	}
	if d, err := b.ListDashboards(ctx, nil); err != nil || len(d.DashboardEntries) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	_, err = b.PutAnomalyDetector(ctx, &client.PutAnomalyDetectorInput{})
	refused(t, err, "MissingParameter", "The parameter Namespace is required.")
	_, err = b.GetInsightRuleReport(ctx, &client.GetInsightRuleReportInput{RuleName: sdk.String("r"), StartTime: sdk.Time(epoch),
		EndTime: sdk.Time(epoch), Period: sdk.Int32(60)})
	refused(t, err, "NotImplemented", "GetInsightRuleReport")
}
