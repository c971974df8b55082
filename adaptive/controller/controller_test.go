package controller_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/adaptive/controller"
	"stepback/adaptive/controller/decide"
	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/services/stepfunctions"
	"stepback/retrymetrics"
)

// definition has one open state with four retries for load errors, and a retrier that paces refused calls.
const definition = `{"StartAt":"Save","States":{"Save":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
 "Parameters":{"FunctionName":"arn:aws:lambda:us-east-1:123456789012:function:save:live","Payload.$":"$"},"TimeoutSeconds":30,
 "Retry":[{"ErrorEquals":["ValidationError"],"MaxAttempts":0},
  {"ErrorEquals":["DatabaseConnectionError","States.Timeout"],"IntervalSeconds":2,"MaxAttempts":4,"BackoffRate":1.8,"MaxDelaySeconds":30,"JitterStrategy":"FULL"},
  {"ErrorEquals":["CircuitOpen","RetryBudgetExhausted"],"IntervalSeconds":30,"MaxAttempts":20,"BackoffRate":1.5,"MaxDelaySeconds":300,"JitterStrategy":"FULL"}],
 "End":true}}}`

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// world is a state machine behind AWS's API, with recorded metrics and a clock.
type world struct {
	*controller.Controller
	client *sfn.Client
	now    time.Time
	told   []string
}

func newWorld(t *testing.T, rows controller.Rows) *world {
	t.Helper()
	scope := aws.Scope{Region: "us-east-1", Account: "123456789012"}
	c := clock.Real()
	e, err := engine.New(
		engine.Config{Clock: c, Journal: journal.NewMemory(), Region: scope.Region, Account: scope.Account})
	if err != nil {
		t.Fatal(err)
	}
	service := stepfunctions.New(stepfunctions.Config{
		Open:  func(aws.Scope) (*engine.Engine, error) { return e, nil },
		Store: stepfunctions.NewMemory(), Now: c.Now, Default: scope,
	})
	server := httptest.NewServer(service.Handler())
	t.Cleanup(func() { server.Close(); e.Close(); c.Close() })
	w := &world{now: noon, client: sfn.New(sfn.Options{
		BaseEndpoint: &server.URL, Region: scope.Region, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(scope.Account, "secret", ""),
	})}
	made, err := w.client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: sdk.String("saves"), Definition: sdk.String(definition),
		RoleArn: sdk.String("arn:aws:iam::123456789012:role/r"),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Controller = &controller.Controller{
		Machine: *made.StateMachineArn, StepFunctions: w.client, Rows: rows, Events: w,
		Parameters: decide.Defaults(), Capacity: 25,
		Owner: "one", Now: func() time.Time { return w.now },
	}
	return w
}

// Call implements PutEvents.
func (w *world) Call(_ context.Context, _ string, in, _ any) error {
	for _, e := range in.(map[string]any)["Entries"].([]any) {
		e := e.(map[string]any)
		w.told = append(w.told, e["Source"].(string)+"/"+e["DetailType"].(string))
	}
	return nil
}

// measured records 20 first attempts per second for the given number of minutes before now, of which the share
// failing times out.
func (w *world) measured(minutes int, failing float64) {
	var all controller.Recorded
	for i := range minutes {
		at := w.now.Truncate(time.Minute).Add(-time.Duration(i+1) * time.Minute)
		for m, value := range map[*retrymetrics.Metric]float64{
			retrymetrics.TaskAttempts: 1200, retrymetrics.RetryAttempts: 0, retrymetrics.TaskFailures: 1200 * failing,
		} {
			labels := retrymetrics.Labels{StateMachine: "saves", State: "Save"}
			all = append(all,
				retrymetrics.Point{Metric: m, Labels: labels, Start: at, Values: []float64{value}, Counts: []int64{1}})
			if labels.ErrorType = "States.Timeout"; m == retrymetrics.TaskFailures && failing > 0 {
				all = append(
					all,
					retrymetrics.Point{
						Metric: m,
						Labels: labels,
						Start:  at,
						Values: []float64{value},
						Counts: []int64{1},
					},
				)
			}
		}
	}
	w.Metrics = all
}

