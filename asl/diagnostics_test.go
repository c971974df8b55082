package asl_test

import (
	"fmt"
	"strings"
	"testing"

	"stepback/asl"
)

// inState wraps the members of one state in a machine; they begin on the third line.
func inState(members string) string {
	return "{\"StartAt\": \"X\", \"States\": {\n\"X\": {\n" + members + "\n}}}"
}

// shown returns the diagnostics one per line: line:column SEVERITY CODE message @ location.
func shown(diagnostics []asl.Diagnostic) string {
	lines := make([]string, len(diagnostics))
	for i, d := range diagnostics {
		lines[i] = fmt.Sprintf("%d:%d %s %s %s @ %s", d.Line, d.Column, d.Severity, d.Code, d.Message, d.Location)
	}
	return strings.Join(lines, "\n")
}

type diagnosedCase struct {
	name, definition string
	want             []string
}

func runDiagnosed(t *testing.T, o asl.Options, cases []diagnosedCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, diagnostics := o.Parse(c.definition)
			if got, want := shown(diagnostics), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if (m == nil) != asl.HasErrors(diagnostics) {
				t.Errorf("machine %v, errors %v", m, asl.HasErrors(diagnostics))
			}
		})
	}
}

const schema = "ERROR SCHEMA_VALIDATION_FAILED "

func TestWholeDefinition(t *testing.T) {
	t.Parallel()
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{"empty text", ``, []string{"1:1 " + schema + "Definition must be a valid JSON object @ "}},
		{"blank text", " \n", []string{"2:1 " + schema + "Definition must be a valid JSON object @ "}},
		{"null", `null`, []string{"1:1 ERROR MISSING_DESCRIPTION Received a null or empty workflow input @ /"}},
		{"scalar", `7`, []string{"1:1 " + schema + "Definition must be a valid JSON object @ "}},
		{"empty object", `{}`, []string{"1:1 " + schema + "These fields are required: [States, StartAt] @ /"}},
		{"no States", `{"StartAt": "A"}`, []string{"1:1 " + schema + "These fields are required: [States] @ /"}},
		{"no state", `{"StartAt": "A", "States": {}}`, []string{"1:18 " + schema + "Value cannot be empty @ /States"}},
		{
			"not JSON", "{\n  \"StartAt\": \"A\",\n  \"Größe\" 1}",
			[]string{"3:11 ERROR INVALID_JSON_DESCRIPTION Unexpected character ('1' (code 49)): was expecting a colon to separate field name and value\n" +
				" at [Source: (String)\"{\n  \"StartAt\": \"A\",\n  \"Größe\" 1}\"; line: 3, column: 12] @ "},
		},
		{
			"misspelt field", `{"StartAt": "A", "Stats": 1, "States": {"A": {"Type": "Succeed"}}}`,
			[]string{"1:18 " + schema + "Field 'Stats' is not supported @ /"},
		},
		{
			"version and timeout", `{"Version": "2.0", "TimeoutSeconds": 0, "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`,
			[]string{
				"1:38 " + schema + "Minimum value is 1 @ /TimeoutSeconds",
				"1:13 " + schema + "Value should be one of the following: [1.0] @ /Version",
			},
		},
		{
			"unknown query language", `{"QueryLanguage": "JSONPAth", "StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`,
			[]string{"1:19 " + schema + "Value should be one of the following: [JSONPath, JSONata] @ /QueryLanguage"},
		},
	})
}

