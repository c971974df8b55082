package lsp

import (
	"slices"
	"strings"
	"testing"

	protocol "github.com/tliron/glsp/protocol_3_16"
)

// completes opens a text with a | at the cursor, and returns the labels of the completions there and the text after
// the completion with the label chosen, with a | behind it; "" if there is none.
func (e *editor) completes(uri, text, chosen string) (labels []string, after string) {
	e.t.Helper()
	offset := strings.Index(text, "|")
	text = text[:offset] + text[offset+1:]
	e.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri, "languageId": "json", "version": 1, "text": text}})
	var items []struct {
		Label    string
		TextEdit protocol.TextEdit
	}
	l := newLines(text)
	p := l.position(offset)
	if err := e.ask("textDocument/completion", place(uri, p.Line, p.Character), &items); err != nil {
		e.t.Fatal(err)
	}
	for _, i := range items {
		labels = append(labels, i.Label)
		if i.Label == chosen {
			start, end := l.offset(i.TextEdit.Range.Start), l.offset(i.TextEdit.Range.End)
			after = text[:start] + i.TextEdit.NewText + "|" + text[end:]
		}
	}
	return labels, after
}

// Machines whose first state is completed: in JSON, which an editor may not have closed, in YAML, and in a template.
const (
	inJSON    = "{\"StartAt\":\"Pay\",\"States\":{\n\"Pay\":{\"Type\":\"Task\",\"Resource\":\"arn:aws:states:::dynamodb:putItem\",\n@\n\"Next\":\"Done\"},\n\"Done\":{\"Type\":\"Succeed\"}}}"
	inJSONata = "{\"QueryLanguage\":\"JSONata\",\"StartAt\":\"Set\",\"States\":{\n\"Set\":{\"Type\":\"Pass\",\"Assign\":{\"total\":1},\"Next\":\"Pay\"},\n" +
		"\"Pay\":{\"Type\":\"Task\",\"Resource\":\"arn:aws:states:::aws-sdk:s3:getObject\",\n@\n\"Next\":\"Done\"},\n\"Done\":{\"Type\":\"Succeed\"}}}"
	inYAML     = "StartAt: Pay\nStates:\n  Pay:\n    Type: Task\n    Resource: arn:aws:lambda:us-east-1:123456789012:function:pay\n@\n    Next: Done\n  Done: {Type: Succeed}\n"
	inTemplate = "Resources:\n  M:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n      Definition:\n        StartAt: Pay\n        States:\n" +
		"          Pay:\n            Type: Pass\n@\n"
	inString = `{"Resources":{"M":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"RoleArn":"arn:aws:iam::123456789012:role/r",` + "\n" +
		`"DefinitionString":"{\"StartAt\":\"Pay\",\"States\":{\"Pay\":{\"Type\":\"Pass\",@}}}"}}}}`
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	e := edits(t)
	for name, c := range map[string]struct {
		file, around, line string
		has, lacks         string // labels
		chosen, want       string
	}{
		"a field": {"json", inJSON, `"Ret|",`, "Retry Catch TimeoutSeconds Parameters ResultPath", "Arguments Output Type Resource Choices",
			"Retry", `"Retry|",`},
		"a field without a closing quote":  {"json", inJSON, `"Ret|`, "Retry", "Type", "Retry", `"Retry": |`},
		"a field without quotes":           {"json", inJSON, `|`, "Retry", "Type", "Retry", `"Retry": |`},
		"a field that has a value":         {"json", inJSON, `"R|": 1,`, "ResultPath", "", "ResultPath", `"ResultPath|": 1,`},
		"a field of JSONata":               {"json", inJSONata, `"|"`, "Arguments Output Retry", "Parameters ResultPath", "Output", `"Output|"`},
		"a field of a retrier":             {"json", inJSON, `"Retry":[{"|"}],`, "ErrorEquals IntervalSeconds JitterStrategy", "Next Type", "", ""},
		"a field of a retrier, unclosed":   {"json", inJSON, `"Retry":[{"` + "|", "ErrorEquals", "Next", "ErrorEquals", `"Retry":[{"ErrorEquals": |`},
		"a member of the service's input":  {"json", inJSON, `"Parameters":{"|"},`, "TableName Item ConditionExpression", "Type", "", ""},
		"a member in the SDK's spelling":   {"json", inJSONata, `"Arguments":{"|"},`, "Bucket Key SseCustomerKey", "SSECustomerKey", "", ""},
		"a value":                          {"json", inJSON, `"Retry":[{"JitterStrategy":"|"}],`, "FULL NONE", "", "FULL", `"Retry":[{"JitterStrategy":"FULL|"}],`},
		"errors of an integration":         {"json", inJSON, `"Retry":[{"ErrorEquals":["|"]}],`, "DynamoDB.ConditionalCheckFailedException DynamoDB.AmazonDynamoDBException DynamoDB.SdkClientException States.Timeout States.ALL", "DynamoDb.ConditionalCheckFailedException", "", ""},
		"errors of an action of the SDK":   {"json", inJSONata, `"Catch":[{"ErrorEquals":["S3.NoSuchKeyException","|"]}],`, "S3.S3Exception States.TaskFailed", "S3.NoSuchKeyException", "", ""},
		"errors of a function":             {"yaml", inYAML, `    Retry: [{ErrorEquals: [Lam|]}]`, "Lambda.TooManyRequestsException Sandbox.Timedout", "", "Lambda.Unknown", `    Retry: [{ErrorEquals: [Lambda.Unknown|]}]`},
		"errors in a list of YAML":         {"yaml", inYAML, "    Retry:\n      - ErrorEquals:\n          - |", "Lambda.Unknown", "", "", ""},
		"a state":                          {"json", inJSON, `"Catch":[{"ErrorEquals":["States.ALL"],"Next":"|"}],`, "Pay Done", "", "Done", `"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Done|"}],`},
		"a function of JSONata":            {"json", inJSONata, `"Output":"{% $up| %}",`, "uppercase sum partition states total", "eval", "uppercase", `"Output":"{% $uppercase| %}",`},
		"a member of $states":              {"json", inJSONata, `"Output":"{% $states.re| %}",`, "input result errorOutput context", "total", "result", `"Output":"{% $states.result| %}",`},
		"a member of the context object":   {"json", inJSONata, `"Output":"{% $states.context.State.| %}",`, "RetryCount Name", "Token", "", ""},
		"an unfinished expression":         {"json", inJSONata, `"Output":"{% $states.|`, "result", "", "", ""},
		"an expression in YAML":            {"yaml", "QueryLanguage: JSONata\n" + inYAML, `    Output: '{% $states.| %}'`, "result", "", "", ""},
		"a function of JSONPath":           {"json", inJSON, `"Parameters":{"Id.$":"States.F|"},`, "States.Format States.UUID", "", "States.Format", `"Parameters":{"Id.$":"States.Format(|"},`},
		"the context object in JSONPath":   {"json", inJSON, `"Parameters":{"Id.$":"$$.Execution.|"},`, "Id Input StartTime", "", "Name", `"Parameters":{"Id.$":"$$.Execution.Name|"},`},
		"a field in YAML":                  {"yaml", inYAML, `    |`, "Retry Catch", "Type", "Retry", `    Retry: |`},
		"a field in YAML, begun":           {"yaml", inYAML, `    Time|`, "TimeoutSeconds", "Type", "TimeoutSeconds", `    TimeoutSeconds: |`},
		"a field in a list of YAML":        {"yaml", inYAML, "    Retry:\n      - |", "ErrorEquals MaxAttempts", "Next", "ErrorEquals", "    Retry:\n      - ErrorEquals: |"},
		"a field in braces of YAML":        {"yaml", inYAML, "    Retry: [{|}]", "ErrorEquals", "Next", "ErrorEquals", "    Retry: [{ErrorEquals: |}]"},
		"a value in YAML":                  {"yaml", inYAML, "    QueryLanguage: |", "JSONPath JSONata", "", "JSONata", "    QueryLanguage: JSONata|"},
		"a field in a template":            {"yaml", inTemplate, "            |", "Result Next Assign", "Retry", "", ""},
		"a state in a template":            {"yaml", inTemplate, "            Next: |", "Pay", "", "", ""},
		"a field in a string of JSON":      {"json", inString, `\"N|\"`, "Next", "Type", "Next", `\"Next|\"`},
		"not in a definition":              {"json", `{"name":"x",@ "a":1}`, `"|"`, "", "Type StartAt Retry", "", ""},
		"not in the fields of an input":    {"json", inJSON, `"ResultSelector":{"|":1},`, "", "Type TableName", "", ""},
		"an unknown type":                  {"json", strings.Replace(inJSON, `"Type":"Task"`, `"Type":"|"`, 1), "", "Task Pass Choice Wait Succeed Fail Parallel Map", "", "Wait", ""},
		"the fields of a machine":          {"json", "{@}", `"|"`, "", "StartAt", "", ""},
		"the fields of an unfinished one":  {"asl.json", "{@}", `"|"`, "StartAt States TimeoutSeconds", "Type", "", ""},
		"the fields of a state of no type": {"json", strings.Replace(inJSON, `"Type":"Task",`, `"|",`, 1), "", "Type Branches Choices End", "Resource", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			uri := "file:///work/" + strings.ReplaceAll(name, " ", "-") + "." + strings.Replace(c.file, "asl.json", "asl.json", 1)
			if c.file != "asl.json" && c.around != inTemplate && c.around != inString && !strings.Contains(c.around, `"name"`) && c.around != "{@}" {
				uri = strings.TrimSuffix(uri, "."+c.file) + ".asl." + c.file
			}
			labels, after := e.completes(uri, strings.Replace(c.around, "@", c.line, 1), c.chosen)
			for _, label := range strings.Fields(c.has) {
				if !slices.Contains(labels, label) {
					t.Errorf("lacks %s: %v", label, labels)
				}
			}
			for _, label := range strings.Fields(c.lacks) {
				if slices.Contains(labels, label) {
					t.Errorf("has %s", label)
				}
			}
			if want := strings.Replace(c.around, "@", c.want, 1); c.want != "" && after != want {
				t.Errorf("gives\n%s\nwant\n%s", after, want)
			}
		})
	}
}

