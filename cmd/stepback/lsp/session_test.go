package lsp

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/cmd/stepback/terminal"
)

// editor is a client of the server.
type editor struct {
	*jsonrpc2.Conn

	t         testing.TB
	ended     chan error // the result of Run
	published chan published
}

// published are the diagnostics of a document, with codes that are strings.
type published struct {
	URI         string       `json:"uri"`
	Version     int          `json:"version"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type diagnostic struct {
	Range    protocol.Range              `json:"range"`
	Severity protocol.DiagnosticSeverity `json:"severity"`
	Source   string                      `json:"source"`
	Code     string                      `json:"code"`
	Message  string                      `json:"message"`
}

// pipes is the client's end of the stream.
type pipes struct {
	io.Reader
	io.WriteCloser
}

// edits starts the server and initializes it.
func edits(t testing.TB) *editor {
	t.Helper()
	e := &editor{t: t, ended: make(chan error, 1), published: make(chan published, 100)}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go func() {
		e.ended <- (&LSP{Version: "test"}).Run(t.Context(), terminal.Streams{In: in, Out: out, Err: t.Output()})
	}()
	e.Conn = jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(pipes{fromServer, toServer},
		jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
			var p published
			if req.Method == protocol.ServerTextDocumentPublishDiagnostics {
				if err := json.Unmarshal(*req.Params, &p); err != nil {
					return nil, err
				}
				e.published <- p
			}
			return nil, nil
		}))
	t.Cleanup(func() { _ = e.Close() })
	var got protocol.InitializeResult
	if err := e.ask("initialize", map[string]any{"capabilities": map[string]any{}}, &got); err != nil {
		t.Fatal(err)
	}
	if got.ServerInfo == nil || got.ServerInfo.Name != "stepback" {
		t.Errorf("the server is %v", got.ServerInfo)
	}
	e.tell("initialized", map[string]any{})
	return e
}

// ask sends a request and decodes its result.
func (e *editor) ask(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	return e.Call(ctx, method, params, result)
}

// tell sends a notification.
func (e *editor) tell(method string, params any) {
	e.t.Helper()
	if err := e.Notify(e.t.Context(), method, params); err != nil {
		e.t.Fatal(err)
	}
}

// opens opens a document and returns its diagnostics.
func (e *editor) opens(uri, text string) []diagnostic {
	e.t.Helper()
	e.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri, "languageId": "json", "version": 1, "text": text}})
	return e.shows(uri, 1)
}

// changes replaces the text of a document and returns its diagnostics.
func (e *editor) changes(uri string, version int, changes ...map[string]any) []diagnostic {
	e.t.Helper()
	e.tell("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": uri, "version": version}, "contentChanges": changes})
	return e.shows(uri, version)
}

// shows waits for the diagnostics of a version of a document.
func (e *editor) shows(uri string, version int) []diagnostic {
	e.t.Helper()
	for {
		select {
		case p := <-e.published:
			if p.URI == uri && p.Version == version {
				return p.Diagnostics
			}
		case <-e.t.Context().Done():
			e.t.Fatalf("no diagnostics of version %d of %s", version, uri)
		}
	}
}

// lines 0 to 5; 😀 is two UTF-16 code units, and é one.
const editorsMachine = "{\"StartAt\":\"Pay\",\r\n" +
	"\"States\":{\r\n" +
	"\"Pay\":{\"Type\":\"Task\",\"Comment\":\"😀é\",\"Resource\":\"arn:aws:lambda:us-east-1:123456789012:function:pay\",\r\n" +
	"\"Retry\":[{\"ErrorEquals\":[\"Busy\"],\"IntervalSeconds\":2,\"MaxAttempts\":3,\"BackoffRate\":2}],\r\n" +
	"\"Comment\":\"\",\"Next\":\"Done\"},\r\n" +
	"\"Done\":{\"Type\":\"Succeed\"}}}\r\n"

// finding returns the diagnostic with a code.
func finding(t *testing.T, all []diagnostic, code string) diagnostic {
	t.Helper()
	for _, d := range all {
		if d.Code == code {
			return d
		}
	}
	t.Fatalf("no finding %s in %+v", code, all)
	return diagnostic{}
}

func at(line, character uint32) protocol.Position {
	return protocol.Position{Line: line, Character: character}
}

func TestDiagnostics(t *testing.T) {
	t.Parallel()
	e := edits(t)
	const uri = "file:///work/pay.asl.json"
	valid := strings.Replace(editorsMachine, "\"Comment\":\"\",", "", 1)

	found := e.opens(uri, valid)
	if got := finding(t, found, "NO_JITTER").Range.Start.Line; got != 3 {
		t.Errorf("NO_JITTER is at line %d", got)
	}
	// An incremental change after a character of two code units: Resource becomes Resourxe.
	found = e.changes(uri, 2, map[string]any{"text": "x",
		"range": protocol.Range{Start: at(2, 44), End: at(2, 45)}})
	bad := finding(t, found, "SCHEMA_VALIDATION_FAILED")
	if bad.Range.Start.Line != 2 || bad.Severity != protocol.DiagnosticSeverityError || bad.Source != "stepback" {
		t.Errorf("the error is %+v", bad)
	}
	if !strings.Contains(found[0].Message+found[1].Message, "Resourxe") &&
		!strings.Contains(found[0].Message, "Resource") {
		t.Errorf("the messages are %+v", found)
	}
	found = e.changes(uri, 3, map[string]any{"text": "{\"StartAt\": \"A\", \"States\": {"})
	if d := finding(t, found, "INVALID_JSON_DESCRIPTION"); strings.Contains(d.Message, "Source") {
		t.Errorf("the message repeats the text: %s", d.Message)
	}
	found = e.changes(uri, 4, map[string]any{"text": valid})
	finding(t, found, "NO_JITTER")

	yaml := "StartAt: Pay\nStates:\n  Pay:\n    Type: Pass\n    Next: Nowhere\n"
	found = e.opens("file:///c%3A/work/pay.asl.yaml", yaml)
	if d := finding(t, found, "MISSING_TRANSITION_TARGET"); d.Range.Start != at(4, 10) || d.Range.End != at(4, 17) {
		t.Errorf("the range in YAML is %v", d.Range)
	}

	template := "Resources:\n  M:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n      Role: arn:aws:iam::123456789012:role/r\n" +
		"      Definition:\n        StartAt: Pay\n        States:\n          Pay:\n            Type: Pass\n            Next: Nowhere\n"
	found = e.opens("file:///work/template.yaml", template)
	if d := finding(t, found, "MISSING_TRANSITION_TARGET"); d.Range.Start != at(10, 18) {
		t.Errorf("the range in SAM is %v", d.Range)
	}
	inString := `{"Resources":{"M":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"RoleArn":"arn:aws:iam::123456789012:role/r",` + "\n" +
		`"DefinitionString":"{\"StartAt\":\"Pay\",\"States\":{\"Pay\":{\"Type\":\"Pass\",\"Next\":\"Nowhere\"}}}"}}}}`
	found = e.opens("file:///work/stack.template.json", inString)
	if d := finding(t, found, "MISSING_TRANSITION_TARGET"); d.Range.Start.Line != 1 ||
		inString[strings.Index(inString, "\n")+1:][d.Range.Start.Character:][:9] != `\"Nowhere` {
		t.Errorf("the range in a string is %v", d.Range)
	}
	serverless := "service: s\nstepFunctions:\n  stateMachines:\n    pay:\n      definition:\n        StartAt: Pay\n        States:\n" +
		"          Pay: {Type: Pass, Next: Nowhere}\n"
	if d := finding(
		t,
		e.opens("file:///work/serverless.yml", serverless),
		"MISSING_TRANSITION_TARGET",
	); d.Range.Start.Line != 7 {
		t.Errorf("the range in serverless.yml is %v", d.Range)
	}
	broken := "Resources:\n  M:\n    Type: AWS::Serverless::StateMachine\n    Properties: [\n"
	if found = e.opens(
		"file:///work/broken.yaml",
		broken,
	); len(found) != 1 ||
		found[0].Severity != protocol.DiagnosticSeverityError {
		t.Errorf("a broken template has %v", found)
	}
	for name, text := range map[string]string{"package.json": `{"name":"x"}`, "compose.yaml": "services: {}\n", "empty.json": ""} {
		if found = e.opens("file:///work/"+name, text); len(found) != 0 {
			t.Errorf("%s has %v", name, found)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	e := edits(t)
	var text strings.Builder
	text.WriteString(`{"StartAt":"S0","States":{`)
	for i := range 5000 {
		text.WriteString(
			`"S` + strings.Repeat(
				"x",
				i%7,
			) + string(
				rune('a'+i%26),
			) + jsonNumber(
				i,
			) + `":{"Type":"Pass","Comment":"` + strings.Repeat("c", 142) + `","Next":"None","Bad":1},` + "\r\n",
		)
	}
	text.WriteString(`"S0":{"Type":"Pass","End":true}}}`)
	if text.Len() < 1_000_000 {
		t.Fatalf("the definition has %d bytes", text.Len())
	}
	found := e.opens("file:///c%3A/work/errors.asl.json", text.String())
	if len(found) != 200 || !strings.Contains(found[199].Message, "run stepback validate") {
		t.Errorf("%d diagnostics, the last %q", len(found), found[len(found)-1].Message)
	}
	found = e.opens("file:///work/huge.asl.json", strings.Repeat(" ", 5<<20)+editorsMachine)
	if len(found) != 1 || !strings.Contains(found[0].Message, "files over 5 MB are skipped") {
		t.Errorf("a huge file has %v", found)
	}
	err := e.ask("textDocument/moniker", map[string]any{}, nil)
	if err == nil || !strings.Contains(err.Error(), "does not implement") {
		t.Errorf("an unknown request answers %v", err)
	}
	e.tell("workspace/didChangeConfiguration", map[string]any{})
	e.tell("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": "file:///work/huge.asl.json"}})
	if p := <-e.published; p.URI != "file:///work/huge.asl.json" || len(p.Diagnostics) != 0 {
		t.Errorf("closing publishes %v", p)
	}
	if err := e.ask("shutdown", nil, nil); err != nil {
		t.Error(err)
	}
	e.tell("exit", nil)
	if err := <-e.ended; err != nil {
		t.Errorf("after shutdown and exit: %v", err)
	}
	e = edits(t)
	e.tell("exit", nil)
	if err := <-e.ended; err == nil {
		t.Error("exit without shutdown has exit status 0")
	}
}

func jsonNumber(i int) string {
	text, _ := json.Marshal(i)
	return string(text)
}