func (w *world) tick(t *testing.T) controller.Result {
	t.Helper()
	res, err := w.Tick(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// deployed returns the deployed Retry array and its MaxAttempts values.
func (w *world) deployed(t *testing.T) (text string, attempts []int) { //nolint:unparam // shown by hand
	t.Helper()
	out, err := w.client.DescribeStateMachine(t.Context(), &sfn.DescribeStateMachineInput{StateMachineArn: &w.Machine})
	if err != nil {
		t.Fatal(err)
	}
	targets, err := controller.Targets(*out.Definition)
	if err != nil || len(targets) != 1 || targets[0].Function != "save" {
		t.Fatalf("%+v, %v", targets, err)
	}
	for _, r := range targets[0].Base {
		attempts = append(attempts, r.MaxAttempts)
	}
	return *out.Definition, attempts
}

func attempts(t *testing.T, w *world, want ...int) {
	t.Helper()
	_, got := w.deployed(t)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("MaxAttempts are %v, want %v", got, want)
		}
	}
}

func what(r controller.Row) string {
	var all []string
	for _, e := range r.History {
		all = append(all, string(e.What))
	}
	return strings.Join(all, " ")
}

// driveThroughStorm drives a controller through a failure storm and back.
func driveThroughStorm(t *testing.T, rows controller.Rows) {
	t.Helper()
	w := newWorld(t, rows)
	w.measured(10, 0.01)
	w.tick(t)
	attempts(t, w, 0, 4, 20)

	w.now = w.now.Add(10 * time.Minute)
	w.measured(10, 0.9)
	if res := w.tick(t); !res.Decisions[0].Changes() || res.Failed != "" {
		t.Fatalf("in the storm: %+v", res)
	}
	attempts(t, w, 0, 0, 20)
	if res := w.tick(t); res.Decisions[0].Changes() {
		t.Fatalf("the same minutes again: %+v", res)
	}

	w.now = w.now.Add(40 * time.Minute)
	w.measured(20, 0.01)
	w.tick(t)
	attempts(t, w, 0, 4, 20)
	versions, err := w.client.ListStateMachineVersions(t.Context(),
		&sfn.ListStateMachineVersionsInput{StateMachineArn: &w.Machine})
	if err != nil || len(versions.StateMachineVersions) != 2 {
		t.Errorf("%d published versions (%v), want 2", len(versions.StateMachineVersions), err)
	}
	if got := strings.Join(w.told, ", "); got != "csv.processing.retry.manager/Retry Configuration Update, "+
		"csv.processing.retry.manager/Retry Configuration Update" {
		t.Errorf("events are %s", got)
	}
	row, err := rows.Load(t.Context(), w.Machine)
	if got := what(row); err != nil || got != "adopted begun applied begun applied" {
		t.Errorf("history is %s, %v", got, err)
	}
}

func TestThroughAStormAndBack(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) { t.Parallel(); driveThroughStorm(t, &controller.MemoryRows{}) })
	t.Run("file", func(t *testing.T) { t.Parallel(); driveThroughStorm(t, &controller.FileRows{Directory: t.TempDir()}) })
}

func TestADryRunWritesNothing(t *testing.T) {
	t.Parallel()
	rows := &controller.MemoryRows{}
	w := newWorld(t, rows)
	w.DryRun = true
	w.measured(10, 0.9)
	if res := w.tick(t); !res.Decisions[0].Changes() {
		t.Errorf("%+v", res)
	}
	attempts(t, w, 0, 4, 20)
	if row, err := rows.Load(t.Context(), w.Machine); err != nil || row.Version != 0 || len(w.told) != 0 {
		t.Errorf("row is %+v, events %q, %v", row, w.told, err)
	}
}

// TestProposals: a dry run that proposes records each proposal and sends one event, until the proposal changes or is
// withdrawn. The state machine stays as it is.
func TestProposals(t *testing.T) {
	t.Parallel()
	rows := &controller.MemoryRows{}
	w := newWorld(t, rows)
	w.DryRun, w.Proposes = true, true
	proposed := 0
	for range 5 {
		w.measured(10, 0.9)
		proposed += len(w.tick(t).Proposed)
		w.now = w.now.Add(time.Minute)
	}
	w.now = w.now.Add(30 * time.Minute)
	w.measured(20, 0.01)
	w.tick(t)
	w.now = w.now.Add(10 * time.Minute)
	w.measured(10, 0.9) // within the hour
	proposed += len(w.tick(t).Proposed)
	attempts(t, w, 0, 4, 20)
	row, err := rows.Load(t.Context(), w.Machine)
	if got := what(row); err != nil || got != "adopted proposed withdrawn" || proposed != 1 {
		t.Errorf("history is %s, %v; %d proposals", got, err, proposed)
	}
	if got := strings.Join(w.told, ", "); got != "csv.processing.retry.manager/Retry Configuration Proposal" {
		t.Errorf("events are %s", got)
	}
	w.DryRun, w.now = false, w.now.Add(10*time.Minute)
	w.measured(10, 0.9)
	if res := w.tick(t); len(res.Applied) != 1 || res.Failed != "" {
		t.Errorf("after the dry run: %+v", res)
	}
	attempts(t, w, 0, 0, 20)
}

