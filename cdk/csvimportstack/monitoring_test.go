package csvimportstack_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stepback/cdk/environment"
	"stepback/retrymetrics"
	"stepback/statemachine"
)

// onlyFailures returns prod with log level ERROR, and with a task for each row, for which that level is.
func onlyFailures() environment.Environment {
	e := environment.Prod()
	e.LogLevel, e.Adapt = "ERROR", environment.AdaptOff
	e.Shape, e.BatchSize = statemachine.Batch, 100
	return e
}

// synthesized returns the templates for both log levels: prod logs everything, the other environment only failures.
func synthesized(t *testing.T) map[retrymetrics.Level]template {
	t.Helper()
	return map[retrymetrics.Level]template{
		retrymetrics.LevelAll: synth(t, environment.Prod()), retrymetrics.LevelError: synth(t, onlyFailures()),
	}
}

// watched is one metric that an alarm or a widget requests from CloudWatch.
type watched struct {
	Namespace, MetricName, Unit string
	Dimensions                  []struct {
		Name  retrymetrics.Dimension
		Value any // a string, or a reference
	}
}

// check looks the metric up in the catalogue, as CloudWatch would.
func (w watched) check(level retrymetrics.Level) error {
	values := map[retrymetrics.Dimension]string{}
	for _, d := range w.Dimensions {
		values[d.Name] = fmt.Sprint(d.Value)
	}
	s, err := retrymetrics.SeriesOf(w.MetricName, values)
	switch {
	case err != nil:
		return err
	case w.Namespace != s.Metric.Namespace() || w.Unit != "" && w.Unit != string(s.Metric.Unit()):
		return fmt.Errorf("%s is published in %s as %s, not in %s as %s", w.MetricName, s.Metric.Namespace(),
			s.Metric.Unit(), w.Namespace, w.Unit)
	case !s.Metric.At(level):
		return fmt.Errorf("%s is not counted at log level %s", w.MetricName, level)
	}
	return nil
}

func TestEveryAlarmWatchesADeclaredMetric(t *testing.T) {
	for level, x := range synthesized(t) {
		all := x.ofType("AWS::CloudWatch::Alarm")
		if len(all) < 6 {
			t.Errorf("%s: %d alarms", level, len(all))
		}
		for id, r := range all {
			var a struct {
				watched
				Metrics []struct {
					Expression string
					MetricStat struct {
						Metric watched
						Unit   string
					}
				}
			}
			if err := json.Unmarshal([]byte(compact(t, r.Properties)), &a); err != nil {
				t.Fatal(err)
			}
			of := []watched{a.watched}
			if a.MetricName == "" {
				of = nil
			}
			for _, q := range a.Metrics {
				if q.Expression == "" {
					q.MetricStat.Metric.Unit = q.MetricStat.Unit
					of = append(of, q.MetricStat.Metric)
				}
			}
			for _, w := range of {
				if err := w.check(level); err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}
			if len(of) == 0 || !strings.Contains(text(t, r.Properties["AlarmDescription"]), " First: ") {
				t.Errorf("%s watches nothing, or does not say what to do first", id)
			}
		}
	}
}

