package asl_test

import (
	"errors"
	"fmt"
	"testing"

	"stepback/asl"
)

const task = `"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true, `

func TestTask(t *testing.T) {
	t.Parallel()
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{"no resource", inState(`"Type": "Task", "End": true`),
			[]string{"2:1 " + schema + "These fields are required: [Resource] @ /States/X"}},
		{"no ARN", inState(`"Type": "Task", "Resource": "myFunction", "End": true`),
			[]string{"3:29 " + schema + "Value is not a valid resource ARN @ /States/X/Resource"}},
		{
			"timeouts", inState(`"TimeoutSeconds": 0, "HeartbeatSeconds": 1.5, ` + task + `"Comment": ""`),
			[]string{
				"3:19 " + schema + "Minimum value is 1 @ /States/X/TimeoutSeconds",
				"3:42 " + schema + "Expected value of type Integer @ /States/X/HeartbeatSeconds",
			},
		},
		{
			"largest timeout", inState(`"TimeoutSeconds": 100000000, "HeartbeatSeconds": "10", ` + task +
				`"Comment": ""`),
			[]string{
				"3:19 " + schema + "Maximum value is 99999999 @ /States/X/TimeoutSeconds",
				"3:50 " + schema + "Expected value of type Integer @ /States/X/HeartbeatSeconds",
			},
		},
		{
			"heartbeat not below timeout", inState(`"TimeoutSeconds": 10, "HeartbeatSeconds": 10, ` + task +
				`"Comment": ""`),
			[]string{"3:43 " + schema + "'HeartbeatSeconds' must be smaller than 'TimeoutSeconds' @ /States/X/HeartbeatSeconds"},
		},
		{
			"literal and path", inState(`"TimeoutSeconds": 10, "TimeoutSecondsPath": "$.t", ` + task + `"Comment": ""`),
			[]string{"3:23 " + schema + "There should only be one of the following fields: [TimeoutSeconds, TimeoutSecondsPath] @ /States/X"},
		},
		{"credentials", inState(task + `"Credentials": {}`),
			[]string{"3:76 " + schema + "The field 'RoleArn' is required but was missing @ /States/X/Credentials"}},
		{"credentials by path", inState(task + `"Credentials": {"RoleArn.$": "$.role"}`), nil},
		{
			"credentials of an activity",
			inState(`"Type": "Task", "Resource": "arn:aws:states:r:1:activity:a", "End": true, "Credentials": {"RoleArn": "r"}`),
			[]string{"3:75 " + schema + "The field 'Credentials' is not supported for activities @ /States/X"},
		},
	})
}

func TestWaitFailParallel(t *testing.T) {
	t.Parallel()
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{
			"no time", inState(`"Type": "Wait", "End": true`),
			[]string{"2:1 " + schema + "This object should have only one of the following fields: [SecondsPath, Seconds, TimestampPath, Timestamp] @ /States/X"},
		},
		{
			"two times", inState(`"Type": "Wait", "Seconds": 1, "SecondsPath": "$.s", "End": true`),
			[]string{"3:17 " + schema + "There should only be one of the following fields: [SecondsPath, Seconds, TimestampPath, Timestamp] @ /States/X"},
		},
		{"no wait", inState(`"Type": "Wait", "Seconds": 0, "End": true`), nil},
		{"negative wait", inState(`"Type": "Wait", "Seconds": -1, "End": true`),
			[]string{"3:28 " + schema + "Minimum value is 0 @ /States/X/Seconds"}},
		{
			"bad month", inState(`"Type": "Wait", "Timestamp": "2016-13-05T21:29:29Z", "End": true`),
			[]string{"3:30 " + schema + "String does not match RFC3339 timestamp @ /States/X/Timestamp"},
		},
		{
			"no zone", inState(`"Type": "Wait", "Timestamp": "2016-12-05T21:29:29", "End": true`),
			[]string{"3:30 " + schema + "String does not match RFC3339 timestamp @ /States/X/Timestamp"},
		},
		{"nanoseconds", inState(`"Type": "Wait", "Timestamp": "2016-03-05T21:29:29.243167252+01:00", "End": true`),
			nil},
		{
			"fail", inState(`"Type": "Fail", "Error": 1, "Cause": "$.why", "CausePath": "States.UUID()"`),
			[]string{
				"3:26 " + schema + "Expected value of type String @ /States/X/Error",
				"3:47 " + schema + "There should only be one of the following fields: [Cause, CausePath] @ /States/X",
				"3:38 WARNING NO_PATH The value looks like a path, but the name of the field 'Cause' does not end with 'Path' @ /States/X/Cause",
			},
		},
		{"no branches", inState(`"Type": "Parallel", "Branches": [], "End": true`),
			[]string{"3:21 " + schema + "Value cannot be empty @ /States/X/Branches"}},
		{
			"broken branches", inState(`"Type": "Parallel", "End": true, "Branches": [{}, 1, {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}, "Version": "1.0"}]`),
			[]string{
				"3:47 " + schema + "These fields are required: [States, StartAt] @ /States/X/Branches[0]",
				"3:51 " + schema + "Expected value of type Object @ /States/X/Branches[1]",
				"3:109 " + schema + "Field 'Version' is not supported @ /States/X/Branches[2]",
			},
		},
	})
}

