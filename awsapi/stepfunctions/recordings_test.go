package stepfunctions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/awsapi/awsjson"
	"stepback/awsapi/loopback"
	"stepback/awsapi/stepfunctions"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/conformance"
	"stepback/engine/integration/awssdk"
	"stepback/engine/integration/lambda"
	"stepback/engine/integration/states"
	"stepback/engine/journal"
)

// floors say how many cases must be replayed over HTTP, and how many must agree with the recording on each level.
type floors struct{ replayed, outcome, history int }

var (
	withMoto    = floors{642, 606, 605}
	withoutMoto = floors{590, 480, 470}
)

var scope = awsjson.Scope{Account: "123456789012", Region: "us-east-1"}

// TestRecordings replays, over HTTP and in virtual time, every recorded case all of whose operations the API has, and prints how
// many agree with what the real service answered.
func TestRecordings(t *testing.T) {
	t.Parallel()
	cases := load(t)
	moto := startMoto(t)
	verdicts := make([]*conformance.Verdict, len(cases))
	t.Run("cases", func(t *testing.T) {
		for i, c := range cases {
			if replayable(c, moto != "") {
				t.Run(c.ID, func(t *testing.T) {
					t.Parallel()
					verdicts[i] = replay(t, c, moto)
					for _, d := range append(verdicts[i].Outcome, verdicts[i].History...) {
						t.Log(d)
					}
				})
			}
		}
	})
	table, total := conformance.Tabulate(cases, verdicts)
	t.Log("\n" + table)
	least := withMoto
	if moto == "" {
		least = withoutMoto
	}
	if total.Replayed < least.replayed || total.Outcome < least.outcome || total.History < least.history {
		t.Errorf("replayed %d, outcome %d, history %d; must be at least %+v", total.Replayed, total.Outcome, total.History, least)
	}
}

// load reads the recordings, or skips the test when there are none.
func load(t *testing.T) []*conformance.Case {
	t.Helper()
	root := os.Getenv("STEPBACK_CONFORMANCE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "conformance")
	}
	cases, err := conformance.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Skipf("no recordings under %s; set STEPBACK_CONFORMANCE to the folder that holds cases/", root)
	}
	return cases
}

// replayable reports whether the API has all operations of a case, and this test the services around it.
func replayable(c *conformance.Case, moto bool) bool {
	for _, need := range c.Needs {
		if _, ok := motoServices[need]; need != "lambda" && need != "s3" && (!ok || !moto) {
			return false
		}
	}
	if c.Has("aws-sdk") && slices.Contains(c.Needs, "s3") && !moto {
		return false
	}
	known := stepfunctions.New(stepfunctions.Config{}).Handler().Operations
	for i := range c.Steps {
		s := &c.Steps[i]
		if _, ok := known[s.Op]; s.Thread != nil || s.Wait == "" && !ok && s.Service == "" {
			return false
		}
	}
	return true
}

// world is an API server in virtual time with stand-ins for the services around it. Time passes only while a call is made or a
// case waits.
type world struct {
	clock   *clock.Clock
	engine  *engine.Engine
	objects conformance.Objects
	caller  *awssdk.Caller
	url     string

	tasksUseS3 bool
}

func newWorld(t *testing.T, stubs *conformance.Functions, moto string) *world {
	t.Helper()
	w := &world{clock: clock.Virtual(time.Now().Truncate(time.Millisecond))}
	w.caller = &awssdk.Caller{Account: scope.Account, Region: scope.Region, Endpoints: awssdk.Endpoints{
		Getenv: func(name string) string { return map[string]string{"AWS_ENDPOINT_URL": moto}[name] },
	}}
	integrations, start := awssdk.Integrations(w.caller)
	integrations["lambda:invoke"], integrations["function"] = lambda.Integration{Invoker: stubs}, lambda.Function{Invoker: stubs}
	integrations["states:startExecution"] = states.Integration{
		API: start, Await: func(ctx context.Context, arn string) error { return w.engine.Await(ctx, arn) },
	}
	stubs.Clock = w.clock
	var err error
	w.engine, err = engine.New(engine.Config{
		Clock: w.clock, Journal: journal.NewMemory(), Objects: &w.objects, TempDir: t.TempDir(), Region: scope.Region, Account: scope.Account,
		Integrations: integrations,
	})
	if err != nil {
		t.Fatal(err)
	}
	service := stepfunctions.New(stepfunctions.Config{
		Open:  func(awsjson.Scope) (*engine.Engine, error) { return w.engine, nil },
		Store: stepfunctions.NewMemory(), Now: w.clock.Now, Default: scope,
	})
	w.caller.Endpoints.Embedded = map[string]awssdk.Endpoint{"sfn": {URL: loopback.URL, Client: loopback.Client(service.Handler())}}
	server := httptest.NewServer(service.Handler())
	w.url = server.URL
	w.clock.Hold()
	t.Cleanup(func() {
		server.Close()
		w.engine.Close()
		w.clock.Close()
	})
	return w
}