// TestEachKindOfTroublePages: each alarm is part of one composite, which pages or sends a message, or sends its own.
func TestEachKindOfTroublePages(t *testing.T) {
	for level, x := range synthesized(t) {
		rules, pages := "", 0
		for id, c := range x.ofType("AWS::CloudWatch::CompositeAlarm") {
			topic := `[{"Ref":"Pages`
			if strings.HasSuffix(c.Properties["AlarmName"].(string), "-budget-drained") {
				topic = `[{"Ref":"Notices`
			} else {
				pages++
			}
			if got := compact(t, c.Properties["AlarmActions"]); !strings.HasPrefix(got, topic) || c.Properties["OKActions"] != nil {
				t.Errorf("%s: %s sends to %s", level, id, got)
			}
			rule := c.Properties["AlarmRule"].(string)
			rules += rule
			for _, named := range regexp.MustCompile(`(?:ALARM|INSUFFICIENT_DATA)\("([^"]+)"\)`).FindAllStringSubmatch(rule, -1) {
				declared := ""
				for alarm, r := range x.ofType("AWS::CloudWatch::Alarm") {
					if r.Properties["AlarmName"] == named[1] {
						declared = alarm
					}
				}
				if declared == "" || !slices.Contains(c.DependsOn, declared) {
					t.Errorf("%s names %s, which is not declared, or may be made later", id, named[1])
				}
			}
		}
		if want := map[retrymetrics.Level]int{retrymetrics.LevelAll: 5, retrymetrics.LevelError: 4}[level]; pages != want {
			t.Errorf("%s: %d composites page, want %d", level, pages, want)
		}
		for id, r := range x.ofType("AWS::CloudWatch::Alarm") {
			name := r.Properties["AlarmName"].(string)
			part := strings.Count(rules, fmt.Sprintf("ALARM(%q)", name))
			both := strings.HasSuffix(name, "-executions-ended-badly") || strings.HasSuffix(name, "-metrics-silent")
			tells := strings.HasPrefix(compact(t, r.Properties["AlarmActions"]), `[{"Ref":"Notices`)
			if part > 1 || (part == 1) == tells && !both || r.Properties["OKActions"] != nil {
				t.Errorf("%s reaches nobody, or twice, or reports that it is new", id)
			}
		}
		for _, id := range []string{"Pages", "Notices"} {
			policy := compact(t, x.only(t, "AWS::SNS::TopicPolicy", id).Properties["PolicyDocument"])
			for _, part := range []string{
				`"Action":"sns:Publish","Condition":{"StringEquals":{"aws:SourceAccount":{"Ref":"AWS::AccountId"}}},"Effect":"Allow","Principal":{"Service":"cloudwatch.amazonaws.com"}`,
				`"Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny"`,
			} {
				if !strings.Contains(policy, part) {
					t.Errorf("the topic's policy %s lacks %s", policy, part)
				}
			}
		}
	}
}

// text returns a property with its references replaced by their names.
func text(t *testing.T, v any) string {
	t.Helper()
	if s, ok := v.(string); ok {
		return s
	}
	object := v.(map[string]any)
	if ref, ok := object["Ref"].(string); ok {
		return ref
	}
	var b strings.Builder
	for _, part := range object["Fn::Join"].([]any)[1].([]any) {
		b.WriteString(text(t, part))
	}
	return b.String()
}

type widget struct {
	Type       string
	Properties struct {
		Title, Region string
		Alarms        []string
		Metrics       [][]any
	}
}

func dashboard(t *testing.T, x template) []widget {
	t.Helper()
	var body struct{ Widgets []widget }
	if err := json.Unmarshal([]byte(text(t, x.only(t, "AWS::CloudWatch::Dashboard", "Dashboard").Properties["DashboardBody"])),
		&body); err != nil {
		t.Fatal(err)
	}
	return body.Widgets
}

var searched = regexp.MustCompile(`^SEARCH\('\{([^}]*)\} MetricName="(\w+)" StateMachine="csv-import-\w+(?:-files)?"', '\w+', 60\)$`)

func TestEveryWidgetShowsADeclaredMetric(t *testing.T) {
	for level, x := range synthesized(t) {
		shown := 0
		for _, w := range dashboard(t, x) {
			for _, row := range w.Properties.Metrics {
				if err := checkRow(row, level); err != nil {
					t.Errorf("%s, %s: %v", level, w.Properties.Title, err)
				}
				shown++
			}
			if w.Type == "metric" && (w.Properties.Region != "AWS::Region" || len(w.Properties.Metrics) == 0) {
				t.Errorf("%s: %+v", level, w)
			}
		}
		if shown < 15 {
			t.Errorf("%s: the dashboard shows %d metrics", level, shown)
		}
	}
}

