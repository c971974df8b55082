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