// replay runs the program of a case.
func replay(t *testing.T, c *conformance.Case, moto string) *conformance.Verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	names := &conformance.Names{Account: scope.Account, Region: scope.Region, Now: time.Now()}
	stubs := &conformance.Functions{Region: scope.Region, Account: scope.Account, Rules: map[string]conformance.Rule{}}
	for name, rule := range c.Lambdas {
		stubs.Rules[names.Text(name)] = rule
	}
	w := newWorld(t, stubs, moto)
	w.tasksUseS3 = c.Has("aws-sdk")
	judge := conformance.NewJudge(c, names)
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Wait != "" {
			w.wait(ctx, t, s, names)
			continue
		}
		params, err := names.Params(s.Params)
		if err != nil {
			t.Fatal(err)
		}
		answer, raw := w.call(ctx, t, s, params.(map[string]any))
		names.Answered(s.N, raw)
		if !judge.Judge(s, answer) {
			break
		}
	}
	return &judge.Verdict
}

// wait carries a wait step out, letting virtual time pass.
func (w *world) wait(ctx context.Context, t *testing.T, s *conformance.Step, names *conformance.Names) {
	t.Helper()
	var err error
	switch s.Wait {
	case "execution-terminated":
		w.clock.Release()
		_, err = w.engine.Wait(ctx, names.Text(s.ExecutionARN))
		w.clock.Hold()
	case "execution-listed-with-status":
		w.listed(ctx, t, names.Text(s.MachineARN), s.Status)
	case "sleep":
		err = w.clock.Sleep(ctx, time.Duration(s.Seconds*float64(time.Second)))
	default: // an execution has started once StartExecution has answered
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) listed(ctx context.Context, t *testing.T, machine, status string) {
	t.Helper()
	list := &conformance.Step{Op: "ListExecutions"}
	for ctx.Err() == nil {
		a, _ := w.call(ctx, t, list, map[string]any{"stateMachineArn": machine, "statusFilter": status})
		if executions, _ := a.Result["executions"].([]any); len(executions) > 0 {
			return
		}
	}
	t.Fatal(ctx.Err())
}

// call carries an API call out. It returns the answer for the judge, and as it came for later placeholders.
func (w *world) call(ctx context.Context, t *testing.T, s *conformance.Step, params map[string]any) (*conformance.Answer, map[string]any) {
	t.Helper()
	if s.Service != "" {
		return w.scene(ctx, t, s, params)
	}
	if err := w.clock.Sleep(ctx, time.Millisecond); err != nil { // so that no two starts are at the same time
		t.Fatal(err)
	}
	if s.Op == "StartSyncExecution" {
		w.clock.Release()
		defer w.clock.Hold()
	}
	status, body := w.post(ctx, t, s.Op, params)
	result, raw := object(t, body), object(t, body)
	if status != http.StatusOK {
		code, _ := raw["__type"].(string)
		message, _ := raw["message"].(string)
		return &conformance.Answer{Code: code, Message: message}, raw
	}
	result["ResponseMetadata"] = map[string]any{"HTTPStatusCode": json.Number("200")}
	conformance.Normalise(result)
	return &conformance.Answer{Result: result}, raw
}

// scene carries out a call of another service. Objects are put where Map states read them, and where tasks do when a case has any.
func (w *world) scene(ctx context.Context, t *testing.T, s *conformance.Step, params map[string]any) (*conformance.Answer, map[string]any) {
	t.Helper()
	if s.Op == "PutObject" {
		body, _ := params["Body"].(string)
		if err := w.objects.Put(ctx, params["Bucket"].(string), params["Key"].(string), strings.NewReader(body), int64(len(body))); err != nil {
			t.Fatal(err)
		}
	}
	if s.Service == "s3" && !w.tasksUseS3 {
		return &conformance.Answer{Result: map[string]any{}}, nil
	}
	if s.Op == "PutObject" { // what S3 does by itself, and moto does not
		params["ContentType"], params["ServerSideEncryption"] = "binary/octet-stream", "AES256"
	}
	return w.around(ctx, t, s, params)
}

func (w *world) post(ctx context.Context, t *testing.T, op string, params map[string]any) (int, []byte) {
	t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+op)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, b.Bytes()
}

func object(t *testing.T, text []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}
