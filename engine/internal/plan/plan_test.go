package plan_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stepback/asl"
	"stepback/asl/jsonpath"
	"stepback/engine/internal/plan"
	"stepback/jsonvalue"
	"stepback/retry"
)

func compile(t *testing.T, definition string) (*plan.Plan, error) {
	t.Helper()
	m, diagnostics := asl.Parse(definition)
	if m == nil {
		t.Fatalf("refused: %v", diagnostics)
	}
	return plan.Compile(m)
}

func mustCompile(t *testing.T, definition string) *plan.Plan {
	t.Helper()
	p, err := compile(t, definition)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestResourcesAreTakenApart(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]plan.Task{
		"arn:aws:states:::lambda:invoke": {Service: "lambda", Action: "invoke"},
		"arn:aws:states:::states:startExecution.sync:2": {Service: "states",
			Action: "startExecution", Pattern: plan.Sync2},
		"arn:aws:states:::states:startExecution.sync": {Service: "states",
			Action: "startExecution", Pattern: plan.Sync},
		"arn:aws:states:::sqs:sendMessage.waitForTaskToken": {Service: "sqs", Action: "sendMessage",
			Pattern: plan.WaitForTaskToken},
		"arn:aws:states:::aws-sdk:sfn:startSyncExecution": {Service: "aws-sdk:sfn",
			Action: "startSyncExecution"},
		"arn:aws:lambda:eu-west-1:123456789012:function:f": {Target: plan.Function},
		"arn:aws:states:eu-west-1:123456789012:activity:a": {Target: plan.Activity},
		"arn:aws-cn:states:::lambda:invoke.waitForTaskToken": {Service: "lambda", Action: "invoke",
			Pattern: plan.WaitForTaskToken},
		"arn:aws:lambda:eu-west-1:123456789012:function:f:$LATEST.nothing": {Target: plan.Function},
	} {
		got := mustCompile(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"`+resource+
			`","End":true}}}`).Root.Start.Task
		if got.Target != want.Target || got.Service != want.Service || got.Action != want.Action ||
			got.Pattern != want.Pattern {
			t.Errorf("%s: %+v", resource, got)
		}
	}
	got := mustCompile(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::states:startExecution.sync:2","End":true}}}`).Root.Start.Task
	if got.HistoryResource() != "startExecution.sync:2" {
		t.Error(got.HistoryResource())
	}
}

func TestRetriersBecomePolicies(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true,
		"Retry":[{"ErrorEquals":["A"],"IntervalSeconds":2,"MaxAttempts":4,"BackoffRate":1.8,"MaxDelaySeconds":30,"JitterStrategy":"FULL"},{"ErrorEquals":["B"]}]}}}`).Root.Start
	want := []retry.Policy{
		{Interval: 2 * time.Second, Rate: 1.8, MaxDelay: 30 * time.Second, MaxAttempts: 4,
			Jitter: retry.JitterFull},
		{Interval: time.Second, Rate: 2, MaxAttempts: 3, Jitter: retry.JitterNone},
	}
	for i, p := range want {
		if s.Retry[i].Policy != p {
			t.Errorf("retrier %d: %+v, want %+v", i, s.Retry[i].Policy, p)
		}
	}
}

func TestWhichErrorsARetrierHandles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names, name string
		heartbeat   bool
		want        bool
	}{
		{`"A","B"`, "B", false, true},
		{`"A"`, "a", false, false},
		{`"States.ALL"`, "Anything", false, true},
		{`"States.ALL"`, "States.Timeout", false, true},
		{`"States.ALL"`, "States.Runtime", false, false},
		{`"States.Runtime"`, "States.Runtime", false, false},
		{`"States.TaskFailed"`, "Anything", false, true},
		{`"States.TaskFailed"`, "States.Timeout", false, false},
		{`"States.HeartbeatTimeout"`, "States.Timeout", false, false},
		{`"States.HeartbeatTimeout"`, "States.Timeout", true, true},
	} {
		s := mustCompile(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true,"Retry":[{"ErrorEquals":[`+c.names+`]}]}}}`).Root.Start
		if got := s.Retry[0].Matches(c.name, c.heartbeat); got != c.want {
			t.Errorf("[%s] handles %s (heartbeat %v): %v", c.names, c.name, c.heartbeat, got)
		}
	}
}

func TestAnExpressionThatDoesNotParseIsRefusedWithItsField(t *testing.T) {
	t.Parallel()
	_, err := compile(t, `{"QueryLanguage":"JSONata","StartAt":"P","States":{"P":{"Type":"Pass","Output":{"a":"{% 1 + %}"},"End":true}}}`)
	if err == nil || err.Error() != `state "P": the field 'Output/a': Unexpected end of expression` {
		t.Error(err)
	}
}