func TestRetryAndCatch(t *testing.T) {
	t.Parallel()
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{"empty", inState(task + `"Retry": [], "Catch": []`), nil},
		{
			"bounds", inState(task + `"Retry": [{"ErrorEquals": ["A"],
"IntervalSeconds": 0,
"MaxAttempts": -1,
"BackoffRate": 0.9,
"MaxDelaySeconds": 31622401,
"JitterStrategy": "PARTIAL"}]`),
			[]string{
				"4:20 " + schema + "Minimum value is 1 @ /States/X/Retry[0]/IntervalSeconds",
				"5:16 " + schema + "Minimum value is 0 @ /States/X/Retry[0]/MaxAttempts",
				"6:16 " + schema + "Minimum value is 1.0 @ /States/X/Retry[0]/BackoffRate",
				"7:20 " + schema + "Maximum value is 31622400 @ /States/X/Retry[0]/MaxDelaySeconds",
				"8:19 " + schema + "Value should be one of the following: [NONE, FULL] @ /States/X/Retry[0]/JitterStrategy",
			},
		},
		{
			"error names missing", inState(task + `"Retry": [{}, {"ErrorEquals": []}, {"ErrorEquals": ["A", 1]}, 2]`),
			[]string{
				"3:86 " + schema + "These fields are required: [ErrorEquals] @ /States/X/Retry[0]",
				"3:91 " + schema + "Value cannot be empty @ /States/X/Retry[1]/ErrorEquals",
				"3:133 " + schema + "Expected value of type String @ /States/X/Retry[2]/ErrorEquals[1]",
				"3:138 " + schema + "Expected value of type Object @ /States/X/Retry[3]",
			},
		},
		{
			"States.ALL not alone and not last",
			inState(task + `"Retry": [{"ErrorEquals": ["States.ALL"]}, {"ErrorEquals": ["A", "States.ALL"]}]`),
			[]string{
				"3:87 " + schema + "States.ALL must appear alone and at end of list @ /States/X/Retry[0]/ErrorEquals",
				"3:120 " + schema + "States.ALL must appear alone and at end of list @ /States/X/Retry[1]/ErrorEquals",
			},
		},
		{
			"misspelt error name", inState(task +
				`"Retry": [{"ErrorEquals": ["State.ALL", "States.Timeouts", "Stateful", "States.Http.StatusCode.503"]}]`),
			[]string{
				"3:103 ADVICE UNKNOWN_ERROR_NAME 'State.ALL' is no reserved error name; it matches nothing but an error of this very name @ /States/X/Retry[0]/ErrorEquals[0]",
				"3:116 ADVICE UNKNOWN_ERROR_NAME 'States.Timeouts' is no reserved error name; it matches nothing but an error of this very name @ /States/X/Retry[0]/ErrorEquals[1]",
			},
		},
		{
			"catcher", inState(task + `"Catch": [{"Output": 1}]`),
			[]string{
				"3:87 " + schema + "The QueryLanguage is set to 'JSONPath', but field 'Output' is only supported for the 'JSONata' QueryLanguage @ /States/X/Catch[0]",
				"3:86 " + schema + "These fields are required: [ErrorEquals, Next] @ /States/X/Catch[0]",
			},
		},
	})
}