func TestStatesAreCompletedInTheirGraph(t *testing.T) {
	t.Parallel()
	e := edits(t)
	const uri = "file:///work/pay.asl.yaml"
	for change, want := range map[string]string{
		"Next: |Each": "Pay Each", "Next: |": "Pay Each", "StartAt: |": "Pay Each", "      StartAt: |One": "One", "Next: Ea|": "Pay Each",
	} {
		text := strings.Replace(navigable, strings.TrimRight(strings.Split(change, "|")[0], "Ea")+map[bool]string{true: "One", false: "Each"}[strings.Contains(change, "One")],
			change, 1)
		if strings.HasPrefix(change, "StartAt") {
			text = strings.Replace(navigable, "StartAt: Pay", change, 1)
		}
		if got, _ := e.completes(uri, text, ""); strings.Join(got, " ") != want {
			t.Errorf("%s completes %q, want %q", change, got, want)
		}
	}
}

func TestFormatting(t *testing.T) {
	t.Parallel()
	e := edits(t)
	formats := func(uri, text string) (string, error) {
		t.Helper()
		e.opens(uri, text)
		var found []protocol.TextEdit
		err := e.ask("textDocument/formatting", map[string]any{"textDocument": map[string]any{"uri": uri},
			"options": map[string]any{"tabSize": 2, "insertSpaces": true}}, &found)
		return e.applied(text, found), err
	}
	for name, c := range map[string]struct{ file, text, want string }{
		"JSON": {"a.asl.json", `{"StartAt":"A", "States":{"A":{"Type":"Wait","Seconds":1.0e1,"End":true}}}`,
			"{\n  \"StartAt\": \"A\",\n  \"States\": {\n    \"A\": {\n      \"Type\": \"Wait\",\n      \"Seconds\": 1.0e1,\n      \"End\": true\n    }\n  }\n}\n"},
		"YAML": {"b.asl.yaml", "# pays orders\nStartAt:   A # first\n\nStates:\n     A:\n       Type: Task   # calls\n       Resource: \"arn:aws:lambda:us-east-1:123456789012:function:f\"\n" +
			"       Retry:\n       # busy\n       - {ErrorEquals: [Busy], MaxAttempts: 3}   # brief\n       End: yes\n",
			"# pays orders\nStartAt: A # first\n\nStates:\n  A:\n    Type: Task # calls\n    Resource: \"arn:aws:lambda:us-east-1:123456789012:function:f\"\n" +
				"    Retry:\n      # busy\n      - {ErrorEquals: [Busy], MaxAttempts: 3} # brief\n    End: yes\n"},
		"CRLF": {"c.asl.yaml", "StartAt:  A\r\nStates:\r\n  A: {Type:  Succeed}\r\n", "StartAt: A\r\nStates:\r\n  A: {Type: Succeed}\r\n"},
		"a template": {"template.yaml", "Resources:\n    M:   # ours\n        Type: AWS::Serverless::StateMachine\n        Properties:\n            Role: !GetAtt R.Arn\n" +
			"            Definition:\n                StartAt: A\n                States: {A: {Type: Succeed}}\n",
			"Resources:\n  M: # ours\n    Type: AWS::Serverless::StateMachine\n    Properties:\n      Role: !GetAtt R.Arn\n      Definition:\n        StartAt: A\n        States: {A: {Type: Succeed}}\n"},
		"a file without a definition": {"compose.yaml", "services:   {}\n", "services:   {}\n"},
		"unfinished text":             {"d.asl.json", `{"StartAt":`, `{"StartAt":`},
	} {
		got, err := formats("file:///work/"+c.file, c.text)
		if err != nil || got != c.want {
			t.Errorf("%s is formatted as %v\n%s\nwant\n%s", name, err, got, c.want)
		}
		if again, err := formats("file:///work/"+c.file, got); err != nil || again != got {
			t.Errorf("%s, formatted twice, is %v\n%s", name, err, again)
		}
	}
}
