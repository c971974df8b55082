package review_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/asl"
	"stepback/retrypatterns/review"
)

const (
	function = `"Resource": "arn:aws:states:::lambda:invoke"`
	queue    = `"Resource": "arn:aws:states:::aws-sdk:mailmanager:listAddressLists"` // a service without special rules
	// faults is a retrier about which no rule reports anything.
	faults = `{"ErrorEquals": ["Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
		"Lambda.ClientExecutionTimeoutException", "Lambda.TooManyRequestsException"], "MaxAttempts": 6, "JitterStrategy": "FULL"}`
)

// task returns a Task with members, and inMap the same inside a Map that has its own members.
func task(members string) string { return `{"Type": "Task", "End": true, ` + members + `}` }

func inMap(members, state string) string {
	return `{"Type": "Map", "End": true, ` + members + `"ItemProcessor": {"StartAt": "Y", "States": {"Y": ` + state +
		`}}}`
}

func machine(members, state string) string {
	return `{"StartAt": "X", ` + members + `"States": {"X": ` + state + `}}`
}

// opinion reviews a definition, which must be valid.
func opinion(t *testing.T, definition string, express bool) review.Report {
	t.Helper()
	m, found := asl.Parse(definition)
	if m == nil {
		t.Fatalf("not valid: %v", found)
	}
	return review.Definition(definition, m, review.Options{Express: express})
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		definition string
		express    bool
		want       []string
	}{
		"nothing to say":  {machine("", task(function+`, "Retry": [`+faults+`]`)), false, nil},
		"no retry needed": {machine("", task(queue)), false, nil},
		"lambda, no retry": {machine("", task(function)), false,
			[]string{"LAMBDA_FAULTS_NOT_RETRIED /States/X/Retry"}},
		"never by decision": {machine("", task(queue+`, "Retry": [{"ErrorEquals": ["Refused"], "MaxAttempts": 0}]`)),
			false, nil},
		"taken before": {machine("", task(queue+
			`, "Retry": [{"ErrorEquals": ["A"], "JitterStrategy": "FULL"}, {"ErrorEquals": ["A"]}]`)), false,
			[]string{"RETRIER_NEVER_MATCHES /States/X/Retry[1]/ErrorEquals[0]"}},
		"TaskFailed leaves timeouts": {machine("", task(queue+`, "TimeoutSeconds": 5, "Retry": [
			{"ErrorEquals": ["No"], "MaxAttempts": 0}, {"ErrorEquals": ["States.TaskFailed"], "JitterStrategy": "FULL"},
			{"ErrorEquals": ["States.Timeout"], "JitterStrategy": "FULL"}]`)), false, nil},
		"no timeout to retry": {machine("",
			task(queue+`, "Retry": [{"ErrorEquals": ["States.Timeout", "B"], "JitterStrategy": "FULL"}]`)), false,
			[]string{"RETRIER_NEVER_MATCHES /States/X/Retry[0]/ErrorEquals[0]"}},
		"everything": {machine("", task(queue+`, "Retry": [{"ErrorEquals": ["States.ALL"]}]`)), false,
			[]string{"NO_JITTER /States/X/Retry[0]/JitterStrategy",
				"EVERY_ERROR_RETRIED /States/X/Retry[0]/ErrorEquals[0]"}},
		"permanent": {machine("", task(queue+
			`, "Retry": [{"ErrorEquals": ["States.Permissions"], "JitterStrategy": "FULL"}]`)), false,
			[]string{"PERMANENT_ERROR_RETRIED /States/X/Retry[0]/ErrorEquals[0]"}},
		"fixed and endless": {machine("", task(queue+`, "Retry": [
			{"ErrorEquals": ["A"], "JitterStrategy": "FULL", "BackoffRate": 1, "MaxAttempts": 99999999}]`)), false,
			[]string{"FIXED_INTERVAL /States/X/Retry[0]/BackoffRate",
				"TOO_MANY_RETRIES /States/X/Retry[0]/MaxAttempts"}},
		"beyond the hour": {machine("", task(queue+
			`, "Retry": [{"ErrorEquals": ["A"], "JitterStrategy": "FULL", "MaxAttempts": 13}]`)), false,
			[]string{"NO_MAX_DELAY /States/X/Retry[0]/MaxDelaySeconds"}},
		"beyond the execution": {machine(`"TimeoutSeconds": 7, `,
			task(queue+`, "Retry": [{"ErrorEquals": ["A"], "JitterStrategy": "FULL"}]`)), false,
			[]string{"RETRIES_OUTLAST_EXECUTION /States/X/Retry[0]/MaxAttempts"}},
		"beyond five minutes": {machine("",
			task(queue+`, "Retry": [{"ErrorEquals": ["A"], "JitterStrategy": "FULL", "MaxAttempts": 9}]`)), true,
			[]string{"RETRIES_OUTLAST_EXECUTION /States/X/Retry[0]/MaxAttempts"}},
		"on two levels": {machine("", inMap(`"Retry": [{"ErrorEquals": ["A"], "JitterStrategy": "FULL"}], `,
			task(queue+`, "Retry": [{"ErrorEquals": ["A"], "JitterStrategy": "FULL"}]`))), false,
			[]string{"MAP_RETRIED_WHOLE /States/X/Retry[0]",
				"EXHAUSTED_NOT_CAUGHT /States/X/ItemProcessor/States/Y/Catch",
				"RETRIES_MULTIPLY /States/X/ItemProcessor/States/Y/Retry"}},
		"no answer": {machine("", task(`"Resource": "arn:aws:states:::aws-sdk:mailmanager:listAddressLists.waitForTaskToken"`)), false,
			[]string{"NO_TIMEOUT /States/X/TimeoutSeconds"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			report := opinion(t, c.definition, c.express)
			for _, d := range report.Findings {
				got = append(got, fmt.Sprintf("%s %s", d.Code, d.Location))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	got := opinion(t, machine("", inMap(`"Retry": [{"ErrorEquals": ["A"], "MaxAttempts": 2}], `,
		task(queue+`, "TimeoutSeconds": 10, "Retry": [{"ErrorEquals": ["A"], "JitterStrategy": "FULL"}, {"ErrorEquals": ["B"], "MaxAttempts": 1}]`))), false).States
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	inner := got[1]
	if inner.Retries != 4 || inner.Attempts != 15 || inner.Wait.Min != time.Second || inner.Wait.Max != 8*time.Second {
		t.Errorf("%+v", inner)
	}
	if inner.Attempt != 10*time.Second || inner.Longest != 58*time.Second || got[0].Longest != 0 {
		t.Errorf("%+v", got)
	}
}

func TestHugeNumbersStayAtTheLargest(t *testing.T) {
	t.Parallel()
	most := `"Retry": [{"ErrorEquals": ["A"], "MaxAttempts": 99999999, "IntervalSeconds": 99999999}], `
	innermost := strings.ReplaceAll(inMap(most, task(`"TimeoutSeconds": 99999999, `+most+queue)), `"Y"`, `"Z"`)
	got := opinion(t, machine("", inMap(most, innermost)), false).States
	if last := got[2]; last.Attempts != 1<<63-1 || last.Longest != 1<<63-1 || last.Wait.Max != 1<<63-1 {
		t.Errorf("%+v", last)
	}
}

func ExampleDefinition() {
	const definition = `{"StartAt": "Pay", "States": {
  "Pay": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:pay", "End": true, "TimeoutSeconds": 60,
    "Retry": [{"ErrorEquals": ["Declined"], "BackoffRate": 1, "MaxAttempts": 4, "JitterStrategy": "FULL"}]}}}`
	m, _ := asl.Parse(definition)
	report := review.Definition(definition, m, review.Options{})
	fmt.Print(asl.Render(report.Advice(), definition, "pay.asl.json"))
	// Output:
	// pay.asl.json:3:60: warning FIXED_INTERVAL: 4 retries at a fixed interval of 1s do not back off (at /States/Pay/Retry[0]/BackoffRate)
	//   3 |     "Retry": [{"ErrorEquals": ["Declined"], "BackoffRate": 1, "MaxAttempts": 4, "JitterStrategy": "FULL"}]}}}
	//     |                                                            ^
	//     = a BackoffRate of 2 gives the callee time to recover
}