func TestChoice(t *testing.T) {
	t.Parallel()
	rules := func(rules string) string {
		return `{"StartAt": "X", "States": {"E": {"Type": "Succeed"},
"X": {"Type": "Choice", "Default": "E", "Choices": [` + rules + `]}}}`
	}
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{"no rules", rules(``), []string{"2:41 " + schema + "Value cannot be empty @ /States/X/Choices"}},
		{"no Next", rules(`{"Variable": "$", "StringMatches": "a*"}`),
			[]string{"2:53 " + schema + "These fields are required: [Next] @ /States/X/Choices[0]"}},
		{
			"no test", rules(`{"Next": "E"}`),
			[]string{"2:53 " + schema + "The object must have only one of the following fields, [And, Or, Not, Variable, Condition] @ /States/X/Choices[0]"},
		},
		{
			"two operators", rules(`{"Variable": "$.a", "IsNull": true, "IsString": true, "Next": "E"}`),
			[]string{"2:89 " + schema + "There should only be one of the following fields: [IsNull, IsString] @ /States/X/Choices[0]"},
		},
		{
			"nested", rules(`{"And": [{"Variable": "$.a", "IsNull": true, "Next": "E"}, {"Not": {"Variable": "a", "NumericEquals": "1"}}], "Next": "E"}`),
			[]string{
				"2:98 " + schema + "Field 'Next' is not supported @ /States/X/Choices[0]/And[0]",
				"2:133 " + schema + "Value is not a Reference Path: Reference path didn't start with '$' @ /States/X/Choices[0]/And[1]/Not/Variable",
				"2:155 " + schema + "Expected value of type Number @ /States/X/Choices[0]/And[1]/Not/NumericEquals",
			},
		},
		{
			"operands", rules(`{"Variable": "$.a", "TimestampEquals": "2020-01-01", "Next": "E"},
{"Variable": "$.a", "BooleanEqualsPath": true, "Next": "E"},
{"Variable": "$.a", "StringEquals": "$.b", "Next": "E"},
{"Variable": "$.a", "IsPresent": "true", "Next": "E"}`),
			[]string{
				"2:92 " + schema + "String does not match RFC3339 timestamp @ /States/X/Choices[0]/TimestampEquals",
				"3:42 " + schema + "Expected value of type String @ /States/X/Choices[1]/BooleanEqualsPath",
				"4:37 WARNING NO_PATH The value looks like a path, but the name of the field 'StringEquals' does not end with 'Path' @ /States/X/Choices[2]/StringEquals",
				"5:34 " + schema + "Expected value of type Boolean @ /States/X/Choices[3]/IsPresent",
			},
		},
		{
			"JSONata condition", rules(`{"Condition": true, "Next": "E"}`),
			[]string{
				"2:54 " + schema + "The QueryLanguage is set to 'JSONPath', but field 'Condition' is only supported for the 'JSONata' QueryLanguage @ /States/X/Choices[0]",
				"2:53 " + schema + "The object must have only one of the following fields, [And, Or, Not, Variable, Condition] @ /States/X/Choices[0]",
			},
		},
	})
}

func TestJSONata(t *testing.T) {
	t.Parallel()
	jsonata := func(members string) string {
		return "{\"QueryLanguage\": \"JSONata\", \"StartAt\": \"X\", \"States\": {\n\"X\": {\n" + members + "\n}}}"
	}
	o := asl.Options{Syntax: asl.Syntax{JSONata: func(s string) ([]string, error) {
		if s == " 1 + " {
			return nil, errors.New("Unexpected end of expression")
		}
		if s == " phone & $$.a " {
			return []string{"phone", "$$"}, nil
		}
		return nil, nil
	}}}
	runDiagnosed(t, o, []diagnosedCase{
		{
			"expressions", jsonata(`"Type": "Pass", "Output": {"a": "{% 1 + %}", "b": ["{% $x "], "c": "% %}", "d": "{% '$states.result' %}"}, "End": true`),
			[]string{
				"3:33 ERROR INVALID_JSONATA_EXPRESSION Unexpected end of expression @ /States/X/Output/a",
				"3:52 " + schema + "JSONata string must start with {% and end with %} @ /States/X/Output/b[0]",
			},
		},
		{
			"reads of a document", jsonata(`"Type": "Pass", "Output": "{% phone & $$.a %}", "End": true`),
			[]string{
				"3:27 ERROR UNSUPPORTED_JSONATA_EXPRESSION Reference to 'phone' at the top level is not supported. @ /States/X/Output",
				"3:27 ERROR UNSUPPORTED_JSONATA_EXPRESSION Reference to '$$' is not supported here. @ /States/X/Output",
			},
		},
		{
			"parts of $states", jsonata(task +
				`"Arguments": "{% $states.result %}", "Output": "{% $states.result %}", "Assign": {"a": "{% $states.errorOutput %}"},
"Catch": [{"ErrorEquals": ["States.ALL"], "Output": "{% $states.errorOutput %}", "Next": "X"}]`),
			[]string{
				"3:89 ERROR UNSUPPORTED_JSONATA_EXPRESSION Reference to '$states.result' is not supported here. @ /States/X/Arguments",
				"3:163 ERROR UNSUPPORTED_JSONATA_EXPRESSION Reference to '$states.errorOutput' is not supported here. @ /States/X/Assign/a",
			},
		},
		{
			"scalars", jsonata(`"Type": "Wait", "Seconds": "soon", "End": true`),
			[]string{"3:28 " + schema + "JSONata string must start with {% and end with %} @ /States/X/Seconds"},
		},
		{"scalar expressions", jsonata(`"Type": "Wait", "Timestamp": "{% $now() %}", "End": true`), nil},
		{
			"rules", jsonata(`"Type": "Choice", "Choices": [{"Condition": "yes", "Next": "X"}, {"Condition": 1, "Next": "X"}, {"Variable": "$.a", "Next": "X"}]`),
			[]string{
				"3:45 " + schema + "JSONata string must start with {% and end with %} @ /States/X/Choices[0]/Condition",
				"3:80 " + schema + "Expected value of type Boolean @ /States/X/Choices[1]/Condition",
				"3:98 " + schema + "The QueryLanguage is set to 'JSONata', but field 'Variable' is only supported for the 'JSONPath' QueryLanguage @ /States/X/Choices[2]",
				"3:97 " + schema + "These fields are required: [Condition] @ /States/X/Choices[2]",
			},
		},
		{
			"assign", jsonata(`"Type": "Pass", "Assign": "{% {} %}", "End": true`),
			[]string{"3:27 " + schema + "Expected value of type Object @ /States/X/Assign"},
		},
	})
}