func TestTransitions(t *testing.T) {
	t.Parallel()
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{
			"unknown target and unreachable state", `{"StartAt": "pass1", "States": {
  "pass1": {"Type": "Pass", "Next": "pass3"},
  "pass2": {"Type": "Pass", "End": true}}}`,
			[]string{
				"2:37 ERROR MISSING_TRANSITION_TARGET Missing 'Next' target: pass3 @ /States/pass1/Next",
				`3:3 ERROR MISSING_TRANSITION_TARGET State "pass2" is not reachable. @ /States/pass2`,
			},
		},
		{
			"unknown start", `{"StartAt": "Not sure", "States": {"A": {"Type": "Succeed"}}}`,
			[]string{
				"1:13 ERROR MISSING_TRANSITION_TARGET Missing 'Next' target: Not sure @ /StartAt",
				`1:36 ERROR MISSING_TRANSITION_TARGET State "A" is not reachable. @ /States/A`,
			},
		},
		{
			"no end", `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "Next": "A"}}}`,
			[]string{"1:18 ERROR MISSING_END_STATE Workflow has no terminal state @ "},
		},
		{
			"targets of all kinds", `{"StartAt": "C", "States": {
"C": {"Type": "Choice", "Choices": [{"Variable": "$.a", "IsNull": true, "Next": "X"}], "Default": "Y"},
"T": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true,
  "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Z"}]}}}`,
			[]string{
				"2:81 ERROR MISSING_TRANSITION_TARGET Missing 'Next' target: X @ /States/C/Choices[0]/Next",
				"2:99 ERROR MISSING_TRANSITION_TARGET Missing 'Next' target: Y @ /States/C/Default",
				"4:53 ERROR MISSING_TRANSITION_TARGET Missing 'Next' target: Z @ /States/T/Catch[0]/Next",
				`3:1 ERROR MISSING_TRANSITION_TARGET State "T" is not reachable. @ /States/T`,
			},
		},
		{
			"out of a branch", `{"StartAt": "P", "States": {
"P": {"Type": "Parallel", "Next": "Q", "Branches": [{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "P"}}}]},
"Q": {"Type": "Succeed"}}}`,
			[]string{
				"2:111 ERROR MISSING_TRANSITION_TARGET Missing 'Next' target: P @ /States/P/Branches[0]/States/A/Next",
				"2:70 ERROR MISSING_END_STATE Workflow has no terminal state @ ",
			},
		},
		{
			"neither Next nor End", inState(`"Type": "Pass", "End": false`),
			[]string{"2:1 " + schema + "This object should have only one of the following fields: [Next, End] @ /States/X"},
		},
		{
			"both Next and End", inState(`"Type": "Pass", "Next": "X", "End": true`),
			[]string{"3:30 " + schema + "There should only be one of the following fields: [Next, End] @ /States/X"},
		},
		{
			"name twice in nested graphs",
			`{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor":
{"StartAt": "M", "States": {"M": {"Type": "Succeed"}}}}}}`,
			[]string{"2:29 ERROR DUPLICATE_STATE_NAME Duplicate State name: M @ /States/M/ItemProcessor/States/M"},
		},
		{
			"name twice in one graph", "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"},\n\"A\": {\"Type\": \"Succeed\"}}}",
			[]string{"2:1 ERROR DUPLICATE_STATE_NAME Duplicate State name: A @ /States/A"},
		},
		{
			"field twice", inState(`"Type": "Pass", "Comment": "a:{\"", "Comment": "b", "End": true`),
			[]string{"3:37 ADVICE REPEATED_FIELD Field 'Comment' is given twice; only the last one counts @ /States/X"},
		},
		{
			"long name", `{"StartAt": "` + strings.Repeat("ü", 81) + `", "States": {"` + strings.Repeat("ü", 81) +
				`": {"Type": "Succeed"}}}`,
			[]string{"1:109 ERROR INVALID_STATE_NAME State name '" + strings.Repeat("ü", 81) +
				"' must have from 1 to 80 characters @ /States/" + strings.Repeat("ü", 81)},
		},
	})
}

