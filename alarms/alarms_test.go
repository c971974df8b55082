package alarms_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/alarms"
	"stepback/retrymetrics"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

const machine = "csv-import"

func newSet(t *testing.T, level retrymetrics.Level) alarms.Set {
	t.Helper()
	s, err := alarms.New(alarms.Options{
		StateMachine: machine, Level: level, UndeliveredQueue: "csv-import-undelivered-events",
		MetricsFunction: "csv-import-metrics", AdaptFunction: "csv-import-adapt", RelayFunction: "csv-import-relay",
		PruneFunction:     "csv-import-prune",
		TrainFunction:     "csv-import-train",
		MachineARN:        "arn:aws:states:ap-northeast-1:000000000000:stateMachine:csv-import",
		Timeout:           24 * time.Hour,
		FilesMachine:      machine + "-files",
		FilesMachineARN:   "arn:aws:states:ap-northeast-1:000000000000:stateMachine:csv-import-files",
		FilesTimeout:      14 * 24 * time.Hour,
		NotificationQueue: "csv-import-undelivered-notifications", Cluster: "csv-import-database",
		PagesTopic: "csv-import-pages", NoticesTopic: "csv-import-notices", ImportsTopic: "csv-import-imports",
		Guide:       "https://example.com/guide",
		Topic:       "arn:aws:sns:ap-northeast-1:000000000000:messages",
		PagingTopic: "arn:aws:sns:ap-northeast-1:000000000000:pager",
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAlarmsAreGolden(t *testing.T) {
	t.Parallel()
	for _, level := range []retrymetrics.Level{retrymetrics.LevelAll, retrymetrics.LevelError} {
		var written struct {
			Alarms     []alarms.PutMetricAlarm
			Composites []alarms.PutCompositeAlarm
		}
		written.Alarms, written.Composites = newSet(t, level).Put()
		got, err := json.MarshalIndent(written, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		golden := "testdata/alarms-" + strings.ToLower(string(level)) + ".json"
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is out of date (%v): run go test ./alarms -update and look at the difference", golden, err)
		}
	}
}

// Every metric that an alarm watches is declared with exactly the alarm's dimensions and unit, and within
// CloudWatch's limits.
func TestEveryAlarmWatchesAPublishedMetric(t *testing.T) {
	t.Parallel()
	for _, level := range []retrymetrics.Level{retrymetrics.LevelAll, retrymetrics.LevelError} {
		all, composites := newSet(t, level).Put()
		for _, a := range all {
			if len(a.AlarmDescription) > 1024 || len(a.AlarmName) > 255 || !strings.Contains(a.AlarmDescription,
				"First: ") || !strings.Contains(a.AlarmDescription, "https://example.com/guide#") {
				t.Errorf("%s: %s", a.AlarmName, a.AlarmDescription)
			}
			if a.MetricName != "" {
				checkWatched(t, level, a.Namespace, a.MetricName, a.Dimensions, a.Unit)
			}
			returned := 0
			for _, q := range a.Metrics {
				if q.ReturnData {
					returned++
				}
				if q.MetricStat != nil {
					checkWatched(t, level, q.MetricStat.Metric.Namespace, q.MetricStat.Metric.MetricName,
						q.MetricStat.Metric.Dimensions, q.MetricStat.Unit)
				}
			}
			if (a.MetricName == "") != (returned == 1) || strings.Contains(fmt.Sprint(a.Metrics), "SEARCH") {
				t.Errorf("%s: %+v", a.AlarmName, a)
			}
			in := 0
			for _, c := range composites {
				in += strings.Count(c.AlarmRule, fmt.Sprintf("ALARM(%q)", a.AlarmName))
			}
			own := strings.HasSuffix(a.AlarmName, "-executions-ended-badly") || strings.HasSuffix(a.AlarmName, "-metrics-silent")
			if (in == 1) == (len(a.AlarmActions) > 0) && !own || in > 1 {
				t.Errorf("%s tells nobody, or tells twice: in %d composites", a.AlarmName, in)
			}
		}
		for _, c := range composites {
			to := "pager"
			if c.AlarmName == "csv-import-budget-drained" {
				to = "messages"
			}
			if len(c.AlarmRule) > 10_240 || len(c.AlarmActions) != 1 || !strings.HasSuffix(c.AlarmActions[0], ":"+to) {
				t.Errorf("%+v", c)
			}
		}
		if len(all) > 100 {
			t.Errorf("%d alarms", len(all))
		}
	}
}

func checkWatched(t *testing.T, level retrymetrics.Level, namespace, name string, dimensions []alarms.NamedValue,
	unit retrymetrics.Unit) {
	t.Helper()
	given := map[retrymetrics.Dimension]string{}
	for _, d := range dimensions {
		given[d.Name] = d.Value
	}
	s, err := retrymetrics.SeriesOf(name, given)
	if err != nil {
		t.Error(err)
		return
	}
	if s.Metric.Namespace() != namespace || s.Metric.Unit() != unit || !s.Metric.At(level) {
		t.Errorf("%s in %s at level %s has no data", name, unit, level)
	}
}

func point(m *retrymetrics.Metric, minute int, v float64) retrymetrics.Point {
	return retrymetrics.Point{
		Metric: m, Labels: retrymetrics.Labels{StateMachine: machine, State: "Work", ErrorType: "Other"},
		Start: time.Unix(int64(60*minute), 0).UTC(), Values: []float64{v}, Counts: []int64{1},
	}
}

// rows returns the row counts of an import that ended in the first minute.
func rows(dead, applied float64) []retrymetrics.Point {
	return []retrymetrics.Point{point(retrymetrics.RowsDeadLettered, 0, dead),
		point(retrymetrics.RowsApplied, 0, applied),
		point(retrymetrics.RowsAlreadyApplied, 0, 0), point(retrymetrics.RowsRejected, 0, 0)}
}

// The alarm on scheduled invocations reports that they stopped, and nothing before the first one.
func TestSilence(t *testing.T) {
	t.Parallel()
	s := newSet(t, retrymetrics.LevelError)
	failures := []retrymetrics.Point{point(retrymetrics.TaskFailures, 0, 1), point(retrymetrics.TaskFailures, 60, 1)}
	tripped, pages, err := s.Tripped(failures)
	if err != nil || len(tripped) > 0 || pages {
		t.Errorf("before the first invocation: %v (pages: %v, %v)", tripped, pages, err)
	}
	all, _ := s.Put()
	for _, a := range all {
		if silent := a.AlarmName == "csv-import-metrics-silent"; silent != (len(a.InsufficientDataActions) > 0) ||
			silent && a.TreatMissingData != alarms.NoData {
			t.Errorf("%s acts on missing data: %v, %s", a.AlarmName, a.InsufficientDataActions, a.TreatMissingData)
		}
	}
	const both = `((ALARM("csv-import-executions-ended-badly") OR ALARM("csv-import-files-executions-ended-badly")) AND (ALARM("csv-import-metrics-silent") OR INSUFFICIENT_DATA("csv-import-metrics-silent")))`
	for _, c := range s.Composites() {
		if strings.Contains(c.Rule, both) != (c.Name == "page-executions") {
			t.Errorf("%s: %s", c.Name, c.Rule)
		}
	}
}

// TestASecondTroublePages: while one composite is in ALARM, a trouble of another kind is in the rule of another one.
func TestASecondTroublePages(t *testing.T) {
	t.Parallel()
	_, composites := newSet(t, retrymetrics.LevelAll).Put()
	for _, name := range []string{"circuit-breaker-open", "many-dead-letters", "executions-failed", "undelivered-events",
		"budget-fast-1h"} {
		var in []string
		for _, c := range composites {
			if strings.Contains(c.AlarmRule, fmt.Sprintf("ALARM(%q)", "csv-import-"+name)) {
				in = append(in, c.AlarmName)
			}
		}
		want := map[string]string{"circuit-breaker-open": "csv-import-page-callee", "many-dead-letters": "csv-import-page-rows",
			"executions-failed": "csv-import-page-executions", "undelivered-events": "csv-import-page-events",
			"budget-fast-1h": "csv-import-page-objective"}[name]
		if !slices.Equal(in, []string{want}) {
			t.Errorf("%s pages by %v, want %s", name, in, want)
		}
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		alarm  string
		points []retrymetrics.Point
		want   string
	}{
		"nothing": {"dead-letters", nil, "[]"},
		"none": {"dead-letters", []retrymetrics.Point{point(retrymetrics.RowsDeadLettered, 0, 0)},
			"[00:05 OK]"},
		"one, then silence": {"dead-letters", []retrymetrics.Point{point(retrymetrics.RowsDeadLettered, 0, 1)},
			"[00:05 ALARM 00:10 OK]"},
		"two of three": {"throttled", []retrymetrics.Point{point(retrymetrics.Throttles, 0, 101),
			point(retrymetrics.Throttles, 10, 101)}, "[00:05 OK 00:15 ALARM 00:20 OK]"},
		"one of three": {"throttled", []retrymetrics.Point{point(retrymetrics.Throttles, 0, 100),
			point(retrymetrics.Throttles, 5, 101)}, "[00:05 OK]"},
		"sums over minutes": {"excessive-retries", []retrymetrics.Point{point(retrymetrics.RetryAttempts, 0, 60),
			point(retrymetrics.RetryAttempts, 4, 41)}, "[00:05 ALARM 00:10 OK]"},
		"rate, half": {"high-retry-failure-rate", []retrymetrics.Point{point(retrymetrics.RetrySuccess, 0, 20),
			point(retrymetrics.RetryFailure, 0, 20), point(retrymetrics.RetryFailure, 5, 21)}, "[00:05 OK]"},
		"rate, low for long": {"high-retry-failure-rate", []retrymetrics.Point{point(retrymetrics.RetryFailure, 0, 20),
			point(retrymetrics.RetryFailure, 5, 25)}, "[00:05 OK 00:10 ALARM 00:15 OK]"},
		"rate of a few": {"high-retry-failure-rate", []retrymetrics.Point{point(retrymetrics.RetryFailure, 0, 19),
			point(retrymetrics.RetryFailure, 5, 19)}, "[00:05 OK]"},
		"refused file": {"executions-failed", []retrymetrics.Point{point(retrymetrics.ExecutionsFailed, 0, 1),
			point(retrymetrics.ExecutionsRefused, 0, 1)}, "[00:05 OK]"},
		"refused and failed files": {"executions-failed", []retrymetrics.Point{point(retrymetrics.ExecutionsFailed, 0, 2),
			point(retrymetrics.ExecutionsRefused, 0, 1)}, "[00:05 ALARM 00:10 OK]"},
		"few dead letters":           {"many-dead-letters", rows(9, 0), "[00:05 OK]"},
		"dead letters in a big file": {"many-dead-letters", rows(10_000, 990_000), "[00:05 OK]"},
		"many dead letters":          {"many-dead-letters", rows(11, 989), "[00:05 ALARM 00:10 OK]"},
		"percentile stays": {"slow-retries", []retrymetrics.Point{point(retrymetrics.RetryDelay, 0, 61),
			point(retrymetrics.RetryDelay, 5, 90)}, "[00:05 OK 00:10 ALARM 00:20 OK]"},
	} {
		s := newSet(t, retrymetrics.LevelAll)
		i := slices.IndexFunc(s.Alarms, func(a alarms.Alarm) bool { return a.Name == c.alarm })
		changes, err := s.Evaluate(s.Alarms[i], c.points)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, ch := range changes {
			got = append(got, ch.At.Format("15:04"), string(ch.State))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// An import of many files that failed because of the system pages, and one that failed because of its files does not.
// The alarm of the import does not see either.
func TestAnImportOfManyFilesPages(t *testing.T) {
	t.Parallel()
	s := newSet(t, retrymetrics.LevelError)
	of := func(machine string, failed, refused float64) []retrymetrics.Point {
		points := []retrymetrics.Point{
			point(retrymetrics.ExecutionsFailed, 0, failed), point(retrymetrics.ExecutionsRefused, 0, refused),
		}
		for i := range points {
			points[i].Labels = retrymetrics.Labels{StateMachine: machine}
		}
		return points
	}
	for _, c := range []struct {
		points  []retrymetrics.Point
		tripped string
	}{
		{of(machine+"-files", 1, 0), "[files-executions-failed]"},
		{of(machine+"-files", 1, 1), "[]"},
		{of(machine, 1, 0), "[executions-failed]"},
	} {
		tripped, pages, err := s.Tripped(c.points)
		if err != nil || fmt.Sprint(tripped) != c.tripped || pages != (c.tripped != "[]") {
			t.Errorf("%v trips %v (pages: %v, %v), want %s", c.points, tripped, pages, err, c.tripped)
		}
	}
	for _, c := range s.Composites() {
		in := strings.Contains(c.Rule, `ALARM("csv-import-files-executions-failed")`) &&
			strings.Contains(c.Rule, `ALARM("csv-import-files-executions-timed-out")`)
		if in != (c.Name == "page-executions") {
			t.Errorf("%s: %s", c.Name, c.Rule)
		}
	}
}

// The alarms of a state machine that is not the CSV import do not mention files or rows, and a failed execution fires.
func TestGeneralAlarmsSpeakOfExecutions(t *testing.T) {
	t.Parallel()
	s, err := alarms.New(alarms.Options{StateMachine: machine, General: true})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range s.Alarms {
		names = append(names, a.Name)
		text := strings.ToLower(a.Meaning + a.First)
		for _, word := range []string{"file", "row", "csv", "database", "map", "batch"} {
			if strings.Contains(strings.ReplaceAll(text, "throw", ""), word) {
				t.Errorf("%s speaks of %s: %s %s", a.Name, word, a.Meaning, a.First)
			}
		}
	}
	const want = "[high-retry-failure-rate excessive-retries executions-failed circuit-breaker-open throttled timeouts slow-retries]"
	if fmt.Sprint(names) != want {
		t.Errorf("%v", names)
	}
	tripped, pages, err := s.Tripped([]retrymetrics.Point{point(retrymetrics.ExecutionsFailed, 0, 1),
		point(retrymetrics.ExecutionsRefused, 0, 1)})
	if err != nil || fmt.Sprint(tripped) != "[executions-failed]" || !pages {
		t.Errorf("%v (pages: %v, %v)", tripped, pages, err)
	}
}

// An alarm is in ALARM since the first datapoint that breached, not since the end of its periods.
func TestSinceIsTheFirstBreachingDatapoint(t *testing.T) {
	t.Parallel()
	s := newSet(t, retrymetrics.LevelAll)
	for name, c := range map[string]struct {
		points []retrymetrics.Point
		want   string
	}{
		"excessive-retries": {[]retrymetrics.Point{point(retrymetrics.RetryAttempts, 0, 0), point(retrymetrics.RetryAttempts, 3, 60),
			point(retrymetrics.RetryAttempts, 4, 41)}, "00:03"},
		"throttled": {[]retrymetrics.Point{point(retrymetrics.Throttles, 0, 1), point(retrymetrics.Throttles, 6, 101),
			point(retrymetrics.Throttles, 12, 1), point(retrymetrics.Throttles, 17, 101)}, "00:06"},
		"executions-failed": {[]retrymetrics.Point{point(retrymetrics.ExecutionsFailed, 0, 0), point(retrymetrics.ExecutionsFailed, 2, 1),
			point(retrymetrics.ExecutionsRefused, 2, 0)}, "00:02"},
	} {
		i := slices.IndexFunc(s.Alarms, func(a alarms.Alarm) bool { return a.Name == name })
		changes, err := s.Evaluate(s.Alarms[i], c.points)
		if err != nil {
			t.Fatal(err)
		}
		j := slices.IndexFunc(changes, func(ch alarms.Change) bool { return ch.State == alarms.Alarming })
		if j < 0 || changes[j].Since.Format("15:04") != c.want {
			t.Errorf("%s: %+v, want since %s", name, changes, c.want)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	series := func(m *retrymetrics.Metric, s retrymetrics.Set, values ...string) *retrymetrics.Series {
		in := m.In(s, values...)
		return &in
	}
	ok := alarms.Alarm{
		Name: "a", Series: series(retrymetrics.Throttles, retrymetrics.ByMachine, machine), Period: time.Minute,
		Periods: 1, Breaching: 1,
		Meaning: "m", First: "f",
	}
	if err := ok.Check(machine); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*alarms.Alarm){
		"is not published with {StateMachine, ErrorType}": func(a *alarms.Alarm) { a.Series = series(retrymetrics.Throttles, retrymetrics.ByError, "m", "e") },
		"either a series or a rate":                       func(a *alarms.Alarm) { a.Series = nil },
		"not a whole number of minutes":                   func(a *alarms.Alarm) { a.Period = 90 * time.Second },
		"2 of 1 periods":                                  func(a *alarms.Alarm) { a.Breaching = 2 },
		"its first step":                                  func(a *alarms.Alarm) { a.First = "" },
	} {
		a := ok
		change(&a)
		if err := a.Check(machine); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// CloudFormation creates everything else before it rejects a description that is too long.
func TestTextsThatAreTooLongAreRefused(t *testing.T) {
	t.Parallel()
	guide := "https://example.com/" + strings.Repeat("g", 900)
	for want, o := range map[string]alarms.Options{
		"its description has 10": {StateMachine: "m", Guide: guide},
		"its name has 256 characters, 255 are allowed": {StateMachine: strings.Repeat("m",
			256-len("-high-retry-failure-rate"))},
	} {
		if _, err := alarms.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := alarms.New(alarms.Options{StateMachine: strings.Repeat("m", 80), Guide: guide[:600],
		UndeliveredQueue: "q", MetricsFunction: "f"}); err != nil {
		t.Error(err)
	}
}

func ExampleSet_Composites() {
	s, err := alarms.New(alarms.Options{StateMachine: "csv-import", Level: retrymetrics.LevelError})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range s.Composites() {
		fmt.Println(c.Name, c.Rule)
	}
	// Output:
	// page-callee ALARM("csv-import-circuit-breaker-open")
	// page-rows ALARM("csv-import-many-dead-letters")
	// page-executions ALARM("csv-import-executions-failed")
}

func TestDocsAreCurrent(t *testing.T) {
	t.Parallel()
	const page = "../docs/alarms.md"
	var want bytes.Buffer
	if err := alarms.WriteMarkdown(&want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is out of date (%v): run go generate ./alarms", page, err)
	}
}

func TestTheGuideHasAHeadingForEveryAlarm(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, level := range []retrymetrics.Level{retrymetrics.LevelAll, retrymetrics.LevelError} {
		for _, a := range newSet(t, level).Alarms {
			if !a.Part {
				names = append(names, a.Name)
			}
		}
		for _, c := range newSet(t, level).Composites() {
			names = append(names, c.Name)
		}
	}
	for _, name := range names {
		if !strings.Contains(string(guide), "\n### "+name+"\n") {
			t.Errorf("the alarm %s links a heading that is not there", name)
		}
	}
}
