package dataflow_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"stepback/asl"
	"stepback/asl/dataflow"
	"stepback/internal/recordings"
)

// machine returns a definition in JSONata.
func machine(start, states string) string {
	return `{"QueryLanguage": "JSONata", "StartAt": "` + start + `", "States": {` + states + `}}`
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const inPaths = `{"StartAt": "A", "States": {`
	for name, c := range map[string]struct {
		definition string
		want       []string
	}{
		"assigned before": {machine("A", `"A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "B"}, "B": {"Type": "Pass", "Output": "{% $x %}", "End": true}`), nil},
		"never": {machine("A", `"A": {"Type": "Pass", "Assign": {"total": 1}, "Next": "B"}, "B": {"Type": "Pass", "Output": {"a": ["{% 1 + $totl %}"]}, "End": true}`),
			[]string{"UNASSIGNED_VARIABLE /States/B/Output/a[0]: The variable 'totl' is read here, and no state before assigns it (did you mean 'total'?)"}},
		"in its own Assign": {machine("A", `"A": {"Type": "Pass", "Assign": {"x": 1, "y": "{% $x %}"}, "End": true}`),
			[]string{"UNASSIGNED_VARIABLE /States/A/Assign/y: The variable 'x' has no value on the path A (what Assign assigns has its value only when the state ends)"}},
		"on one branch of a Choice": {machine("C", `"C": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.a %}", "Assign": {"x": 1}, "Next": "B"}], "Default": "D"},
			"D": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "Output": "{% $x %}", "End": true}`),
			[]string{"UNASSIGNED_VARIABLE /States/B/Output: The variable 'x' has no value on the path C → D → B (assign it on every path to the state, or ask for it with $exists)"}},
		"the Assign of a Choice belongs to its Default": {machine("C", `"C": {"Type": "Choice", "Assign": {"x": 1}, "Choices": [{"Condition": "{% $states.input.a %}", "Next": "B"}], "Default": "B"},
			"B": {"Type": "Pass", "Output": "{% $x %}", "End": true}`),
			[]string{"UNASSIGNED_VARIABLE /States/B/Output: The variable 'x' has no value on the path C → B (assign it on every path to the state, or ask for it with $exists)"}},
		"not when the task fails": {machine("T", `"T": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Assign": {"x": "{% $states.result %}"}, "Next": "Done",
			"Catch": [{"ErrorEquals": ["States.ALL"], "Assign": {"why": "{% $states.errorOutput %}"}, "Next": "Undo"}]},
			"Undo": {"Type": "Pass", "Output": "{% [$x, $why] %}", "Next": "Done"}, "Done": {"Type": "Pass", "Output": "{% $why %}", "End": true}`),
			[]string{
				"UNASSIGNED_VARIABLE /States/Undo/Output: The variable 'x' has no value on the path T → (Catch) Undo (assign it on every path to the state, or ask for it with $exists)",
				"UNASSIGNED_VARIABLE /States/Done/Output: The variable 'why' has no value on the path T → Done (assign it on every path to the state, or ask for it with $exists)",
			}},
		"a loop": {machine("A", `"A": {"Type": "Pass", "Assign": {"n": 0}, "Next": "L"}, "L": {"Type": "Pass", "Assign": {"n": "{% $n + 1 %}", "last": "{% $n %}"}, "Next": "C"},
			"C": {"Type": "Choice", "Choices": [{"Condition": "{% $n < 3 and $last < 3 %}", "Next": "L"}], "Default": "E"}, "E": {"Type": "Succeed"}`), nil},
		"asked for": {machine("C", `"C": {"Type": "Choice", "Choices": [{"Condition": "{% $exists($n) and $n > 3 %}", "Next": "E"}, {"Condition": "{% $not($exists($n)) %}", "Next": "I"}], "Default": "L"},
			"I": {"Type": "Pass", "Assign": {"n": 0}, "Next": "L"}, "L": {"Type": "Pass", "Assign": {"n": "{% $n + 1 %}"}, "Next": "C"},
			"E": {"Type": "Succeed", "Output": "{% $n + ($exists($m) ? $m : 0) %}"}`), nil},
		"inside a Parallel": {machine("A", `"A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "P"}, "P": {"Type": "Parallel", "Assign": {"y": 1}, "Next": "Z", "Branches": [
			{"StartAt": "B", "States": {"B": {"Type": "Pass", "Assign": {"z": 1}, "Next": "B2"}, "B2": {"Type": "Pass", "Output": "{% $x + $y + $z %}", "End": true}}}]},
			"Z": {"Type": "Succeed", "Output": "{% $y + $z %}"}`),
			[]string{
				"UNASSIGNED_VARIABLE /States/P/Branches[0]/States/B2/Output: The variable 'y' is read here, and no state before assigns it (variables that a branch or a processor assigns end with it)",
				"UNASSIGNED_VARIABLE /States/Z/Output: The variable 'z' is read here, and no state before assigns it (variables that a branch or a processor assigns end with it)",
			}},
		"inside Maps": {machine("A", `"A": {"Type": "Pass", "Assign": {"x": 1}, "Next": "M"}, "M": {"Type": "Map", "Items": [1], "ItemSelector": {"x": "{% $x + $states.context.Map.Item.Value %}"}, "Next": "D",
			"ItemProcessor": {"StartAt": "B", "States": {"B": {"Type": "Pass", "Output": "{% $x %}", "End": true}}}},
			"D": {"Type": "Map", "End": true, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "E",
			"States": {"E": {"Type": "Pass", "Output": "{% $x %}", "End": true}}}}`),
			[]string{"UNASSIGNED_VARIABLE /States/D/ItemProcessor/States/E/Output: The variable 'x' is assigned outside of the distributed Map, whose child executions do not see it (pass its value with ItemSelector or BatchInput)"}},
		"functions": {machine("A", `"A": {"Type": "Pass", "Output": "{% [$eval('1'), $upercase('a'), $map([1], $eval)] %}", "End": true}`),
			[]string{
				"UNKNOWN_FUNCTION /States/A/Output: JSONata in Step Functions has no function $eval ($parse converts JSON text; Step Functions evaluates no text as an expression)",
				"UNKNOWN_FUNCTION /States/A/Output: JSONata in Step Functions has no function $upercase (did you mean $uppercase?)",
			}},
		"operators": {machine("A", `"A": {"Type": "Pass", "Output": "{% 'hello world'/42 %}", "End": true}`),
			[]string{"MISTYPED_OPERAND /States/A/Output: The operator / fails here: its left side is a string, not a number ($number converts a string, & joins strings)"}},
		"paths": {inPaths + `"A": {"Type": "Pass", "Assign": {"x": 1, "y.$": "$.y"}, "Next": "B"},
			"B": {"Type": "Pass", "Parameters": {"a.$": "$x.b", "c.$": "States.Format('{} {}', $y, $zz)", "LogPath": "$home", "d": ["$no"]}, "InputPath": "$w", "Next": "C"},
			"C": {"Type": "Choice", "Choices": [{"Variable": "$n", "IsPresent": false, "Next": "B"}, {"And": [{"Variable": "$n", "NumericEqualsPath": "$k"}], "Next": "B"}], "Default": "B"}}}`,
			[]string{
				"UNASSIGNED_VARIABLE /States/B/Parameters/c.$: The variable 'zz' is read here, and no state before assigns it (a path starts from $ (the input), $$ (the context object) or a variable)",
				"UNASSIGNED_VARIABLE /States/B/InputPath: The variable 'w' is read here, and no state before assigns it (a path starts from $ (the input), $$ (the context object) or a variable)",
				"UNASSIGNED_VARIABLE /States/C/Choices[1]/And[0]/Variable: The variable 'n' is read here, and no state before assigns it (a path starts from $ (the input), $$ (the context object) or a variable)",
				"UNASSIGNED_VARIABLE /States/C/Choices[1]/And[0]/NumericEqualsPath: The variable 'k' is read here, and no state before assigns it (a path starts from $ (the input), $$ (the context object) or a variable)",
			}},
		"present": {inPaths + `"A": {"Type": "Choice", "Choices": [{"Variable": "$n", "IsPresent": true, "Next": "B"}], "Default": "I"},
			"I": {"Type": "Pass", "Assign": {"n": 1}, "Next": "B"}, "B": {"Type": "Wait", "SecondsPath": "$n", "Next": "A"}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overlook := func(d asl.Diagnostic) bool { return d.Code == asl.MissingEndState }
			m, found := asl.Options{Overlook: overlook}.Parse(c.definition)
			if m == nil {
				t.Fatalf("%v", found)
			}
			var got []string
			for _, d := range dataflow.Check(c.definition, m) {
				if d.Severity != asl.SeverityWarning || d.Line != strings.Count(c.definition[:d.Span.Start], "\n")+1 {
					t.Errorf("%+v", d)
				}
				got = append(got, fmt.Sprintf("%s %s: %s (%s)", d.Code, d.Location, d.Message, d.Hint))
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func ExampleCheck() {
	const definition = `{"QueryLanguage": "JSONata", "StartAt": "Charge", "States": {
  "Charge": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "charge"},
    "Assign": {"payment": "{% $states.result.Payload.id %}"}, "Next": "Done",
    "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Refund"}]},
  "Refund": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
    "Arguments": {"FunctionName": "refund", "Payload": {"id": "{% $payment %}"}}, "Next": "Done"},
  "Done": {"Type": "Succeed"}}}`
	m, _ := asl.Parse(definition)
	fmt.Print(asl.Render(dataflow.Check(definition, m), definition, "pay.asl.json"))
	// Output:
	// pay.asl.json:6:67: warning UNASSIGNED_VARIABLE: The variable 'payment' has no value on the path Charge → (Catch) Refund (at /States/Refund/Arguments/Payload/id)
	//   6 | …rguments": {"FunctionName": "refund", "Payload": {"id": "{% $payment %}"}}, "Next": "Done"},
	//     |                                                              ^^^^^^^^
	//     = assign it on every path to the state, or ask for it with $exists
}

// A machine with many states and variables is checked quickly.
func TestManyStates(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	const n = 3000
	for i := range n {
		fmt.Fprintf(&b, `"S%d": {"Type": "Pass", "Assign": {"v%d": "{%% $missing%d %%}"}, "Next": "S%d"}, `, i, i%50, i, i+1)
	}
	fmt.Fprintf(&b, `"S%d": {"Type": "Succeed"}`, n)
	definition := machine("S0", b.String())
	m, found := asl.Parse(definition)
	if m == nil {
		t.Fatalf("%v", found)
	}
	if got := dataflow.Check(definition, m); len(got) != 1000 {
		t.Errorf("%d findings", len(got))
	}
}

// TestRecordedDefinitions checks the definitions of the recordings of the real service. Where something is found, the
// recorded execution failed for that reason.
func TestRecordedDefinitions(t *testing.T) {
	t.Parallel()
	from, err := recordings.FS()
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(from, "cases/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var got []string
	for _, file := range files {
		text, err := fs.ReadFile(from, file)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			Steps []struct {
				Params struct {
					Definition struct {
						JSON json.RawMessage `json:"$json"`
					} `json:"definition"`
				}
			}
		}
		_ = json.Unmarshal(text, &c) // steps of another form have no definition
		for _, s := range c.Steps {
			definition := string(s.Params.Definition.JSON)
			m, _ := asl.Parse(definition)
			if m == nil || seen[definition] {
				continue
			}
			seen[definition] = true
			for _, f := range dataflow.Check(definition, m) {
				got = append(got, path.Base(file)+" "+string(f.Code)+" "+f.Location)
			}
		}
	}
	want := []string{
		"assign_reference_variables.undefined_reference.BASE_UNDEFINED_ARGUMENTS_FIELD.json UNASSIGNED_VARIABLE /States/State0/Arguments/FunctionName",
		"assign_reference_variables.undefined_reference.BASE_UNDEFINED_ASSIGN.json UNASSIGNED_VARIABLE /States/State0/Assign/result",
		"assign_reference_variables.undefined_reference.BASE_UNDEFINED_OUTPUT_FIELD.json UNASSIGNED_VARIABLE /States/State0/Output/result",
		"assign_reference_variables.undefined_reference.BASE_UNDEFINED_OUTPUT_MULTIPLE_STATES.json UNASSIGNED_VARIABLE /States/State2/Output/result",
		"math_operations_jsonata.math_random_seeded.json UNKNOWN_FUNCTION /States/State_0/Output/FunctionResult",
	}
	if !slices.Equal(got, want) || len(seen) < 300 {
		t.Errorf("%d definitions: %q", len(seen), got)
	}
}
