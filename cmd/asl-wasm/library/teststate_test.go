package library

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"stepback/aws"
)

const (
	orders = `{"StartAt": "Charge", "States": {
 "Charge": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "charge", "Payload.$": "$"},
  "ResultSelector": {"receipt.$": "$.Payload.receipt"}, "ResultPath": "$.charge",
  "Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 2, "BackoffRate": 3, "MaxAttempts": 2}],
  "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Failed"}], "Next": "Cool"},
 "Cool": {"Type": "Wait", "Seconds": 60, "Next": "Stamp"},
 "Stamp": {"Type": "Pass", "QueryLanguage": "JSONata", "Output": {"at": "{% $now() %}", "limit": "{% $limit %}"}, "End": true},
 "Failed": {"Type": "Fail"}}}`
	named = `{"Type": "Pass", "QueryLanguage": "JSONata", "Output": "{% $uuid() & $states.context.Execution.Name %}", "End": true}`
)

func TestTestState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, options, text, want string }{
		{"result", `{"stateName":"Charge","input":"{\"id\":7}","mock":{"result":"{\"Payload\":{\"receipt\":\"r\"},\"StatusCode\":200}"}}`, orders,
			`{"status":"SUCCEEDED","output":"{\"id\":7,\"charge\":{\"receipt\":\"r\"}}","nextState":"Cool"}`},
		{"inspection", `{"stateName":"Charge","inspectionLevel":"DEBUG","mock":{"result":"{\"Payload\":{\"receipt\":1},\"StatusCode\":200}"}}`, orders,
			`{"status":"SUCCEEDED","output":"{\"charge\":{\"receipt\":1}}","nextState":"Cool","inspectionData":{"input":"{}","afterInputPath":"{}",
			"afterParameters":"{\"FunctionName\":\"charge\",\"Payload\":{}}","result":"{\"Payload\":{\"receipt\":1},\"StatusCode\":200}",
			"afterResultSelector":"{\"receipt\":1}","afterResultPath":"{\"charge\":{\"receipt\":1}}"}}`},
		{"second retry", `{"stateName":"Charge","inspectionLevel":"DEBUG","mock":{"errorOutput":{"error":"Busy","cause":"c"}},"stateConfiguration":{"retrierRetryCount":1}}`, orders,
			`{"status":"RETRIABLE","error":"Busy","cause":"c","inspectionData":{"input":"{}","afterInputPath":"{}",
			"afterParameters":"{\"FunctionName\":\"charge\",\"Payload\":{}}","errorDetails":{"retryIndex":0,"retryBackoffIntervalSeconds":6}}}`},
		{"no more retries", `{"stateName":"Charge","mock":{"errorOutput":{"error":"Busy"}},"stateConfiguration":{"retrierRetryCount":2}}`, orders,
			`{"status":"CAUGHT_ERROR","output":"{\"Error\":\"Busy\",\"Cause\":null}","error":"Busy","nextState":"Failed"}`},
		{"wait", `{"stateName":"Cool","input":"[1]"}`, orders, `{"status":"SUCCEEDED","output":"[1]","nextState":"Stamp"}`},
		{"long wait", `{}`, `{"Type":"Wait","Seconds":300,"End":true}`, `{"status":"FAILED","error":"States.Timeout"}`},
		{"time after a wait", `{"now":"2026-02-03T04:05:06Z"}`,
			`{"Type":"Wait","QueryLanguage":"JSONata","Seconds":240,"Output":"{% $now() %}","End":true}`, `{"status":"SUCCEEDED","output":"\"2026-02-03T04:09:06.000Z\""}`},
		{"clock and variables", `{"stateName":"Stamp","now":"2026-02-03T04:05:06.007Z","variables":"{\"limit\":5}"}`, orders,
			`{"status":"SUCCEEDED","output":"{\"at\":\"2026-02-03T04:05:06.007Z\",\"limit\":5}"}`},
		{"single state in YAML", `{"file":"a.yaml"}`, "Type: Succeed\n", `{"status":"SUCCEEDED","output":"{}"}`},
		{"failure", `{"stateName":"Failed"}`, orders, `{"status":"FAILED"}`},
		{"context", `{"context":"{\"Execution\":{\"Name\":\"n\"}}","mock":{"result":"1"}}`,
			`{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:000000000000:function:f","ResultSelector":{"n.$":"$$.Execution.Name"},"End":true}`,
			`{"status":"SUCCEEDED","output":"{\"n\":\"n\"}"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got, want any
			call(t, "testState", c.options, c.text, &got)
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
		})
	}
}

func TestTestStateRepeatsRandomValues(t *testing.T) {
	t.Parallel()
	output := func(options string) (of struct{ Output string }) {
		call(t, "testState", options, named, &of)
		return of
	}
	first := output(`{"seed":1}`)
	if again := output(`{"seed":1}`); again != first {
		t.Errorf("the same seed gives %v and %v", first, again)
	}
	if other := output(`{"seed":2}`); other == first {
		t.Errorf("another seed gives %v, too", other)
	}
	if a, b := output(``), output(``); a == b {
		t.Errorf("without a seed, both tests give %v", a)
	}
}

func TestTestStateRejects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ options, text, code, want string }{
		{`{"stateName":"Charge"}`, orders, "", "this library calls no service: give the Task state a mock"},
		{``, orders, "", "definition is a state machine: name the state to test with the option stateName, one of Charge, Cool, Stamp, Failed"},
		{`{"stateName":"Charg"}`, orders, "", "definition has no state Charg; did you mean Charge?"},
		{`{"mocks":{}}`, `{"Type":"Succeed"}`, "", `options: unknown field "mocks"`},
		{`{"mock":{"output":"1"}}`, `{"Type":"Succeed"}`, "", `options: unknown field "output"`},
		{`{"definition":"{}"}`, `{"Type":"Succeed"}`, "", "it is the first argument"},
		{`{"seed":-1}`, `{"Type":"Succeed"}`, "", "options: "},
		{`{"now":"yesterday"}`, `{"Type":"Succeed"}`, "", "options: "},
		{`{"file":"a.yaml"}`, "Type: [", "", "a.yaml"},
		{`{}`, `{"Type":"Wait","Seconds":${Patience},"End":true}`, "", "give ${Patience} a value in the option substitutions"},
		{`{"inspectionLevel":"VERBOSE"}`, `{"Type":"Succeed"}`, "ValidationException",
			"1 validation error detected: Value 'VERBOSE' at 'inspectionLevel' failed to satisfy constraint: Member must satisfy enum value set: [INFO, DEBUG, TRACE]"},
		{`{"input":"{"}`, `{"Type":"Succeed"}`, "InvalidExecutionInput", "Invalid State Machine Execution Input"},
		{`{}`, `{"Type":"Sucseed"}`, "InvalidDefinition", "Invalid State Machine Definition"},
		{`{"stateName":"Charge","mock":{"result":"{\"StatusCode\":\"200\"}"}}`, orders, "ValidationException",
			"Mock result schema validation error: Field 'StatusCode' must be a number"},
		{`{"context":"{}"}`, `{"Type":"Succeed"}`, "ValidationException", "TestState does not support Context when a mock is not specified."},
	} {
		_, err := Call("testState", c.options, c.text)
		var refused *aws.Error
		code := ""
		if errors.As(err, &refused) {
			code = refused.Code
		}
		if err == nil || code != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s %s", c.options, err, c.code, c.want)
		}
	}
}
