package stepfunctions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
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
	"stepback/engine/integration/mototest"
	"stepback/engine/integration/states"
	"stepback/engine/journal"
)

// floors say how many cases must be replayed over HTTP, and how many must agree with the recording on each level.
type floors struct{ replayed, outcome, history int }

var (
	withMoto    = floors{689, 684, 683}
	withoutMoto = floors{644, 643, 642}
)

var scope = awsjson.Scope{Account: "123456789012", Region: "us-east-1"}

// recorded is where recordings are replayed: the account is one that a recording names.
var recorded = awsjson.Scope{Account: "000000000000", Region: "us-east-1"}

// Some recordings use a second account, and hide it behind another number where a role of either account is named.
const secondary, hidden = "000000000002", "222222222222"

// TestRecordings replays, over HTTP and in virtual time, every recorded case all of whose operations the API has, and prints how
// many agree with what the real service answered.
func TestRecordings(t *testing.T) {
	t.Parallel()
	cases := load(t)
	moto := mototest.Start(t, "MOTO_ACCOUNT_ID="+recorded.Account)
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
	cases, err := conformance.Find(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Skipf("the recordings are not here; set %s to the folder that holds cases/", conformance.Variable)
	}
	return cases
}

// served are the needs that this test meets by itself: stubs of functions, objects, accounts. The case that needs API Gateway mocks it.
var served = map[string]bool{"lambda": true, "s3": true, "apigateway": true, "secondary-account": true}

// replayable reports whether the API has all operations of a case, and this test the services around it.
func replayable(c *conformance.Case, moto bool) bool {
	for _, need := range c.Needs {
		if _, ok := motoServices[need]; !served[need] && (!ok || !moto) {
			return false
		}
	}
	if c.Has("aws-sdk") && slices.Contains(c.Needs, "s3") && !moto {
		return false
	}
	known := stepfunctions.New(stepfunctions.Config{}).Handler().Operations
	for i := range c.Steps {
		s := &c.Steps[i]
		if _, ok := known[s.Op]; s.Wait == "" && !ok && s.Service == "" {
			return false
		}
	}
	return true
}

// world is an API server in virtual time with stand-ins for the services around it. Time passes only while a call is made or a
// case waits.
type world struct {
	clock     *clock.Clock
	engine    *engine.Engine
	second    *engine.Engine // of the secondary account
	objects   conformance.Objects
	caller    *awssdk.Caller
	endpoints awssdk.Endpoints
	url       string

	tasksUseS3 bool
	background bool // there are programs in the background, which hold the clock
}

func newWorld(t *testing.T, stubs *conformance.Functions, moto string) *world {
	t.Helper()
	w := &world{clock: clock.Virtual(time.Now().Truncate(time.Millisecond))}
	w.endpoints = awssdk.Endpoints{
		Getenv: func(name string) string { return map[string]string{"AWS_ENDPOINT_URL": moto}[name] }, Embedded: map[string]awssdk.Endpoint{},
	}
	w.caller = &awssdk.Caller{Account: recorded.Account, Region: recorded.Region, Endpoints: w.endpoints}
	stubs.Clock = w.clock
	store := stepfunctions.NewMemory()
	w.engine = w.account(t, w.caller, stubs, store)
	w.second = w.account(t, &awssdk.Caller{Account: secondary, Region: recorded.Region, Endpoints: w.endpoints}, stubs, store)
	service := stepfunctions.New(stepfunctions.Config{
		Open:  func(of awsjson.Scope) (*engine.Engine, error) { return w.of(of.Account), nil },
		Store: store, Now: w.clock.Now, Default: recorded,
	})
	w.endpoints.Embedded["sfn"] = awssdk.Endpoint{URL: loopback.URL, Client: loopback.Client(service.Handler())}
	server := httptest.NewServer(service.Handler())
	w.url = server.URL
	w.clock.Hold()
	t.Cleanup(func() {
		server.Close()
		w.engine.Close()
		w.second.Close()
		w.clock.Close()
	})
	return w
}

