package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
	"stepback/tasks/states"
)

// The minimum number of cases that must be replayed over HTTP, and that must agree with the recording on each level.
const leastReplayed, leastOutcome, leastHistory = 689, 687, 685

// TestRecordings replays every recorded case whose operations are all implemented, over HTTP and in virtual time, and
// prints how many agree with the real service's responses. Cases that need other services than Lambda run on a platform
// of their own, with its services.
func TestRecordings(t *testing.T) {
	t.Parallel()
	cases := recordedCases(t)
	verdicts := make([]*conformance.Verdict, len(cases))
	t.Run("cases", func(t *testing.T) {
		for i, c := range cases {
			if replayable(c) {
				t.Run(c.ID, func(t *testing.T) {
					t.Parallel()
					verdicts[i] = replay(t, c)
					for _, d := range append(verdicts[i].Outcome, verdicts[i].History...) {
						t.Log(d)
					}
				})
			}
		}
	})
	table, total := conformance.Tabulate(cases, verdicts)
	t.Log("\n" + table)
	if total.Replayed < leastReplayed || total.Outcome < leastOutcome || total.History < leastHistory {
		t.Errorf("replayed %d, outcome %d, history %d; must be at least %d, %d, %d", total.Replayed, total.Outcome,
			total.History, leastReplayed, leastOutcome, leastHistory)
	}
}

// recordedCases loads the recordings.
func recordedCases(t *testing.T) []*conformance.Case {
	t.Helper()
	cases, err := conformance.Find()
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// standIns lists the needs for which the test provides stand-ins: functions by their rules, and a second account. The
// case that needs API Gateway mocks it.
var standIns = []string{"lambda", "secondary-account", "apigateway"}

// sdkNames maps the services that cases need besides Step Functions and Lambda to their names in aws-sdk Resources.
var sdkNames = map[string]string{
	"dynamodb": "dynamodb", "events": "eventbridge", "s3": "s3", "secretsmanager": "secretsmanager", "sns": "sns",
	"sqs": "sqs",
}

// needsServices reports whether a case needs services besides Step Functions and Lambda.
func needsServices(c *conformance.Case) bool {
	return slices.ContainsFunc(c.Needs, func(need string) bool { return sdkNames[need] != "" })
}

// replayable reports whether all operations of a case are implemented and the other services it needs exist.
func replayable(c *conformance.Case) bool {
	for _, need := range c.Needs {
		if !slices.Contains(standIns, need) && (sdkNames[need] == "" || slices.Contains(c.Needs, "lambda")) {
			return false
		}
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

// world is an API server in virtual time whose functions follow the rules of a case. Time passes only during a call or
// while a case waits.
type world struct {
	clock   *clock.Clock
	engines map[string]*engine.Engine // by account
	url     string

	background bool // background programs are running, which hold the clock
}

func newWorld(t *testing.T, stubs *conformance.Functions) *world {
	t.Helper()
	w := &world{clock: clock.Virtual(time.Now().Truncate(time.Millisecond)), engines: map[string]*engine.Engine{}}
	stubs.Clock = w.clock
	store := stepfunctions.NewMemory()
	around := awssdk.Endpoints{
		Embedded: map[string]awssdk.Endpoint{},
		Getenv:   func(string) string { return "" },
	}
	for _, account := range []string{wiretest.Scope.Account, secondary} {
		integrations, start := awssdk.Integrations(&awssdk.Caller{Account: account, Region: wiretest.Scope.Region,
			Endpoints: around})
		integrations.HandleFunctions(lambda.Function{Invoker: stubs}).
			Handle("lambda", "invoke", lambda.Integration{Invoker: stubs}).
			Handle("states", "startExecution", states.Integration{API: start, Await: w.await})
		e, err := engine.New(engine.Config{
			Clock: w.clock, Journal: journal.NewMemory(), Objects: &conformance.Objects{}, TempDir: t.TempDir(),
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
func replay(t *testing.T, c *conformance.Case) *conformance.Verdict {
	t.Helper()
	if needsServices(c) {
		return replayOnPlatform(t, c)
	}
	names := &conformance.Names{Account: wiretest.Scope.Account, Region: wiretest.Scope.Region, Now: time.Now()}
	stubs := &conformance.Functions{Region: wiretest.Scope.Region, Account: wiretest.Scope.Account,
		Rules: map[string]conformance.Rule{}}
	for name, rule := range c.Lambdas {
		stubs.Rules[names.Text(name)] = rule
	}
	w := newWorld(t, stubs)
	w.background = c.Has("background-steps")
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
		return nil, nil, fmt.Errorf("the case does not say that it needs %s", s.Service)
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
	return post(ctx, w.url, s, params)
}

// post performs a call of Step Functions at an endpoint.
func post(ctx context.Context, url string, s *conformance.Step, params map[string]any) (*conformance.Answer,
	map[string]any, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+s.Op)
	if s.Account == "secondary" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+secondary+"/20260101/"+wiretest.Scope.Region+
			"/states/aws4_request, SignedHeaders=host, Signature=0")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, nil, err
	}
	return conformance.Reply(answer.StatusCode, text)
}
