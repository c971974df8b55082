package stepfunctions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/conformance"
	"stepback/local/services/stepfunctions"
	"stepback/local/services/stepfunctions/wiretest"
	"stepback/tasks/awssdk"
	"stepback/tasks/lambda"
	"stepback/tasks/mototest"
	"stepback/tasks/states"
)

// floors holds the minimum number of cases that must be replayed over HTTP, and that must agree with the recording on
// each level.
type floors struct{ replayed, outcome, history int }

var (
	withMoto    = floors{689, 684, 682}
	withoutMoto = floors{644, 643, 641}
)

// TestRecordings replays every recorded case whose operations are all implemented, over HTTP and in virtual time, and
// prints how many agree with the real service's responses.
func TestRecordings(t *testing.T) {
	t.Parallel()
	cases := load(t)
	moto := mototest.Start(t)
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
		t.Errorf("replayed %d, outcome %d, history %d; must be at least %+v", total.Replayed, total.Outcome,
			total.History, least)
	}
}

// load loads the recordings, or skips the test if there are none.
func load(t *testing.T) []*conformance.Case {
	t.Helper()
	cases, err := conformance.Find()
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// served lists the needs that this test provides itself: stubs of functions, objects, accounts. The case that needs
// API Gateway mocks it.
var served = []string{"lambda", "s3", "secondary-account", "apigateway"}

// replayable reports whether all operations of a case are implemented and this test provides the other services it
// needs.
func replayable(c *conformance.Case, moto bool) bool {
	for _, need := range c.Needs {
		if _, ok := motoServices[need]; !slices.Contains(served, need) && (!ok || !moto) {
			return false
		}
	}
	if c.Has("aws-sdk") && slices.Contains(c.Needs, "s3") && !moto {
		return false
	}
	known := stepfunctions.New(stepfunctions.Config{}).Handler()
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Wait == "" && !known.Serves(s.Op) && s.Service == "" {
			return false
		}
	}
	return true
}

// world is an API server in virtual time with stand-ins for the other services. Time passes only during a call or
// while a case waits.
type world struct {
	clock   *clock.Clock
	engines map[string]*engine.Engine // by account
	objects conformance.Objects
	caller  *awssdk.Caller // for the preparation of a case
	moto    string
	url     string

	tasksUseS3 bool
	background bool // background programs are running, which hold the clock
}

func newWorld(t *testing.T, stubs *conformance.Functions, moto string) *world {
	t.Helper()
	w := &world{moto: moto, clock: clock.Virtual(time.Now().Truncate(time.Millisecond)),
		engines: map[string]*engine.Engine{}}
	stubs.Clock = w.clock
	store := stepfunctions.NewMemory()
	around := awssdk.Endpoints{
		Embedded: map[string]awssdk.Endpoint{},
		Getenv:   func(name string) string { return map[string]string{"AWS_ENDPOINT_URL": moto}[name] },
	}
	w.caller = &awssdk.Caller{Account: wiretest.Scope.Account, Region: wiretest.Scope.Region, Endpoints: around}
	for _, account := range []string{wiretest.Scope.Account, secondary} {
		integrations, start := awssdk.Integrations(&awssdk.Caller{Account: account, Region: wiretest.Scope.Region,
			Endpoints: around})
		integrations.HandleFunctions(lambda.Function{Invoker: stubs}).
			Handle("lambda", "invoke", lambda.Integration{Invoker: stubs}).
			Handle("states", "startExecution", states.Integration{API: start, Await: w.await})
		e, err := engine.New(engine.Config{
			Clock: w.clock, Journal: journal.NewMemory(), Objects: &w.objects, TempDir: t.TempDir(),
			Region: wiretest.Scope.Region, Account: account,
			Integrations: integrations, Activity: stepfunctions.HasActivity(store),
		})
		if err != nil {
			t.Fatal(err)
		}
		w.engines[account] = e
	}
	service := stepfunctions.New(stepfunctions.Config{
		Open:  func(s aws.Scope) (*engine.Engine, error) { return w.engines[s.Account], nil },
		Store: store, Now: w.clock.Now, Default: wiretest.Scope,
	})
	around.Embedded["sfn"] = awssdk.Endpoint{URL: loopback.URL, Client: loopback.Client(service.Handler())}
	server := httptest.NewServer(service.Handler())
	w.url = server.URL
	w.clock.Hold()
	t.Cleanup(func() {
		server.Close()
		for _, e := range w.engines {
			e.Close()
		}
		w.clock.Close()
	})
	return w
}

// secondary is the account for steps that name another account.
const secondary = "000000000002"

// engineOf returns the engine of the account that an ARN names.
func (w *world) engineOf(arn string) *engine.Engine {
	const account = 4
	return w.engines[strings.Split(arn, ":")[account]]
}

func (w *world) await(ctx context.Context, _ *engine.Task, arn string) error {
	return w.engineOf(arn).Await(ctx, arn)
}

// replay runs the program of a case.
func replay(t *testing.T, c *conformance.Case, moto string) *conformance.Verdict {
	t.Helper()
	names := &conformance.Names{Account: wiretest.Scope.Account, Region: wiretest.Scope.Region, Now: time.Now()}
	stubs := &conformance.Functions{Region: wiretest.Scope.Region, Account: wiretest.Scope.Account,
		Rules: map[string]conformance.Rule{}}
	for name, rule := range c.Lambdas {
		stubs.Rules[names.Text(name)] = rule
	}
	w := newWorld(t, stubs, moto)
	w.tasksUseS3, w.background = c.Has("aws-sdk"), c.Has("background-steps")
	verdict, err := conformance.Replay(t.Context(), c, names, w)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

// Background holds virtual time while a program runs alongside a case.
func (w *world) Background() (ended func()) {
	w.clock.Hold()
	return w.clock.Release
}

// Wait performs a wait step while virtual time passes.
func (w *world) Wait(ctx context.Context, s *conformance.Step, arn string) error {
	switch s.Wait {
	case "execution-terminated":
		w.clock.Release()
		_, err := w.engineOf(arn).Wait(ctx, arn)
		w.clock.Hold()
		return err
	case "execution-listed-with-status":
		return w.listed(ctx, arn, s.Status)
	case "sleep":
		return w.clock.Sleep(ctx, time.Duration(s.Seconds*float64(time.Second)))
	default: // an execution has started once StartExecution has returned
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

// Call performs an API call.
func (w *world) Call(ctx context.Context, s *conformance.Step, params map[string]any) (*conformance.Answer,
	map[string]any, error) {
	if s.Service != "" {
		return w.scene(ctx, s, params)
	}
	if !w.background {
		if err := w.clock.Sleep(ctx, time.Millisecond); err != nil { // so that no two executions start at the same time
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

// scene performs a call of another service. Objects are put where Map states read them and, if the case has tasks
// that read objects, where those do.
func (w *world) scene(ctx context.Context, s *conformance.Step, params map[string]any) (*conformance.Answer,
	map[string]any, error) {
	if s.Op == "PutObject" {
		body, _ := params["Body"].(string)
		if err := w.objects.Put(ctx, params["Bucket"].(string), params["Key"].(string), strings.NewReader(body),
			int64(len(body))); err != nil {
			return nil, nil, err
		}
	}
	if s.Service == "s3" && !w.tasksUseS3 {
		return &conformance.Answer{Result: map[string]any{}}, nil, nil
	}
	if s.Op == "PutObject" {
		return &conformance.Answer{Result: map[string]any{}}, nil, w.upload(ctx, params)
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
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+secondary+"/20260101/"+wiretest.Scope.Region+
			"/states/aws4_request, SignedHeaders=host, Signature=0")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}
