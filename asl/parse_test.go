package asl_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/asl"
)

func ExampleParse() {
	definition := `{
  "StartAt": "Pay",
  "States": {
    "Pay": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Nxt": "Done"},
    "Done": {"Type": "Succeed"}
  }
}`
	_, diagnostics := asl.Parse(definition)
	for _, d := range diagnostics {
		fmt.Printf("%d:%d %s\n", d.Line, d.Column, d)
	}
	// Output:
	// 4:75 SCHEMA_VALIDATION_FAILED: Field 'Nxt' is not supported at /States/Pay
	// 4:5 SCHEMA_VALIDATION_FAILED: This object should have only one of the following fields: [Next, End] at /States/Pay
}

func ExamplePrint() {
	m := &asl.Machine{Graph: asl.Graph{StartAt: "Pay", States: []*asl.State{{
		Name: "Pay", Type: asl.Task, Resource: "arn:aws:states:::lambda:invoke", End: true,
		Retry: []asl.Retrier{{ErrorEquals: []string{"States.Timeout"}, IntervalSeconds: 2, MaxAttempts: 3,
			BackoffRate: 1.5, FullJitter: true}},
	}}}}
	fmt.Print(asl.Print(m))
	// Output:
	// {
	//   "StartAt": "Pay",
	//   "States": {
	//     "Pay": {
	//       "Type": "Task",
	//       "Resource": "arn:aws:states:::lambda:invoke",
	//       "Retry": [
	//         {
	//           "ErrorEquals": [
	//             "States.Timeout"
	//           ],
	//           "IntervalSeconds": 2,
	//           "MaxAttempts": 3,
	//           "BackoffRate": 1.5,
	//           "JitterStrategy": "FULL"
	//         }
	//       ],
	//       "End": true
	//     }
	//   }
	// }
}

func TestDefaultsAreFilledIn(t *testing.T) {
	t.Parallel()
	m, diagnostics := asl.Parse(`{"StartAt": "T", "QueryLanguage": "JSONPath", "States": {
"T": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "ResultPath": null, "TimeoutSecondsPath": "$.t", "HeartbeatSeconds": 5,
  "Retry": [{"ErrorEquals": ["A"]}, {"ErrorEquals": ["B"], "MaxAttempts": 0, "MaxDelaySeconds": 7, "JitterStrategy": "FULL"}], "Next": "M"},
"M": {"Type": "Map", "QueryLanguage": "JSONata", "Iterator": {"StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}, "End": true}}}`)
	if diagnostics != nil {
		t.Fatal(shown(diagnostics))
	}
	task, mapped := m.State("T"), m.State("M")
	for _, c := range []struct{ what, got, want any }{
		{"version", m.Version, "1.0"},
		{"retrier", task.Retry[0], asl.Retrier{ErrorEquals: []string{"A"}, IntervalSeconds: 1, MaxAttempts: 3,
			BackoffRate: 2}},
		{"second retrier", task.Retry[1], asl.Retrier{ErrorEquals: []string{"B"}, IntervalSeconds: 1, BackoffRate: 2,
			MaxDelaySeconds: 7, FullJitter: true}},
		{"result path", task.ResultPath, asl.Path{Present: true, Null: true}},
		{"input path", task.InputPath, asl.Path{}},
		{"timeout path", task.TimeoutSeconds.Path, "$.t"},
		{"timeout literal", task.TimeoutSeconds.Literal == nil, true},
		{"heartbeat", task.HeartbeatSeconds.Literal.Text(), "5"},
		{"language", task.QueryLanguage, asl.JSONPath},
		{"language of the map", mapped.QueryLanguage, asl.JSONata},
		{"language inside the map", mapped.Map.Processor.States[0].QueryLanguage, asl.JSONPath},
		{"mode", mapped.Map.Distributed, false},
	} {
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
}

// A path checker knows more than the parser, but the service's messages take precedence.
func TestReferencePathsAreRefusedInTheWordsOfTheService(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"Test":                   "Reference path didn't start with '$'",
		"States.ArrayLength($)":  "Reference path didn't start with '$'",
		"$.a[$$.Execution.Id]S":  "'[' must be followed by ' or '['",
		"$.a[-1]":                "'[' must be followed by ' or '['",
		"$.a[":                   "'[' must be followed by ' or '['",
		"$.a[*]":                 "Illegal use of '*'",
		"$.a[0,1]":               "Illegal use of ','",
		"$['a','b']":             "Illegal use of ','",
		"$..a":                   "Illegal use of '..'",
		"$.a[?(@.b == 'c')]":     "Illegal use of '@'",
		"$.a b":                  "no",
		"$['a*'].b[ 0 ][\"c\"]":  "no",
		"$$.Execution.Input.a":   "no",
		"$.abc.['def ghi'].d[1]": "no",
	} {
		definition := inState(`"Type": "Wait", "SecondsPath": ` + strconv.Quote(path) + `, "End": true`)
		for _, syntax := range []asl.Syntax{{ReferencePath: func(string) error { return errors.New("no") }},
			{ReferencePath: func(string) error { return nil }}} {
			_, diagnostics := asl.Options{Syntax: syntax}.Parse(definition)
			accepted := want == "no" && syntax.ReferencePath("") == nil
			if accepted != (len(diagnostics) == 0) || !accepted && !strings.HasSuffix(diagnostics[0].Message,
				"Value is not a Reference Path: "+want) {
				t.Errorf("%s: %v, want %s", path, diagnostics, want)
			}
		}
	}
}