// TestOldVersionsAreDeleted: after a change, versions beyond the newest 100 are deleted, but none that an alias uses
// and none that a deployment published.
func TestOldVersionsAreDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &controller.MemoryRows{})
	w.Versions = w.client
	publish := func(description string) string {
		out, err := w.client.PublishStateMachineVersion(t.Context(), &sfn.PublishStateMachineVersionInput{
			StateMachineArn: &w.Machine, Description: &description})
		if err != nil {
			t.Fatal(err)
		}
		return *out.StateMachineVersionArn
	}
	change := func(n int) {
		text := strings.Replace(definition, `"TimeoutSeconds":30`, `"TimeoutSeconds":`+strconv.Itoa(31+n), 1)
		if _, err := w.client.UpdateStateMachine(t.Context(), &sfn.UpdateStateMachineInput{StateMachineArn: &w.Machine,
			Definition: &text}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 105 {
		change(i)
		switch i {
		case 0:
			version := publish("by hand")
			if _, err := w.client.CreateStateMachineAlias(t.Context(), &sfn.CreateStateMachineAliasInput{
				Name: sdk.String("kept"), RoutingConfiguration: []types.RoutingConfigurationListItem{
					{StateMachineVersionArn: &version, Weight: 100}}}); err != nil {
				t.Fatal(err)
			}
		case 1:
			publish(controller.ByDeployment)
		default:
			publish("stepback adapt: Save: at most 0 retries")
		}
	}
	w.measured(10, 0.9)
	if res := w.tick(t); len(res.Applied) != 1 || len(res.Warnings) > 0 {
		t.Fatalf("%+v", res)
	}
	out, err := w.client.ListStateMachineVersions(t.Context(),
		&sfn.ListStateMachineVersionsInput{StateMachineArn: &w.Machine, MaxResults: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []string
	for _, v := range out.StateMachineVersions {
		arn := *v.StateMachineVersionArn
		numbers = append(numbers, arn[strings.LastIndexByte(arn, ':')+1:])
	}
	if got := strings.Join(numbers[98:], " "); got != "8 7 2 1" {
		t.Errorf("the oldest of %d versions are %s", len(numbers), got)
	}
}

func TestSomebodysEditIsLeftAlone(t *testing.T) {
	t.Parallel()
	rows := &controller.MemoryRows{}
	w := newWorld(t, rows)
	w.measured(10, 0.01)
	w.tick(t)
	edited := strings.Replace(definition, `"MaxAttempts":4`, `"MaxAttempts":2`, 1)
	if _, err := w.client.UpdateStateMachine(t.Context(), &sfn.UpdateStateMachineInput{StateMachineArn: &w.Machine,
		Definition: &edited}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.now = w.now.Add(10 * time.Minute)
		w.measured(10, 0.9)
		if res := w.tick(t); !strings.HasPrefix(res.Note, "nothing changed: the definition was changed by another program or person") ||
			len(res.Decisions) != 0 {
			t.Errorf("%+v", res)
		}
	}
	attempts(t, w, 0, 2, 20)
	w.Adopt, w.now = true, w.now.Add(time.Minute)
	w.measured(10, 0.9)
	w.tick(t)
	attempts(t, w, 0, 0, 20)
	row, _ := rows.Load(t.Context(), w.Machine)
	if got := what(row); got != "adopted hands-off adopted begun applied" {
		t.Errorf("history is %s", got)
	}
}

// denied is a Step Functions client that may read but not change.
type denied struct{ controller.StepFunctions }

func (denied) UpdateStateMachine(
	context.Context,
	*sfn.UpdateStateMachineInput,
	...func(*sfn.Options),
) (*sfn.UpdateStateMachineOutput, error) {
	return nil, errors.New("AccessDeniedException: not authorized to perform states:UpdateStateMachine")
}

func TestAccessDeniedWhileApplyingChangesNothing(t *testing.T) {
	t.Parallel()
	rows := &controller.MemoryRows{}
	w := newWorld(t, rows)
	w.StepFunctions = denied{w.client}
	w.measured(10, 0.9)
	if res := w.tick(t); !strings.Contains(res.Failed, "AccessDeniedException") {
		t.Errorf("%+v", res)
	}
	row, _ := rows.Load(t.Context(), w.Machine)
	if got := what(row); got != "adopted begun failed" || len(row.States["Save"].Changes) != 0 {
		t.Errorf("history is %s, memory %+v", got, row.States)
	}
	w.StepFunctions, w.now = w.client, w.now.Add(time.Minute) // with the permission, the update succeeds at once
	w.measured(10, 0.9)
	w.tick(t)
	attempts(t, w, 0, 0, 20)
}

func TestTwoControllersTakeTurns(t *testing.T) {
	t.Parallel()
	rows := &controller.MemoryRows{}
	w := newWorld(t, rows)
	if _, err := rows.Save(t.Context(), controller.Row{Machine: w.Machine, Owner: "two",
		Until: noon.Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	w.measured(10, 0.9)
	if res := w.tick(t); res.Note != "the controller two holds the lease until 2026-11-22T12:01:00Z" {
		t.Errorf("%+v", res)
	}
	attempts(t, w, 0, 4, 20)
	w.now = noon.Add(2 * time.Minute)
	w.measured(10, 0.9)
	w.tick(t)
	attempts(t, w, 0, 0, 20)
}

// TestALeaseFromBeforeTheClockWasSetBack finds the lease of a controller that died, a day in the future.
func TestALeaseFromBeforeTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	rows := &controller.MemoryRows{}
	w := newWorld(t, rows)
	if _, err := rows.Save(t.Context(), controller.Row{Machine: w.Machine, Owner: "two",
		Until: noon.Add(24 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	w.measured(10, 0.9)
	if res := w.tick(t); res.Note != "" {
		t.Errorf("%+v", res)
	}
	attempts(t, w, 0, 0, 20)
}

func TestACrashBetweenUpdateAndEntry(t *testing.T) {
	t.Parallel()
	rows := &controller.MemoryRows{}
	w := newWorld(t, rows)
	w.measured(10, 0.01)
	w.tick(t)
	cut := strings.Replace(definition, `"MaxAttempts":4`, `"MaxAttempts":1`, 1)
	row, _ := rows.Load(t.Context(), w.Machine)
	row.History = append(row.History,
		controller.Entry{What: controller.Begun, State: "Save", After: controller.Hash(cut)})
	if _, err := rows.Save(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.UpdateStateMachine(t.Context(), &sfn.UpdateStateMachineInput{StateMachineArn: &w.Machine,
		Definition: &cut}); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Minute)
	w.measured(10, 0.01)
	if res := w.tick(t); res.Note != "" {
		t.Errorf("%+v", res)
	}
}

func TestMissingMetricsDecideNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, &controller.MemoryRows{})
	w.Metrics = controller.Recorded(nil)
	res := w.tick(t)
	if d := res.Decisions[0]; d.Verdict != decide.Unknown ||
		d.Reasons[0].Text != "only 0 of the last 5 minutes were measured, 3 are needed" {
		t.Errorf("%s", d)
	}
}

func TestReplaceKeepsEverythingElse(t *testing.T) {
	t.Parallel()
	nested := `{"StartAt":"M","TimeoutSeconds":3600,"States":{"M":{"Type":"Map","ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:123456789012:function:f","Retry":[{"ErrorEquals":["States.Timeout"]}],"End":true}}},"End":true}}}`
	targets, err := controller.Targets(nested)
	if err != nil || len(targets) != 1 || !targets[0].Closed || targets[0].Function != "f" ||
		targets[0].MachineTimeout != time.Hour ||
		targets[0].Base[0].MaxAttempts != 3 ||
		targets[0].Base[0].IntervalSeconds != 1 ||
		targets[0].Base[0].BackoffRate != 2 {
		t.Fatalf("%+v, %v", targets, err)
	}
	setting := decide.Setting{Retries: 1, Stretch: 2}
	out, err := controller.Replace(nested, "T", setting.Apply(targets[0].Base))
	want := strings.Replace(nested, `[{"ErrorEquals":["States.Timeout"]}]`,
		`[{"ErrorEquals":["States.Timeout"],"IntervalSeconds":2,"MaxAttempts":1,"BackoffRate":2}]`, 1)
	if err != nil || out != want {
		t.Errorf("%s, %v\nwant %s", out, err, want)
	}
	if _, err := controller.Replace(nested, "X", nil); err == nil {
		t.Error("a state that is not there was replaced")
	}
	if _, err := controller.Targets(`{"StartAt":"X"}`); err == nil ||
		!strings.Contains(err.Error(), "the definition would be rejected by Step Functions: ") {
		t.Errorf("error is %v", err)
	}
}
