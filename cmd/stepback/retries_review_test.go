package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

func TestRetriesReview(t *testing.T) {
	t.Parallel()
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fixed := file("fixed.asl.json", `{"StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:pay",
  "TimeoutSeconds": 10, "Retry": [{"ErrorEquals": ["Busy"], "BackoffRate": 1}], "End": true}}}`)
	plain := file("plain.asl.json", `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`)
	wrong := file("wrong.asl.json", `{"StartAt": "B", "States": {"A": {"Type": "Succeed"}}}`)

	stepback(t, "retries", "review", fixed, plain).ends(t, 0, "fixed.asl.json:2:76: warning FIXED_INTERVAL",
		"NO_JITTER",
		"fixed.asl.json: 2 warnings", "/States/Pay", "43s", "plain.asl.json: nothing found")
	stepback(t, "retries", "review", "--strict", plain).ends(t, 0)
	stepback(t, "retries", "review", "--strict", fixed).ends(t, exit.Data)
	stepback(t, "retries", "review", plain, wrong).ends(t, exit.Data, "wrong.asl.json: not valid, not reviewed")

	s := stepback(t, "retries", "review", "--json", fixed)
	s.ends(t, 0, `"code": "FIXED_INTERVAL"`, `"longestWaitSeconds": 3`)
	var all []struct{ States []struct{ Retries int } }
	if err := json.Unmarshal([]byte(s.out), &all); err != nil || len(all) != 1 || all[0].States[0].Retries != 3 {
		t.Errorf("%v: %s", err, s.out)
	}

	stepback(t, "retries", "review", "--fail-on", "warning", fixed).ends(t, exit.Data)
	stepback(t, "retries", "review", "--explain", "no_jitter").ends(t, 0, "NO_JITTER (warning)", "JitterStrategy FULL")
	stepback(t, "retries", "review", "--explain", "all").ends(t, 0, "METASTABLE_ABOVE", "CATCH_LOOP_RETRIES_FOREVER")
	stepback(t, "retries", "review", "--explain", "NO_SUCH").complains(t, exit.Usage, "there is no rule NO_SUCH")
	stepback(t, "retries", "review").complains(t, exit.Usage, "name the definitions")
	stepback(t, "retries", "review", "--rate", "20", fixed).complains(t, exit.Usage, "--rate needs --capacity")
	stepback(t, "retries", "review", "--rate", "20", "--capacity", "25", fixed).ends(t, 0, "METASTABLE_ABOVE",
		"Safe up to 6.25 a second, 25 % of the capacity")
	stepback(t, "retries", "review", "--sarif", fixed).ends(t, 0, `"version": "2.1.0"`, `"ruleId": "FIXED_INTERVAL"`,
		`"startLine": 2`, `"level": "warning"`)
	before := codeQuality(t, fixed)
	if f := before["FIXED_INTERVAL"]; f.Severity != "major" || f.Location.Path != filepath.ToSlash(fixed) || f.Location.Lines.Begin != 2 ||
		len(f.Fingerprint) != 64 || f.Description == "" {
		t.Errorf("the finding is %+v", f)
	}
	text, err := os.ReadFile(fixed)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fixed, []byte("\n\n"+string(text)), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := codeQuality(t, fixed)["FIXED_INTERVAL"]; f.Location.Lines.Begin != 4 || f.Fingerprint != before["FIXED_INTERVAL"].Fingerprint {
		t.Errorf("two lines below, the finding is %+v, before %+v", f, before["FIXED_INTERVAL"])
	}
	if err := os.WriteFile(fixed, text, 0o600); err != nil {
		t.Fatal(err)
	}
	stepback(t, "retries", "review", "--code-quality", wrong).ends(t, exit.Data, `"severity": "critical"`)
	stepback(t, "retries", "review", "--code-quality", filepath.Join(t.TempDir(), "none.asl.json")).ends(t, exit.Usage,
		`"check_name": "NOT_READ"`)
	stepback(t, "retries", "review", "--fix", fixed).ends(t, 0, "fixed.asl.json: fixed: 2, left: nothing found")
	text, err = os.ReadFile(fixed)
	if err != nil || !strings.Contains(string(text),
		`{"IntervalSeconds": 2, "JitterStrategy": "FULL", "ErrorEquals": ["Busy"], "BackoffRate": 2}`) {
		t.Errorf("%v: %s", err, text)
	}
}

// qualityFinding is an entry of GitLab's Code Quality report.
type qualityFinding struct {
	Description, Fingerprint, Severity string

	Check    string `json:"check_name"`
	Location struct {
		Path  string
		Lines struct{ Begin int }
	}
}

// codeQuality returns the findings of a file by their codes.
func codeQuality(t *testing.T, path string) map[string]qualityFinding {
	t.Helper()
	var all []qualityFinding
	if s := stepback(t, "retries", "review", "--code-quality", path); json.Unmarshal([]byte(s.out), &all) != nil {
		t.Fatalf("%s%s", s.out, s.err)
	}
	found := map[string]qualityFinding{}
	for _, f := range all {
		found[f.Check] = f
	}
	return found
}