func TestExpress(t *testing.T) {
	t.Parallel()
	resource := func(arn string) string { return inState(`"Type": "Task", "End": true, "Resource": "` + arn + `"`) }
	runDiagnosed(t, asl.Options{Express: true}, []diagnosedCase{
		{"job", resource("arn:aws:states:::states:startExecution.sync:2"),
			[]string{"3:42 " + schema + "Express state machine does not support '.sync' service integration @ /States/X/Resource"}},
		{"callback", resource("arn:aws:states:::sqs:sendMessage.waitForTaskToken"),
			[]string{"3:42 " + schema + "Express state machine does not support '.waitForTaskToken' service integration  @ /States/X/Resource"}},
		{"activity", resource("arn:aws:states:us-east-1:1:activity:a"),
			[]string{"3:42 " + schema + "Express state machine does not support Activity ARN @ /States/X/Resource"}},
		{"function", resource("arn:aws:lambda:us-east-1:1:function:a"), nil},
		{
			"distributed Map", inState(`"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "EXPRESS"},
"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`),
			[]string{"3:67 " + schema + "The field 'Mode' with value 'DISTRIBUTED' is not supported inside 'EXPRESS' state machines @ /States/X/ItemProcessor/ProcessorConfig"},
		},
	})
}

// A name similar to a reserved one is not reported if a Fail state of the definition raises it.
func TestErrorNamesThatTheDefinitionRaises(t *testing.T) {
	t.Parallel()
	definition := func(raised string) string {
		return `{"StartAt": "P", "States": {
  "P": {"Type": "Parallel", "Branches": [{"StartAt": "F", "States": {"F": {"Type": "Fail", "Error": "` + raised +
			`"}}}],
    "Catch": [{"ErrorEquals": ["States.OutOfTime"], "Next": "S"}], "End": true}, "S": {"Type": "Succeed"}}}`
	}
	if _, found := asl.Parse(definition("States.OutOfTime")); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	if _, found := asl.Parse(definition("OutOfTime")); len(found) != 1 || found[0].Code != asl.UnknownErrorName {
		t.Errorf("found %v", found)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	const refused = "The resource provided %s is not recognized. The value is not a valid resource ARN, or the resource is not available in this region."
	for arn, want := range map[string]string{
		"arn:aws:states:::athena:startQueryExecution":              "",
		"arn:aws-cn:states:::bedrock:invokeModel.waitForTaskToken": "",
		"arn:aws:lambda:us-east-1:123456789012:function:f:live":    "",
		"arn:aws:states:us-east-1:123456789012:activity:a":         "",
		"arn:aws:states:::batch:submitJob.sync":                    "", "arn:aws:states:::http:invoke": "",
		"arn:aws:states:::bedrockagentcore:invokeHarness":                       "",
		"arn:aws:states:::aws-sdk:newservice:doIt":                              "",
		"arn:aws:states:::aws-sdk:sqs:sendMessage.waitForTaskToken":             "",
		"arn:aws:states:::lambda:invoke.sync":                                   "lambda:invoke has the patterns request-response, .waitForTaskToken",
		"arn:aws:states:::lambda:invok":                                         "did you mean 'invoke'?",
		"arn:aws:states:::ecs:runTask.sync:2":                                   "ecs:runTask has the patterns request-response, .sync, .waitForTaskToken",
		"arn:aws:states:::translate:text":                                       "use aws-sdk:SERVICE:ACTION for a service without an optimized integration",
		"arn:aws:states:::aws-sdk:s3:getObject.sync":                            "AWS SDK actions are called without a pattern or with .waitForTaskToken",
		"arn:aws:states:::aws-sdk:s3:GetObject":                                 "actions begin with a lower-case letter: getObject",
		"arn:aws:states:::aws-sdk:s3":                                           "an action such as aws-sdk:s3:getObject",
		"arn:aws:sqs:us-east-1:123456789012:queue":                              "an integration (arn:aws:states:::…), a function or an activity",
		"arn:aws:states:us-east-1:123456789012:lambda":                          "an integration with its action, such as lambda:invoke",
		"arn:aws:states:us-east-1:123456789012:stateMachine:other":              "start a state machine by arn:aws:states:::states:startExecution, and name it in the parameters",
		"arn:aws:states:us-east-1:776177632559:aws-sdk:s3:getObject":            "",
		"arn:aws:states:eu-west-1:776177632559:athena:startQueryExecution.sync": "",
	} {
		definition := `{"StartAt":"S","States":{"S":{"Type":"Task","Resource":"` + arn +
			`","Parameters":{},"End":true}}}`
		if _, found := asl.Parse(definition); len(found) > 0 {
			t.Errorf("%s: an engine with integrations of its own refuses it: %v", arn, found)
		}
		_, found := asl.Options{Resources: true}.Parse(definition)
		switch {
		case want == "" && len(found) > 0, want != "" && len(found) != 1:
			t.Errorf("%s: got %v", arn, found)
		case want != "" && (found[0].Message != fmt.Sprintf(refused, arn) || found[0].Hint != want):
			t.Errorf("%s: got %s (%s), want the hint %s", arn, found[0].Message, found[0].Hint, want)
		}
	}
}

func TestParametersOfIntegrations(t *testing.T) {
	t.Parallel()
	const sqs, where = `"Type":"Task","End":true,"Resource":"arn:aws:states:::sqs:sendMessage`, " at /States/S"
	for state, want := range map[string]string{
		sqs + `"`: "Parameters field is required for resource ARN: arn:aws:states:::sqs:sendMessage" + where,
		sqs + `.waitForTaskToken","QueryLanguage":"JSONata"`:                                 "Arguments field is required for resource ARN: arn:aws:states:::sqs:sendMessage.waitForTaskToken" + where,
		sqs + `","Parameters":{"QueueUrl":"q"}`:                                              "The field 'MessageBody' is required but was missing" + where + "/Parameters",
		sqs + `.waitForTaskToken","QueryLanguage":"JSONata","Arguments":{"MessageBody":"b"}`: "The field 'QueueUrl' is required but was missing" + where + "/Arguments",
		sqs + `","Parameters":{"QueueUrl.$":"$.q","MessageBody":{"a":1}}`:                    "",
		sqs + `","QueryLanguage":"JSONata","Arguments":"{% $states.input %}"`:                "",
		`"Type":"Task","End":true,"Resource":"arn:aws:states:::aws-sdk:s3:listBuckets"`:      "Parameters field is required for resource ARN: arn:aws:states:::aws-sdk:s3:listBuckets" + where,
		`"Type":"Task","End":true,"Resource":"arn:aws:lambda:us-east-1:1:function:f"`:        "",
	} {
		definition := `{"StartAt":"S","States":{"S":{` + state + `}}}`
		_, found := asl.Options{Resources: true}.Parse(definition)
		switch {
		case want == "" && len(found) > 0, want != "" && len(found) != 1:
			t.Errorf("%s: got %v", state, found)
		case want != "" && found[0].Message+" at "+found[0].Location != want:
			t.Errorf("%s: got %s at %s", state, found[0].Message, found[0].Location)
		}
		if _, found := asl.Parse(definition); len(found) > 0 {
			t.Errorf("%s: an engine with integrations of its own refuses it: %v", state, found)
		}
	}
}
