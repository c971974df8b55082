package asl_test

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"stepback/asl"
	"stepback/internal/recordings"
)

// recordedCall is one call with a definition from a recorded conversation with the real service.
type recordedCall struct {
	name       string
	op         string
	definition string
	express    bool
	refused    bool   // the service rejected the definition
	message    string // the recorded error message; empty when unknown
	diagnosed  []diagnosed
}

// diagnosed is a recorded element of the ValidateStateMachineDefinition response.
type diagnosed struct{ Severity, Code, Message, Location string }

// single reports whether the definition is one state, not a machine.
func (c recordedCall) single() bool {
	return c.op == "TestState" && !strings.Contains(c.definition, `"States"`) || singleState.MatchString(c.definition)
}

var (
	singleState = regexp.MustCompile(`^\s*\{\s*("Comment":\s*"[^"]*",\s*)?"Type"`)
	placeholder = regexp.MustCompile(`⟦[^⟧]*⟧`)
	activityARN = regexp.MustCompile(`⟦s\d+\.activityArn⟧`)
)

// recordedCalls reads every recorded definition.
func recordedCalls(tb testing.TB) []recordedCall {
	tb.Helper()
	from, err := recordings.FS()
	if err != nil {
		tb.Fatal(err)
	}
	files, err := fs.Glob(from, "cases/*/*.json")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no recordings of the real service: %v", err)
	}
	var calls []recordedCall
	for _, file := range files {
		calls = append(calls, callsOf(tb, from, file)...)
	}
	return calls
}

func callsOf(tb testing.TB, from fs.FS, file string) []recordedCall {
	tb.Helper()
	text, err := fs.ReadFile(from, file)
	if err != nil {
		tb.Fatal(err)
	}
	var c struct {
		ID    string
		Steps []struct {
			Op     string
			Params json.RawMessage
			Check  []struct {
				Value     json.RawMessage
				Exception struct{ Type, Text string }
			}
		}
	}
	if err := json.Unmarshal(text, &c); err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	var calls []recordedCall
	for _, s := range c.Steps {
		var params struct {
			Definition json.RawMessage
			Type       string
		}
		if json.Unmarshal(s.Params, &params) != nil || params.Definition == nil {
			continue
		}
		call := recordedCall{name: c.ID, op: s.Op, definition: definitionText(tb, params.Definition),
			express: params.Type == "EXPRESS"}
		for _, check := range s.Check {
			call.judge(check.Value, check.Exception.Type, check.Exception.Text)
		}
		calls = append(calls, call)
	}
	return calls
}

// definitionText unwraps a recorded definition and fills in its placeholders.
func definitionText(tb testing.TB, raw json.RawMessage) string {
	tb.Helper()
	var wrapped struct {
		JSON json.RawMessage `json:"$json"`
	}
	text := ""
	if err := json.Unmarshal(raw, &text); err != nil {
		if err := json.Unmarshal(raw, &wrapped); err != nil {
			tb.Fatal(err)
		}
		text = string(wrapped.JSON)
	}
	text = activityARN.ReplaceAllString(text, "arn:aws:states:us-east-1:123456789012:activity:work")
	return placeholder.ReplaceAllString(text, "x1")
}

// judge stores the service's verdict about the definition itself.
func (c *recordedCall) judge(value json.RawMessage, exception, text string) {
	var answer struct {
		Error       struct{ Code, Message string }
		Result      string
		Diagnostics []diagnosed
	}
	if value != nil && json.Unmarshal(value, &answer) != nil {
		return // a response of another kind
	}
	message := answer.Error.Message
	if exception != "" {
		answer.Error.Code = exception
		_, message, _ = strings.Cut(text, " operation: ")
	}
	if answer.Error.Code == "InvalidDefinition" && !strings.HasPrefix(message, "TestState API") {
		c.refused = true
		if message != "⟦*⟧" {
			c.message = message
		}
	}
	if answer.Result == "FAIL" {
		c.refused = true
		c.diagnosed = answer.Diagnostics
	}
}

func (c recordedCall) parse() (*asl.Machine, []asl.Diagnostic) {
	o := asl.Options{Express: c.express}
	if c.single() {
		return o.ParseState("StateName", c.definition)
	}
	return o.Parse(c.definition)
}

func TestRecordedDefinitionsAreJudgedAsByTheService(t *testing.T) {
	t.Parallel()
	for _, c := range recordedCalls(t) {
		m, diagnostics := c.parse()
		if refused := m == nil; refused != c.refused {
			t.Errorf("%s: refused %v, recorded %v\n%s", c.name, refused, c.refused,
				asl.Render(diagnostics, c.definition, c.op))
		}
		if c.message != "" && asl.InvalidDefinition(diagnostics) != c.message {
			t.Errorf("%s:\n got %s\nwant %s", c.name, asl.InvalidDefinition(diagnostics), c.message)
		}
		if c.diagnosed != nil {
			compareDiagnosed(t, c, diagnostics)
		}
	}
}

func compareDiagnosed(t *testing.T, c recordedCall, diagnostics []asl.Diagnostic) {
	t.Helper()
	var got []diagnosed
	for _, d := range diagnostics {
		if d.Severity == asl.SeverityError {
			got = append(got, diagnosed{string(d.Severity), string(d.Code), d.Message, d.Location})
		}
	}
	if len(got) != len(c.diagnosed) {
		t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.diagnosed)
		return
	}
	for i := range got {
		if got[i] != c.diagnosed[i] {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got[i], c.diagnosed[i])
		}
	}
}

func TestRecordedDefinitionsPrintAndParseToEqualMachines(t *testing.T) {
	t.Parallel()
	for _, c := range recordedCalls(t) {
		m, _ := c.parse()
		if m == nil || c.single() {
			continue
		}
		text := asl.Print(m)
		again, diagnostics := asl.Options{Express: c.express}.Parse(text)
		if again == nil {
			t.Errorf("%s: the printed definition is refused:\n%s", c.name, asl.Render(diagnostics, text, "printed"))
			continue
		}
		if diff := firstDifference(m, again); diff != "" {
			t.Errorf("%s: %s\n%s", c.name, diff, text)
		}
	}
}