// input is a Lookup in one value.
type input struct{ value jsonvalue.Value }

func (i input) Lookup(p *jsonpath.Path) (jsonvalue.Value, error) { return p.Select(i.value) }

func rule(t *testing.T, test string) *plan.Rule {
	t.Helper()
	p := mustCompile(t, `{"StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{`+test+
		`,"Next":"E"}]},"E":{"Type":"Succeed"}}}`)
	return &p.Root.Start.Choice.Rules[0]
}

func TestChoiceRules(t *testing.T) {
	t.Parallel()
	in, err := jsonvalue.Parse(`{"s":"b","n":2.0,"t":"2026-01-02T03:04:05Z","b":true,"z":null,"m":"zebra-*x","other":"c","big":"😀","bmp":"\uffff"}`)
	if err != nil {
		t.Fatal(err)
	}
	for test, want := range map[string]bool{
		`"Variable":"$.s","StringEquals":"b"`:                                                   true,
		`"Variable":"$.s","StringLessThanPath":"$.other"`:                                       true,
		`"Variable":"$.n","NumericEquals":2`:                                                    true,
		`"Variable":"$.n","NumericGreaterThanEquals":2.5`:                                       false,
		`"Variable":"$.s","NumericEquals":2`:                                                    false,
		`"Variable":"$.z","StringEquals":"b"`:                                                   false,
		`"Variable":"$.t","TimestampLessThan":"2026-01-02T04:04:06+01:00"`:                      true,
		`"Variable":"$.b","BooleanEquals":true`:                                                 true,
		`"Variable":"$.z","IsNull":true`:                                                        true,
		`"Variable":"$.z","IsPresent":true`:                                                     true,
		`"Variable":"$.none","IsPresent":false`:                                                 true,
		`"Variable":"$.t","IsTimestamp":true`:                                                   true,
		`"Variable":"$.s","IsTimestamp":false`:                                                  true,
		`"Variable":"$.m","StringMatches":"z*-\\*x"`:                                            true,
		`"Variable":"$.m","StringMatches":"z*-y*"`:                                              false,
		`"Not":{"Variable":"$.s","StringEquals":"b"}`:                                           false,
		`"And":[{"Variable":"$.b","BooleanEquals":true},{"Variable":"$.s","StringEquals":"x"}]`: false,
		`"Or":[{"Variable":"$.b","BooleanEquals":false},{"Variable":"$.s","StringEquals":"b"}]`: true,
		`"Variable":"$.big","StringLessThanPath":"$.bmp"`:                                       true,
		// by UTF-16 code units, as Java compares
	} {
		r := rule(t, test)
		got, err := r.Matches(input{in})
		if err != nil || got != want {
			t.Errorf("%s = %v, %v; want %v", test, got, err, want)
		}
	}
	r := rule(t, `"Variable":"$.none","StringEquals":"x"`)
	var missing *jsonpath.NotFoundError
	if _, err := r.Matches(input{in}); !errors.As(err, &missing) {
		t.Errorf("a missing Variable: %v", err)
	}
}

func TestStringMatchesAgreesWithASlowMatcher(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{0,8}`).Draw(rt, "pattern")
		text := rapid.StringMatching(`[ab]{0,10}`).Draw(rt, "text")
		r := rule(t, `"Variable":"$.v","StringMatches":"`+pattern+`"`)
		b := jsonvalue.NewObject(1)
		b.Set("v", jsonvalue.OfString(text))
		got, err := r.Matches(input{b.Value()})
		if want := slow(pattern, text); err != nil || got != want {
			rt.Fatalf("%q against %q: %v, %v; want %v", pattern, text, got, err, want)
		}
	})
}

// slow matches by definition: a star matches any prefix of the rest.
func slow(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	if pattern[0] == '*' {
		for i := 0; i <= len(text); i++ {
			if slow(pattern[1:], text[i:]) {
				return true
			}
		}
		return false
	}
	return strings.HasPrefix(text, pattern[:1]) && slow(pattern[1:], text[1:])
}

func TestTimestamps(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"2026-01-02T03:04:05Z": true, "2026-01-02T03:04:05.123456789+09:00": true, "2026-01-02T03:04Z": true,
		"2026-01-02 03:04:05Z": false, "2026-01-02t03:04:05z": false, "2026-01-02T03:04:05": false, "": false,
		"2026-13-02T03:04:05Z":            false,
		"2026-01-02T03:04:05.1234567890Z": false, "2026-01-02T03:04:05,5Z": false, "2026-01-02T03:04:05+18:00": true,
		"2026-01-02T03:04:05-18:01": false, "2026-01-02T24:00:00Z": false, "2026-01-02T03:04:60Z": false,
	} {
		if _, ok := plan.ParseTimestamp(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}