// checkRow checks a row of a widget. Expressions over ids are skipped, because they refer to the other rows.
func checkRow(row []any, level retrymetrics.Level) error {
	options := row[len(row)-1].(map[string]any)
	if expression, ok := options["expression"].(string); ok {
		found := searched.FindStringSubmatch(expression)
		if found == nil {
			return nil
		}
		w := watched{MetricName: found[2]}
		names := strings.Split(found[1], ",")
		w.Namespace = names[0]
		for _, d := range names[1:] {
			w.Dimensions = append(w.Dimensions, struct {
				Name  retrymetrics.Dimension
				Value any
			}{retrymetrics.Dimension(d), "any"})
		}
		return w.check(level)
	}
	w := watched{Namespace: row[0].(string), MetricName: row[1].(string)}
	for i := 2; i+1 < len(row)-1; i += 2 {
		w.Dimensions = append(w.Dimensions, struct {
			Name  retrymetrics.Dimension
			Value any
		}{retrymetrics.Dimension(row[i].(string)), row[i+1].(string)})
	}
	return w.check(level)
}

func TestTheDashboardShowsEveryAlarm(t *testing.T) {
	for level, x := range synthesized(t) {
		var shown []string
		for _, w := range dashboard(t, x) {
			for _, arn := range w.Properties.Alarms {
				shown = append(shown, strings.TrimPrefix(arn,
					"arn:AWS::Partition:cloudwatch:AWS::Region:AWS::AccountId:alarm:"))
			}
		}
		var declared []string
		for _, kind := range []string{"AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"} {
			for _, r := range x.ofType(kind) {
				declared = append(declared, r.Properties["AlarmName"].(string))
			}
		}
		slices.Sort(shown)
		slices.Sort(declared)
		if !slices.Equal(shown, declared) {
			t.Errorf("%s: the dashboard shows %q of %q", level, shown, declared)
		}
		output := x.Outputs["DashboardUrl"].(map[string]any)["Value"]
		if got := text(t, output); !strings.HasPrefix(got,
			"https://AWS::Region.console.aws.amazon.com/cloudwatch/home?region=AWS::Region#dashboards/dashboard/CSV-Processing-Retry-Monitor-") {
			t.Errorf("%s: address %s", level, got)
		}
	}
}

func TestMetricsAreCountedFromTheLog(t *testing.T) {
	const named = `{"Variables":{"BREAKER_TABLE":{"Ref":"CircuitBreakers`
	const only = `"CHILD_STATE":"ProcessSingleUserRecord","LOG_LEVEL":"ERROR","STATE_MACHINE_ARN":{"Ref":"StateMachine`
	if got := compact(t, synth(t, onlyFailures()).only(t, "AWS::Lambda::Function",
		"Metrics").Properties["Environment"]); !strings.HasPrefix(got, named) || !strings.Contains(got, only) {
		t.Errorf("environment %s", got)
	}
	x := synth(t, environment.Prod())
	f := x.only(t, "AWS::Lambda::Function", "Metrics").Properties
	// In bulk, child executions have two Task states, and neither may be taken for the other.
	const variables = `"LOG_LEVEL":"ALL","STATE_MACHINE_ARN":{"Ref":"StateMachine`
	if got := compact(t, f["Environment"]); !strings.HasPrefix(got, named) || !strings.Contains(got, variables) ||
		strings.Contains(got, "CHILD_STATE") ||
		f["ReservedConcurrentExecutions"] != 1.0 {
		t.Errorf("environment %s, %v instances", got, f["ReservedConcurrentExecutions"])
	}
	schedule := x.only(t, "AWS::Events::Rule", "ConfigurationSchedule").Properties
	if schedule["ScheduleExpression"] != "rate(5 minutes)" || !strings.Contains(compact(t, schedule["Targets"]),
		`{"Fn::GetAtt":["Metrics`) {
		t.Errorf("the configuration is published at %s", compact(t, schedule))
	}
	circuit := x.only(t, "AWS::Events::Rule", "CircuitSchedule").Properties
	if targets := compact(t, circuit["Targets"]); circuit["ScheduleExpression"] != "rate(1 minute)" ||
		!strings.Contains(targets, `{"Fn::GetAtt":["Metrics`) ||
		!strings.Contains(targets, `"Input":"{\"publish\":\"circuit-breaker\"}"`) {
		t.Errorf("the circuit is published at %s", compact(t, circuit))
	}
	policy := compact(t, x.only(t, "AWS::IAM::Policy", "MetricsRole").Properties)
	const access = `{"Action":"dynamodb:GetItem","Effect":"Allow","Resource":{"Fn::GetAtt":["CircuitBreakers`
	if !strings.Contains(policy, access) || strings.Contains(policy, "UpdateItem") {
		t.Errorf("the function has %s", policy)
	}
	if n := len(x.ofType("AWS::Logs::SubscriptionFilter")); n != 2 {
		t.Errorf("%d logs are sent to the function metrics, want those of the two state machines", n)
	}
	for _, log := range []string{"StateMachineLog", "FilesStateMachineLog"} {
		subscription := x.only(t, "AWS::Logs::SubscriptionFilter", log+"Subscription")
		if group := compact(t, subscription.Properties["LogGroupName"]); !strings.HasPrefix(group, `{"Ref":"`+log) ||
			subscription.Properties["FilterPattern"] != "" {
			t.Errorf("subscribed to %s", compact(t, subscription.Properties))
		}
		if to := compact(t, subscription.Properties["DestinationArn"]); !strings.HasPrefix(to, `{"Fn::GetAtt":["Metrics`) {
			t.Errorf("the subscription goes to %s", to)
		}
		permission := compact(t, x.only(t, "AWS::Lambda::Permission", log+"MayInvoke").Properties)
		if !strings.Contains(permission, `"Principal":"logs.amazonaws.com"`) || !strings.Contains(permission,
			`"SourceArn":{"Fn::GetAtt":["`+log) {
			t.Errorf("permission %s", permission)
		}
	}
	// AggregateResults publishes the rows by outcome under the state machine's name.
	if got := compact(t, x.only(t, "AWS::Lambda::Function",
		"Aggregate").Properties["Environment"]); !strings.Contains(got, `"STATE_MACHINE":"csv-import-prod"`) {
		t.Errorf("AggregateResults has %s", got)
	}
}