// TestFixInTemplates applies --fix to the files in which definitions are written: all findings are gone, and nothing
// else of the file has changed.
func TestFixInTemplates(t *testing.T) {
	t.Parallel()
	const retrier = `{"ErrorEquals": ["Busy"], "IntervalSeconds": 5, "MaxAttempts": 5}`
	const faults = `{"ErrorEquals": ["Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
        "Lambda.ClientExecutionTimeoutException", "Lambda.TooManyRequestsException"], "MaxAttempts": 6, "JitterStrategy": "FULL"}`
	const inJSON = `{"StartAt": "Pay", "States": {"Pay": {"Type": "Task", "Resource": "${Fn.Arn}", "End": true, "Retry": [` + faults + `,` + retrier + `]}}}`
	const header = "Resources:\n  M:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n      # kept\n"
	inYAML := header + `      Definition:
        StartAt: Pay
        States:
          Pay:
            Type: Task
            Resource: !GetAtt Fn.Arn
            End: true
            Retry:
              - ErrorEquals: [Lambda.ServiceException, Lambda.AWSLambdaException, Lambda.SdkClientException,
	Lambda.ClientExecutionTimeoutException, Lambda.TooManyRequestsException]
                MaxAttempts: 6
                JitterStrategy: FULL
              - ErrorEquals: [Busy] # the till
                IntervalSeconds: 5
                MaxAttempts: 5
`
	block := strings.ReplaceAll(header, "Serverless", "StepFunctions") + "      DefinitionString: !Sub |\n        " + strings.ReplaceAll(inJSON, "\n", "\n        ") + "\n"
	escaped, _ := json.Marshal(inJSON)
	for name, c := range map[string]struct{ text, old, new string }{
		"m.asl.json":    {inJSON, retrier, `{"JitterStrategy": "FULL", ` + retrier[1:]},
		"template.yaml": {inYAML, "- ErrorEquals: [Busy] # the till", "- JitterStrategy: FULL\n                ErrorEquals: [Busy] # the till"},
		"template.yml":  {block, retrier, `{"JitterStrategy": "FULL", ` + retrier[1:]},
		"template.json": {`{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"DefinitionString": ` + string(escaped) + `}}}}`,
			`{\"ErrorEquals\": [\"Busy\"]`, `{\"JitterStrategy\": \"FULL\", \"ErrorEquals\": [\"Busy\"]`},
		"object.template.json": {`{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"Definition": ` +
			strings.Replace(inJSON, `"${Fn.Arn}"`, `{"Fn::GetAtt": ["Fn", "Arn"]}`, 1) + `}}}}`, retrier, `{"JitterStrategy": "FULL", ` + retrier[1:]},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		stepback(t, "retries", "review", "--fix", path).ends(t, 0, "fixed: 1, left: nothing found")
		got, err := os.ReadFile(path)
		if want := strings.Replace(c.text, c.old, c.new, 1); err != nil || string(got) != want || want == c.text {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	path := filepath.Join(t.TempDir(), "given.asl.json")
	text := strings.Replace(inJSON, `"MaxAttempts": 5`, `"MaxAttempts": 5, "BackoffRate": ${Rate}, "JitterStrategy": "FULL"`, 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := stepback(t, "retries", "review", "--fix", "--substitute", "Rate=1", path)
	s.ends(t, exit.Usage, "FIXED_INTERVAL")
	if !strings.Contains(s.err, "the value comes from a placeholder or a function of the template; fix this by hand") {
		t.Errorf("standard error: %s", s.err)
	}
}

// TestReviewGroups checks that findings with one cause are one finding with all its places.
func TestReviewGroups(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.asl.json")
	if err := os.WriteFile(path, []byte(`{"StartAt": "A", "States": {
  "A": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:getItem", "Parameters": {"TableName": "t", "Key": {"k": {"S": "a"}}}, "Next": "B"},
  "B": {"Type": "Task", "Resource": "arn:aws:states:::dynamodb:putItem", "Parameters": {"TableName": "t", "Item": {"k": {"S": "a"}}}, "Next": "C"},
  "C": {"Type": "Task", "Resource": "${Fn}", "End": true, "Retry": [{"ErrorEquals": ["States.TaskFailedId"]}]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := stepback(t, "retries", "review", path)
	s.ends(t, 0, "SERVICE_FAULTS_NOT_RETRIED: no retrier takes an error of DynamoDB", "+ also 3:8 at /States/B/Retry",
		"LAMBDA_FAULTS_NOT_RETRIED", "UNKNOWN_ERROR_NAME", "2 warnings, 1 advice in 4 places")
	if strings.Contains(s.out, "NO_JITTER") || strings.Contains(s.out, "RETRIER_NEVER_MATCHES") {
		t.Errorf("a retrier of an error that never comes is reviewed:\n%s", s.out)
	}
	stepback(t, "retries", "review", "--json", path).ends(t, 0, `"also": [`, `"location": "/States/B/Retry"`)
	stepback(t, "retries", "review", "--sarif", path).ends(t, 0, `"startLine": 3`)
	stepback(t, "retries", "review", "--fix", path).ends(t, 0, "fixed: 1")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `{"ErrorEquals": ["States.TaskFailedId"]}`) {
		t.Errorf("%v: %s", err, text)
	}
}