func TestTextThatIsNotUTF8IsRefused(t *testing.T) {
	t.Parallel()
	m, found := asl.Parse("{\"StartAt\": \"\xff\", \"States\": {\"\xff\": {\"Type\": \"Succeed\"}}}")
	if got := shown(found); m != nil || got != "1:1 ERROR UNREADABLE_DEFINITION The text is not UTF-8 @ " {
		t.Errorf("got %v, %s", m, got)
	}
}

func TestSyntaxHooksDecide(t *testing.T) {
	t.Parallel()
	refuse := func(string) error { return errors.New("no") }
	definition := inState(`"Type": "Pass", "InputPath": "$.a", "ResultPath": "$.b", "Parameters": {"c.$": "States.UUID()", "d.$": "$.d"}, "End": true`)
	for _, c := range []struct {
		name   string
		syntax asl.Syntax
		want   string
	}{
		{"path", asl.Syntax{Path: refuse}, "3:30 " + schema +
			"Value must be a valid JSONPath. @ /States/X/InputPath\n" +
			"3:104 " + schema + "The value for the field 'd.$' must be a valid JSONPath or a valid intrinsic function call @ /States/X/Parameters"},
		{"reference path", asl.Syntax{ReferencePath: refuse}, "3:51 " + schema +
			"Value is not a Reference Path: no @ /States/X/ResultPath"},
		{"intrinsic", asl.Syntax{Intrinsic: refuse}, "3:80 " + schema +
			"The value for the field 'c.$' must be a valid JSONPath or a valid intrinsic function call @ /States/X/Parameters"},
	} {
		_, diagnostics := asl.Options{Syntax: c.syntax}.Parse(definition)
		if got := shown(diagnostics); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestParseStateNeedsNoTargets(t *testing.T) {
	t.Parallel()
	m, diagnostics := asl.Options{}.ParseState("S", `{"Type": "Pass", "Next": "Elsewhere"}`)
	if m == nil || m.StartAt != "S" || m.States[0].Next != "Elsewhere" {
		t.Errorf("%v %s", m, shown(diagnostics))
	}
	_, diagnostics = asl.Options{}.ParseState("S", "{\n\"Type\": \"Parallel\", \"Branches\": [], \"Next\": \"E\"}")
	if got, want := shown(diagnostics), "2:21 "+schema+"Value cannot be empty @ /States/S/Branches"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, diagnostics = asl.Options{}.ParseState("S", `{"End": true}`)
	if got, want := shown(diagnostics), "1:1 "+schema+"These fields are required: [Type] @ /States/S"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDiagnosticsAreBounded(t *testing.T) {
	t.Parallel()
	_, diagnostics := asl.Parse(`{"StartAt": "A", "States": {"A": {"Type": "Parallel", "End": true, "Branches": [` +
		strings.Repeat("1,", 5000) + `1]}}}`)
	if len(diagnostics) != 1000 {
		t.Errorf("%d diagnostics", len(diagnostics))
	}
}

// Retriers within the language's bounds survive printing and parsing, whatever their numbers.
func TestRetriersSurvivePrinting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := asl.Retrier{
			ErrorEquals:     rapid.SliceOfN(rapid.StringMatching(`[A-Za-z]{1,9}`), 1, 4).Draw(t, "errors"),
			IntervalSeconds: rapid.Int64Range(1, 99_999_999).Draw(t, "interval"),
			MaxAttempts:     rapid.Int64Range(0, 99_999_999).Draw(t, "attempts"),
			BackoffRate:     rapid.Float64Range(1, 1e9).Draw(t, "rate"),
			MaxDelaySeconds: rapid.Int64Range(0, 31_622_400).Draw(t, "cap"),
			FullJitter:      rapid.Bool().Draw(t, "jitter"),
			Comment:         rapid.String().Draw(t, "comment"),
		}
		m := &asl.Machine{Graph: asl.Graph{StartAt: "T", States: []*asl.State{{
			Name: "T", Type: asl.Task, Resource: "arn:aws:states:::lambda:invoke", End: true,
			Retry: []asl.Retrier{want},
		}}}}
		got, diagnostics := asl.Parse(asl.Print(m))
		if got == nil {
			t.Fatal(shown(diagnostics))
		}
		if fmt.Sprint(got.States[0].Retry[0]) != fmt.Sprint(want) {
			t.Fatalf("got %v, want %v", got.States[0].Retry[0], want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`,
		inMap(distributed, `"ItemBatcher": {"MaxItemsPerBatch": 1}`),
		inState(task + `"Retry": [{"ErrorEquals": ["State.ALL"]}]`),
		`{"QueryLanguage":"JSONata","StartAt":"C","States":{"C":{"Type":"Choice","Choices":[{"Condition":"{% $x %}","Next":"C"}]}}}`,
		"{\"StartAt\":\"\\u0041\",\n\t\"St\xffates\":[\"表\"", `{"States":{"A":{"Type":"Fail"},"A":{}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, definition string) {
		m, diagnostics := asl.Parse(definition)
		if (m == nil) != asl.HasErrors(diagnostics) {
			t.Fatalf("machine %v, diagnostics %s", m, shown(diagnostics))
		}
		for _, d := range diagnostics {
			if d.Line < 1 || d.Column < 1 || d.Span.Start < 0 || d.Span.Start > len(definition) {
				t.Fatalf("%v", d)
			}
		}
		asl.Render(diagnostics, definition, "fuzz")
		if m == nil {
			return
		}
		text := asl.Print(m)
		again, diagnostics := asl.Parse(text)
		if again == nil {
			t.Fatalf("printed as %s\n%s", text, asl.Render(diagnostics, text, "printed"))
		}
		if d := firstDifference(m, again); d != "" {
			t.Fatalf("%s\n%s", d, text)
		}
	})
}

// hundredStates returns a machine with 100 states of the common types.
func hundredStates() string {
	var b strings.Builder
	b.WriteString(`{"StartAt": "S0", "States": {`)
	for i := range 33 {
		fmt.Fprintf(&b, `"S%d": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f", "Payload.$": "$.a"},
"Retry": [{"ErrorEquals": ["Lambda.TooManyRequestsException"], "IntervalSeconds": 2, "MaxAttempts": 6, "BackoffRate": 2.0}],
"Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "End"}], "ResultPath": "$.b", "Next": "C%d"},`, i, i)
		fmt.Fprintf(&b, `"C%d": {"Type": "Choice", "Choices": [{"Variable": "$.b.ok", "BooleanEquals": true, "Next": "P%d"}], "Default": "End"},`, i, i)
		next := fmt.Sprintf(`"Next": "S%d"`, i+1)
		if i == 32 {
			next = `"Next": "End"`
		}
		fmt.Fprintf(&b, `"P%d": {"Type": "Pass", "Parameters": {"a.$": "$.b", "n": 1}, %s},`, i, next)
	}
	b.WriteString(`"End": {"Type": "Succeed"}}}`)
	return b.String()
}

func BenchmarkParse100States(b *testing.B) {
	definition := hundredStates()
	b.ReportAllocs()
	b.SetBytes(int64(len(definition)))
	for b.Loop() {
		if m, diagnostics := asl.Parse(definition); m == nil {
			b.Fatal(shown(diagnostics))
		}
	}
}

func BenchmarkPrint100States(b *testing.B) {
	m, _ := asl.Parse(hundredStates())
	b.ReportAllocs()
	for b.Loop() {
		_ = asl.Print(m)
	}
}
