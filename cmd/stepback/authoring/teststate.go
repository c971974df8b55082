package authoring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"stepback/asl"
	"stepback/aws/loopback"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/jsonvalue"
	"stepback/local"
)

// TestState implements the verb test-state.
type TestState struct {
	File string `arg:"" help:"A state, or a state machine with --state (Amazon States Language in JSON or YAML)."`

	State      string `placeholder:"NAME" help:"State of the machine in FILE, at any depth."`
	Input      string `default:"{}" placeholder:"JSON" help:"Input of the state. @NAME reads a file, here and below. Default {}."`
	Variables  string `placeholder:"JSON" help:"Object with the values of the state's variables."`
	Context    string `placeholder:"JSON" help:"Context object, instead of a generated one; needs a mock."`
	Inspection string `name:"inspection-level" enum:"INFO,DEBUG,TRACE" default:"INFO" help:"INFO shows the outcome, DEBUG also the data after every step, TRACE also the HTTP request and response."`
	Secrets    bool   `name:"reveal-secrets" help:"Show the authorization of HTTP Tasks; with TRACE."`
	Role       string `default:"arn:aws:iam::000000000000:role/stepback" placeholder:"ARN" help:"Role of the execution; it is not checked."`
	JSON       bool   `help:"Print the response of the TestState API."`

	definitions.Substitutions
	testStateMock
}

// testStateMock holds the flags for a mocked result of the state.
type testStateMock struct {
	Mock       string `group:"mock" placeholder:"JSON" help:"Result to use instead of calling the service."`
	Validation string `group:"mock" name:"mock-validation" enum:"STRICT,PRESENT,NONE" default:"STRICT" help:"How to check --mock against the service's response model: all members (STRICT), present members (PRESENT), or not at all (NONE). Default STRICT."`
	Error      string `group:"mock" name:"mock-error" placeholder:"NAME" help:"Error to fail with instead of calling the service."`
	Cause      string `group:"mock" name:"mock-cause" placeholder:"TEXT" help:"Cause of that error."`
	CausedBy   string `group:"mock" placeholder:"STATE" help:"State inside a Map or Parallel state that raised the error."`
	Retries    int64  `group:"mock" placeholder:"N" help:"Number of retries before this attempt."`
	Failed     *int64 `group:"mock" name:"failed-iterations" placeholder:"N" help:"Number of failed iterations of a Map state."`
	Items      string `group:"mock" placeholder:"JSON" help:"Items for a Map state, instead of those of its ItemReader."`
}

// Help shows examples.
func (TestState) Help() string {
	return `Examples:
  stepback test-state state.json --input '{"id": 7}'
  stepback test-state machine.asl.json --state Charge --mock-error States.Timeout --inspection-level DEBUG
  stepback test-state machine.asl.json --state Store --mock '{"Payload": {"stored": true}}' --input @order.json --json

Runs a single state, as the TestState API of AWS Step Functions does. Without a mock, a task calls its service at the endpoint in
the environment, as with serve (LAMBDA_ENDPOINT, SQS_ENDPOINT, AWS_ENDPOINT_URL, …).

Exit status: 0 the state succeeded, or caught its error; 1 it failed, or would be retried; 3 the test or the definition was refused.`
}

// Run tests the state and prints the result.
func (c *TestState) Run(ctx context.Context, std terminal.Streams) error {
	values, err := c.Values()
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	d, err := definitions.Read("", c.File, values, std)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if len(d.Document.Problems) > 0 {
		fmt.Fprint(std.Err, d.Render(d.Document.Problems))
		return exit.With(exit.Data, nil)
	}
	if err := c.Unknown(d); err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := d.CheckState(c.State, "--state"); err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := d.Lacks(false); err != nil {
		return exit.With(exit.Usage, err)
	}
	body, err := c.request(d.Text)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	status, answer, err := testState(ctx, body)
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return c.refused(std, d, answer)
	}
	return c.show(std, answer)
}

// request returns the body of the TestState request, built from the flags.
func (c *TestState) request(definition string) ([]byte, error) {
	r := &flagTexts{texts: map[string]any{
		"definition": definition, "inspectionLevel": c.Inspection, "roleArn": c.Role, "revealSecrets": c.Secrets,
	}}
	r.add("stateName", c.State)
	r.file("input", c.Input)
	r.file("variables", c.Variables)
	r.file("context", c.Context)
	mock := &flagTexts{texts: map[string]any{}}
	mock.file("result", c.Mock)
	if c.Error != "" || c.Cause != "" {
		failure := &flagTexts{texts: map[string]any{}}
		failure.add("error", c.Error)
		failure.add("cause", c.Cause)
		mock.texts["errorOutput"] = failure.texts
	}
	if len(mock.texts) > 0 {
		mock.add("fieldValidationMode", c.Validation)
		r.texts["mock"] = mock.texts
	}
	state := &flagTexts{texts: map[string]any{}}
	state.file("mapItemReaderData", c.Items)
	state.add("errorCausedByState", c.CausedBy)
	if c.Retries != 0 {
		state.texts["retrierRetryCount"] = c.Retries
	}
	if c.Failed != nil {
		state.texts["mapIterationFailureCount"] = *c.Failed
	}
	if len(state.texts) > 0 {
		r.texts["stateConfiguration"] = state.texts
	}
	if err := errors.Join(r.err, mock.err, state.err); err != nil {
		return nil, err
	}
	return json.Marshal(r.texts)
}

// flagTexts collects members of a request from the flags that were given.
type flagTexts struct {
	texts map[string]any
	err   error
}

func (f *flagTexts) add(member, text string) {
	if text != "" {
		f.texts[member] = text
	}
}

// file adds a member with the given text. If the text is "@" and a file's name, the member's value is the file's
// content.
func (f *flagTexts) file(member, text string) {
	if name, ok := strings.CutPrefix(text, "@"); ok {
		content, err := terminal.ReadFile(name)
		f.err = errors.Join(f.err, err)
		text = string(content)
	}
	f.add(member, text)
}

// testState calls TestState in this process; tasks call the endpoints that the environment names.
func testState(ctx context.Context, body []byte) (status int, answer []byte, err error) {
	h, done, err := local.TestState(ctx, os.Getenv)
	if err != nil {
		return 0, nil, err
	}
	defer done()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, loopback.URL, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions.TestState")
	a, err := loopback.Client(h).Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = a.Body.Close() }()
	answer, err = io.ReadAll(a.Body)
	return a.StatusCode, answer, err
}

// refused reports why the API refused the test. Text that is not JSON and errors in a whole state machine are shown
// as validate shows them.
func (c *TestState) refused(std terminal.Streams, d definitions.File, answer []byte) error {
	if c.JSON {
		fmt.Fprintln(std.Out, string(answer))
		return exit.With(exit.Data, nil)
	}
	var e struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(answer, &e); err != nil {
		return err
	}
	_, notJSON := jsonvalue.Parse(d.Text)
	if found := d.Diagnose(false); (c.State != "" || notJSON != nil) && e.Type == "InvalidDefinition" &&
		asl.HasErrors(found) {
		fmt.Fprint(std.Err, d.Render(found))
		return exit.With(exit.Data, nil)
	}
	return exit.With(exit.Data, errors.New(e.Type+": "+e.Message))
}