func TestAnInvocationForEachRowIsNotLogged(t *testing.T) {
	for level, x := range synthesized(t) {
		p := x.only(t, "AWS::Lambda::Function", "Process").Properties
		lambdas := strings.Contains(compact(t, p["LoggingConfig"]), `"SystemLogLevel":"WARN"`)
		own := strings.Contains(compact(t, p["Environment"]), `"LOG_LEVEL":"WARN"`)
		if quiet := level == retrymetrics.LevelError; lambdas != quiet || own != quiet {
			t.Errorf("%s: %s", level, compact(t, p))
		}
	}
}

func TestTheAlarmsLinkTheGuide(t *testing.T) {
	e := environment.Dev()
	e.Guide = "https://example.com/operating"
	for id, r := range synth(t, e).ofType("AWS::CloudWatch::Alarm") {
		name := strings.TrimPrefix(r.Properties["AlarmName"].(string), "csv-import-dev-")
		if strings.HasPrefix(name, "budget-") { // part of a composite, and explained there
			name = map[bool]string{true: "budget-drained", false: "page-objective"}[strings.HasPrefix(name, "budget-drain-")]
		}
		if text := r.Properties["AlarmDescription"].(string); !strings.HasSuffix(text,
			"Guide: https://example.com/operating#"+name) {
			t.Errorf("%s: %s", id, text)
		}
	}
}

// TestRecoveriesAreReported: a notice says that an alarm is OK again, and only if it was in ALARM.
func TestRecoveriesAreReported(t *testing.T) {
	rule := synth(t, environment.Prod()).only(t, "AWS::Events::Rule", "Recovered").Properties
	pattern := compact(t, rule["EventPattern"])
	for _, want := range []string{`"previousState":{"value":["ALARM"]}`, `"state":{"value":["OK"]}`, `"csv-import-prod-throttled"`,
		`"csv-import-prod-page-callee"`, `"csv-import-prod-page-events"`, `"csv-import-prod-page-objective"`} {
		if !strings.Contains(pattern, want) {
			t.Errorf("the rule matches %s, which lacks %s", pattern, want)
		}
	}
	if strings.Contains(pattern, "dead-letters") || strings.Contains(pattern, "page-executions") ||
		strings.Contains(pattern, "page-rows") || len(pattern) > 2048 {
		t.Errorf("the rule reports events, or has %d characters: %s", len(pattern), pattern)
	}
}
