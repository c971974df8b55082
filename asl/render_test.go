package asl_test

import (
	"strings"
	"testing"

	"stepback/asl"
)

func TestRender(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ definition, want string }{
		"tabs and wide characters": {
			"{\"StartAt\": \"集計\", \"States\": {\n\t\"集計\":\t{\"Type\": \"Pass\", \"Comment\": \"表é\", \"Edn\": true}}}",
			`m.json:2:2: error SCHEMA_VALIDATION_FAILED: This object should have only one of the following fields: [Next, End] (at /States/集計)
  2 | 	"集計":	{"Type": "Pass", "Comment": "表é", "Edn": true}}}
    | 	^^^^^^
    = name the next state in "Next", or end here with "End": true
m.json:2:42: error SCHEMA_VALIDATION_FAILED: Field 'Edn' is not supported (at /States/集計)
  2 | 	"集計":	{"Type": "Pass", "Comment": "表é", "Edn": true}}}
    | 	       	                                   ^^^^^
    = did you mean 'End'? a Pass state accepts Type, Comment, QueryLanguage, Next, End, Assign, InputPath, OutputPath, ResultPath, Parameters, Result
`,
		},
		"malformed JSON": {
			"{\n  \"StartAt\": \"A\"\n  \"States\": {}\n}\n",
			`m.json:3:3: error INVALID_JSON_DESCRIPTION: Unexpected character ('"' (code 34)): was expecting comma to separate Object entries
  3 |   "States": {}
    |   ^
`,
		},
		"misspelt names": {
			`{"StartAt": "Validat", "States": {"Validate": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "End": true,
"Retry": [{"ErrorEquals": ["State.TaskFailed"]}]}}}`,
			`m.json:1:13: error MISSING_TRANSITION_TARGET: Missing 'Next' target: Validat (at /StartAt)
  1 | {"StartAt": "Validat", "States": {"Validate": {"Type": "Task", "Resource": "arn:a…
    |             ^^^^^^^^^
    = did you mean 'Validate'?
m.json:2:28: advice UNKNOWN_ERROR_NAME: 'State.TaskFailed' is no reserved error name; it matches nothing but an error of this very name (at /States/Validate/Retry[0]/ErrorEquals[0])
  2 | "Retry": [{"ErrorEquals": ["State.TaskFailed"]}]}}}
    |                            ^^^^^^^^^^^^^^^^^^
    = did you mean 'States.TaskFailed'?
`,
		},
		"end of the text": {
			"{\"a\":\n",
			"m.json:1:6: error INVALID_JSON_DESCRIPTION: Unexpected end-of-input within/between Object entries\n" +
				"  1 | {\"a\":\n    |      ^\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, diagnostics := asl.Parse(c.definition)
			if got := asl.Render(diagnostics, c.definition, "m.json"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestRenderOfOneLongLineShowsTheSurroundings(t *testing.T) {
	t.Parallel()
	definition := `{"StartAt": "A", "Comment": "` + strings.Repeat("x", 1000) +
		`", "Stats": 1, "States": {"A": {"Type": "Succeed"}}, "Version": "1.0"}`
	_, diagnostics := asl.Parse(definition)
	want := `m:1:1033: error SCHEMA_VALIDATION_FAILED: Field 'Stats' is not supported (at /)
  1 | …` + strings.Repeat("x", 57) + `", "Stats": 1, "States": {"A": {"Type": "Succeed"}}, "Version": "1.0"}
    |  ` + strings.Repeat(" ", 60) + `^^^^^^^
    = did you mean 'States'? a state machine accepts Comment, QueryLanguage, StartAt, States, TimeoutSeconds, Version
`
	if got := asl.Render(diagnostics, definition, "m"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInvalidDefinitionIsTheServicesMessage(t *testing.T) {
	t.Parallel()
	_, diagnostics := asl.Parse(`{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "NOPE"}, "B": {"Type": "Pass", "Next": "A"}}}`)
	want := `Invalid State Machine Definition: 'MISSING_TRANSITION_TARGET: Missing 'Next' target: NOPE at /States/A/Next, ` +
		`MISSING_END_STATE: Workflow has no terminal state at null'`
	if got := asl.InvalidDefinition(diagnostics); got != want {
		t.Errorf("got %s", got)
	}
	if got := asl.InvalidDefinition(nil); got != "" {
		t.Errorf("without errors: %s", got)
	}
}

func TestHintsForWhatIsNoDefinition(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{\n// x\n}":        "JSON has no comments; every state has a Comment field for them",
		`{"a": [1,]}`:       "remove the comma before it",
		`{"a": 1, }`:        "remove the comma before it",
		`{'a': 1}`:          `strings and names stand in straight double quotes: "`,
		`{"a": True}`:       "JSON writes true, false and null",
		`{"a": x}`:          "",
		`{"a": 1`:           "",
		`{"Resources": {}}`: "this looks like a CloudFormation or SAM template: give the files that its state machines' DefinitionUri name",
		`{"stateMachineArn": "a", "definition": "{}"}`: "this looks like an answer of DescribeStateMachine: give its definition, as --query definition --output text does",
		`{"StateMachines": {}, "MockedResponses": {}}`: "this looks like a mock configuration: give it to exec or serve with --mock",
		`{"Type": "Succeed"}`:                          "this looks like a single state, which test-state takes",
	} {
		_, found := asl.Parse(text)
		if len(found) == 0 || found[len(found)-1].Hint != want {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// A text that ends too early is shown with its last line, not with an empty one.
func TestRenderAnUnexpectedEnd(t *testing.T) {
	t.Parallel()
	const text = "{\"StartAt\": \"A\",\n \"States\": {\n\n"
	_, found := asl.Parse(text)
	got := asl.Render(found, text, "m")
	if !strings.HasPrefix(got, "m:2:13: error INVALID_JSON_DESCRIPTION: Unexpected end-of-input") ||
		!strings.Contains(got, "\n  2 |  \"States\": {\n    |             ^\n") {
		t.Errorf("%s", got)
	}
}