func TestStateFields(t *testing.T) {
	t.Parallel()
	runDiagnosed(t, asl.Options{}, []diagnosedCase{
		{"not an object", `{"StartAt": "X", "States": {"X": 1}}`,
			[]string{"1:34 " + schema + "Expected value of type Object @ /States/X"}},
		{"no type", inState(`"End": true`),
			[]string{"2:1 " + schema + "These fields are required: [Type] @ /States/X"}},
		{
			"unknown type", inState(`"Type": "Tsk"`),
			[]string{"3:9 " + schema + "The field 'Type' should have one of these values: [Task, Wait, Pass, Succeed, Fail, Choice, Parallel, Map] @ /States/X/Type"},
		},
		{
			"field of another type", inState(`"Type": "Pass", "TimeoutSeconds": 1, "End": true`),
			[]string{"3:17 " + schema + "Field 'TimeoutSeconds' is not supported @ /States/X"},
		},
		{
			"JSONata field in JSONPath", inState(`"Type": "Pass", "Output": 1, "End": true`),
			[]string{"3:17 " + schema + "The QueryLanguage is set to 'JSONPath', but field 'Output' is only supported for the 'JSONata' QueryLanguage @ /States/X"},
		},
		{
			"JSONPath field in JSONata",
			inState(`"Type": "Pass", "QueryLanguage": "JSONata", "ResultPath": "$.a", "End": true`),
			[]string{"3:45 " + schema + "The QueryLanguage is set to 'JSONata', but field 'ResultPath' is only supported for the 'JSONPath' QueryLanguage @ /States/X"},
		},
		{
			"JSONPath in a JSONata machine",
			`{"QueryLanguage": "JSONata", "StartAt": "X", "States": {"X": {"Type": "Succeed", "QueryLanguage": "JSONPath"}}}`,
			[]string{"1:82 " + schema + "'QueryLanguage' can not be 'JSONPath' if set to 'JSONata' for whole state machine @ /States/X"},
		},
		{
			"wrong JSON types", inState(`"Type": "Pass", "Comment": 1, "InputPath": 2, "Next": 3, "End": "true"`),
			[]string{
				"3:28 " + schema + "Expected value of type String @ /States/X/Comment",
				"3:55 " + schema + "Expected value of type String @ /States/X/Next",
				"3:65 " + schema + "Expected value of type Boolean @ /States/X/End",
				"3:44 " + schema + "Expected value of type String @ /States/X/InputPath",
			},
		},
		{
			"paths", inState(`"Type": "Pass", "InputPath": "a", "OutputPath": "$.a[", "ResultPath": "$$.a", "End": true`),
			[]string{
				"3:30 " + schema + "Value must be a valid JSONPath. @ /States/X/InputPath",
				"3:49 " + schema + "Value must be a valid JSONPath. @ /States/X/OutputPath",
				"3:71 " + schema + "Value is not a Reference Path: it must lead into the state input @ /States/X/ResultPath",
			},
		},
		{
			"reference path", inState(`"Type": "Pass", "ResultPath": "$.a[*]", "End": true`),
			[]string{"3:31 " + schema + "Value is not a Reference Path: Illegal use of '*' @ /States/X/ResultPath"},
		},
		{
			"payload template", inState(`"Type": "Pass", "Parameters": {"a.$": "b", "c": [{"d.$": "States.Format('{}'", "e": 1, "e.$": "$"}]}, "End": true`),
			[]string{
				"3:39 " + schema + "The value for the field 'a.$' must be a valid JSONPath or a valid intrinsic function call @ /States/X/Parameters",
				"3:58 " + schema + "The value for the field 'd.$' must be a valid JSONPath or a valid intrinsic function call @ /States/X/Parameters/c[0]",
				"3:88 " + schema + "The field 'e' is given both as 'e' and as 'e.$' @ /States/X/Parameters/c[0]",
			},
		},
		{
			"warnings", inState(`"Type": "Pass", "Result": {"a.$": "$.b"}, "Parameters": {"c": "$.d"}, "End": true`),
			[]string{
				"3:58 WARNING NO_DOLLAR The value of 'c' looks like a path or an intrinsic function call, but the field name does not end with '.$' @ /States/X/Parameters",
				"3:35 WARNING PASS_RESULT_IS_STATIC The result of a Pass state is static; the path in it is not evaluated @ /States/X/Result/a.$",
			},
		},
		{
			"variables", inState(`"Type": "Pass", "Assign": {"states": 1, "a.b": 2, "x.$": "$"}, "End": true`),
			[]string{
				"3:28 ERROR RESERVED_VARIABLE_NAME Cannot assign to reserved variable '$states'. @ /States/X/Assign",
				"3:41 ERROR INVALID_VARIABLE_NAME Invalid variable name 'a.b': the variable name contains invalid characters. @ /States/X/Assign",
			},
		},
	})
}