// account makes the engine of an account.
func (w *world) account(t *testing.T, caller *awssdk.Caller, stubs *conformance.Functions, store stepfunctions.Store) *engine.Engine {
	t.Helper()
	e, err := engine.New(engine.Config{
		Clock: w.clock, Journal: journal.NewMemory(), Objects: &w.objects, TempDir: t.TempDir(), Region: caller.Region, Account: caller.Account,
		Integrations: w.integrations(caller, stubs), Activity: stepfunctions.HasActivity(store),
		Assume: func(account string) map[string]engine.Integration {
			if account == hidden {
				account = secondary
			}
			return w.integrations(&awssdk.Caller{Account: account, Region: recorded.Region, Endpoints: w.endpoints}, stubs)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// integrations are what tasks call for an account.
func (w *world) integrations(caller *awssdk.Caller, stubs *conformance.Functions) map[string]engine.Integration {
	all, start := awssdk.Integrations(caller)
	all["lambda:invoke"], all["function"] = lambda.Integration{Invoker: stubs}, lambda.Function{Invoker: stubs}
	all["states:startExecution"] = states.Integration{
		API: start, Await: func(ctx context.Context, arn string) error { return w.of(accountOf(arn)).Await(ctx, arn) },
	}
	return all
}

// of is the engine of an account.
func (w *world) of(account string) *engine.Engine {
	if account == secondary {
		return w.second
	}
	return w.engine
}

// accountOf is the account in an ARN.
func accountOf(arn string) string {
	const field = 4
	parts := strings.Split(arn, ":")
	if len(parts) <= field {
		return ""
	}
	return parts[field]
}

// replay runs the program of a case.
func replay(t *testing.T, c *conformance.Case, moto string) *conformance.Verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	names := &conformance.Names{Account: recorded.Account, Region: recorded.Region, Now: time.Now()}
	stubs := &conformance.Functions{Region: recorded.Region, Account: recorded.Account, Rules: map[string]conformance.Rule{}}
	for name, rule := range c.Lambdas {
		stubs.Rules[names.Text(name)] = rule
	}
	w := newWorld(t, stubs, moto)
	w.tasksUseS3, w.background = c.Has("aws-sdk"), c.Has("background-steps")
	verdict, err := conformance.Replay(ctx, c, names, w)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

// Background keeps virtual time still while a program runs beside a case.
func (w *world) Background() (ended func()) {
	w.clock.Hold()
	return w.clock.Release
}

// Wait carries a wait step out, letting virtual time pass.
func (w *world) Wait(ctx context.Context, s *conformance.Step, arn string) error {
	switch s.Wait {
	case "execution-terminated":
		w.clock.Release()
		_, err := w.of(accountOf(arn)).Wait(ctx, arn)
		w.clock.Hold()
		return err
	case "execution-listed-with-status":
		return w.listed(ctx, arn, s.Status)
	case "sleep":
		return w.clock.Sleep(ctx, time.Duration(s.Seconds*float64(time.Second)))
	default: // an execution has started once StartExecution has answered
		return nil
	}
}

func (w *world) listed(ctx context.Context, machine, status string) error {
	list := &conformance.Step{Op: "ListExecutions"}
	for ctx.Err() == nil {
		a, _, err := w.Call(ctx, list, map[string]any{"stateMachineArn": machine, "statusFilter": status})
		if err != nil {
			return err
		}
		if executions, _ := a.Result["executions"].([]any); len(executions) > 0 {
			return nil
		}
	}
	return ctx.Err()
}

// Call carries an API call out.
func (w *world) Call(ctx context.Context, s *conformance.Step, params map[string]any) (*conformance.Answer, map[string]any, error) {
	if s.Service != "" {
		return w.scene(ctx, s, params)
	}
	if !w.background {
		if err := w.clock.Sleep(ctx, time.Millisecond); err != nil { // so that no two starts are at the same time
			return nil, nil, err
		}
	}
	if s.Op == "StartSyncExecution" || s.Op == "GetActivityTask" {
		w.clock.Release()
		defer w.clock.Hold()
	}
	status, body, err := w.post(ctx, s, params)
	if err != nil {
		return nil, nil, err
	}
	return conformance.Reply(status, body)
}

// scene carries out a call of another service. Objects are put where Map states read them, and where tasks do when a case has any.
func (w *world) scene(ctx context.Context, s *conformance.Step, params map[string]any) (*conformance.Answer, map[string]any, error) {
	if s.Op == "PutObject" {
		body, _ := params["Body"].(string)
		if err := w.objects.Put(ctx, params["Bucket"].(string), params["Key"].(string), strings.NewReader(body), int64(len(body))); err != nil {
			return nil, nil, err
		}
	}
	if s.Service == "s3" && !w.tasksUseS3 {
		return &conformance.Answer{Result: map[string]any{}}, nil, nil
	}
	if s.Op == "PutObject" { // what S3 does by itself, and moto does not
		params["ContentType"], params["ServerSideEncryption"] = "binary/octet-stream", "AES256"
	}
	return w.around(ctx, s, params)
}

func (w *world) post(ctx context.Context, s *conformance.Step, params map[string]any) (int, []byte, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return 0, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+s.Op)
	if s.Account == "secondary" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+secondary+"/20260101/us-east-1/states/aws4_request")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}
