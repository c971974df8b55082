package library

import (
	"encoding/json"
	"strings"
	"testing"
)

const charge = `{"StartAt": "Charge", "States": {"Charge": {"Type": "Task",
 "Resource": "arn:aws:lambda:us-east-1:000000000000:function:charge",
 "Retry": [{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 1, "MaxAttempts": 1}], "End": true}}}`

// call runs a function and decodes its result.
func call(t *testing.T, name, options, text string, into any) {
	t.Helper()
	result, err := Call(name, options, text)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(result), into); err != nil {
		t.Fatal(err)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	type validated struct {
		File, Result string
		Diagnostics  []struct {
			Code, Location string
			Line, Column   int
		}
	}
	for _, c := range []struct{ name, options, text, result, code, location string }{
		{"JSON", ``, charge, "OK", "", ""},
		{"YAML", `{"file":"a.yaml"}`, "StartAt: A\nStates:\n  A:\n    Type: Pass\n    Next: B\n", "FAIL", "MISSING_TRANSITION_TARGET", "/States/A/Next"},
		{"template", `{"machine":"M"}`, `{"Resources":{"M":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"Definition":{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}}}}}`, "OK", "", ""},
		{"empty", ``, ``, "FAIL", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var v validated
			call(t, "validate", c.options, c.text, &v)
			found := c.code == ""
			for _, d := range v.Diagnostics {
				found = found || d.Code == c.code && d.Location == c.location && d.Line == 5
			}
			if v.Result != c.result || !found {
				t.Errorf("got %+v, want %s with %s at %s", v, c.result, c.code, c.location)
			}
		})
	}
}

func TestCallRejects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, options, text, want string }{
		{"valid", ``, ``, "there is no function valid"},
		{"validate", `{"expres":true}`, charge, `options: unknown field "expres"`},
		{"validate", `{"express":1}`, charge, "options: "},
		{"validate", `{"machine":"M"}`, `{"Resources":{"N":{"Type":"AWS::StepFunctions::StateMachine","Properties":{}}}}`, "definition declares N: name one of them"},
	} {
		if _, err := Call(c.name, c.options, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s(%s): got %v, want %s", c.name, c.options, err, c.want)
		}
	}
}

func TestReviewAndFix(t *testing.T) {
	t.Parallel()
	var r struct {
		Result      string
		Diagnostics []struct{ Code string }
		States      []struct{ Attempts int }
	}
	call(t, "review", ``, charge, &r)
	if r.Result != "OK" || len(r.States) != 1 || r.States[0].Attempts != 2 || len(r.Diagnostics) == 0 {
		t.Errorf("got %+v, want findings for one state with 2 attempts", r)
	}
	var f struct {
		Text   string
		Fixed  int
		Review struct{ Result string }
	}
	call(t, "fix", ``, charge, &f)
	if f.Fixed == 0 || !strings.Contains(f.Text, "JitterStrategy") || f.Review.Result != "OK" {
		t.Errorf("got %+v, want a definition with jitter", f)
	}
}

func TestGraphAndExplain(t *testing.T) {
	t.Parallel()
	for format, begin := range map[string]string{"svg": "<svg", "mermaid": "", "dot": "digraph"} {
		var text string
		call(t, "graph", `{"format":"`+format+`"}`, charge, &text)
		if !strings.HasPrefix(text, begin) || !strings.Contains(text, "Charge") {
			t.Errorf("%s: %.200s", format, text)
		}
	}
	if _, err := Call("graph", ``, `{"StartAt":"A","States":{}}`); err == nil || !strings.Contains(err.Error(), "definition is not valid") {
		t.Errorf("invalid definition: %v", err)
	}
	var r struct{ Code, Severity, Why string }
	call(t, "explain", ``, "NO_JITTER", &r)
	if r.Code != "NO_JITTER" || r.Why == "" {
		t.Errorf("got %+v", r)
	}
	if _, err := Call("explain", ``, "NOTHING"); err == nil {
		t.Error("an unknown rule is accepted")
	}
}

func TestASLValidator(t *testing.T) {
	t.Parallel()
	const badPath = `{"StartAt":"A","States":{"A":{"Type":"Pass","InputPath":"$.a[?(","End":true}}}`
	const badARN = `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"hello","End":true}}}`
	const function = `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":{"Fn::GetAtt":["lambda-name_GetAtt","Arn"]},"Next":"B"},` +
		`"B":{"Type":"Task","Resource":{"Ref":"lambda-name_Ref"},"Parameters":{"Table":{"Fn::ImportValue":"t"}},"End":true}}}`
	const badTarget = `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"B"}}}`
	for _, c := range []struct{ options, text, code string }{
		{`{"checkPaths":true,"checkArn":true}`, badPath, "SCHEMA_VALIDATION_FAILED"},
		{`{"checkArn":true}`, badPath, ""},
		{`{"checkPaths":true,"checkArn":true}`, badARN, "SCHEMA_VALIDATION_FAILED"},
		{`{"checkPaths":true}`, badARN, ""},
		{`{}`, badTarget, "MISSING_TRANSITION_TARGET"},
		{`{"checkPaths":true,"checkArn":true}`, charge, ""},
		{`{"checkPaths":true,"checkArn":true}`, function, ""},
		{`{"checkPaths":true,"checkArn":true}`, strings.Replace(function, `"Next":"B"`, `"Next":"C"`, 1), "MISSING_TRANSITION_TARGET"},
		{`{"checkPaths":true,"checkArn":true}`, strings.Replace(function, `"Ref"`, `"Reference"`, 1), "SCHEMA_VALIDATION_FAILED"},
	} {
		var found []map[string]any
		call(t, "aslValidator", c.options, c.text, &found)
		switch {
		case c.code == "" && len(found) > 0:
			t.Errorf("%s %s: got %v, want no errors", c.options, c.text, found)
		case c.code != "" && (len(found) == 0 || found[0]["Error code"] != c.code):
			t.Errorf("%s %s: got %v, want %s", c.options, c.text, found, c.code)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ context, path, code string }{
		{"path", "$.a[*]", ""},
		{"path", "$.a[?(", "parse_error"},
		{"path", "States.UUID()", "exp_has_functions"},
		{"payload_template", "States.UUID()", ""},
		{"reference_path", "$.a[0].b", ""},
		{"reference_path", "$.a[*]", "exp_has_non_reference_path_ops"},
		{"result_path", "$.a", ""},
		{"result_path", "$v.a", "exp_has_variable"},
	} {
		var r struct {
			IsValid bool
			Code    string
		}
		call(t, "path", `{"context":"`+c.context+`"}`, c.path, &r)
		if r.Code != c.code || r.IsValid != (c.code == "") {
			t.Errorf("%s %s: got %+v, want %q", c.context, c.path, r, c.code)
		}
	}
	if _, err := Call("path", `{"context":"x"}`, "$"); err == nil {
		t.Error("an unknown context is accepted")
	}
}
