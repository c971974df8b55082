package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"stepback/adaptive/controller"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/lambdas/internal/devstack"
	"stepback/local"
	"stepback/local/services/lambda/functions"
	"stepback/retry"
)

// The deployed resources: the controller and everything it needs from the CDK app's dev template, with their names.
const (
	machine = "arn:aws:states:us-east-1:000000000000:stateMachine:csv-import-dev"
	table   = "csv-import-dev-retry_configurations"
)

// realTime is the environment variable that makes the tests run for the full hour in real time.
const realTime = "STEPBACK_REAL_TIME"

// deployed lists the logical IDs, by prefix, of the resources taken from the template.
var deployed = []string{"Adapt", "Metrics", "ConfigurationSchedule", "StateMachine", "RetryConfigurations", "CircuitBreakers"}

// template returns the dev template without the import: the state machine has a different definition, which calls one
// function, and a queue receives what the controller sends to EventBridge.
func template(t *testing.T, definition string) devstack.Resources {
	t.Helper()
	taken := devstack.Of(t, func(id string) bool {
		return devstack.Begins(id, deployed...) && !devstack.Begins(id, "StateMachineRoleDefaultPolicy")
	})
	for _, r := range taken {
		if r["Type"] == "AWS::StepFunctions::StateMachine" {
			properties := r["Properties"].(map[string]any)
			properties["DefinitionString"] = definition
			delete(properties, "DefinitionSubstitutions")
		}
	}
	taken["Told"] = map[string]any{"Type": "AWS::SQS::Queue", "Properties": map[string]any{"QueueName": "told"}}
	taken["Telling"] = map[string]any{"Type": "AWS::Events::Rule", "Properties": map[string]any{
		"EventPattern": map[string]any{"source": []string{"csv.processing.retry.manager"}},
		"Targets": []any{map[string]any{"Id": "queue",
			"Arn": map[string]any{"Fn::GetAtt": []string{"Told", "Arn"}}}},
	}}
	return taken
}

// callee is the function that the state machine calls. In the brown-out it refuses calls beyond its capacity.
type callee struct {
	clock    *clock.Clock
	lasts    time.Duration // duration of a served call
	from, to time.Duration // the brown-out
	aMinute  int64         // calls served per minute in the brown-out; 0 means any number
	atOnce   int64         // calls served at once in the brown-out; 0 means any number

	begun   atomic.Int64 // Unix milliseconds
	minute  atomic.Int64
	served  atomic.Int64 // in the current minute
	running atomic.Int64
	refused atomic.Int64
}

func (c *callee) handle(ctx context.Context) error {
	now := c.clock.Now()
	if minute := now.Unix() / 60; c.minute.Swap(minute) != minute {
		c.served.Store(0)
	}
	running := c.running.Add(1)
	defer c.running.Add(-1)
	if at := now.Sub(time.UnixMilli(c.begun.Load())); at >= c.from && at < c.to {
		if c.aMinute > 0 && c.served.Add(1) > c.aMinute || c.atOnce > 0 && running > c.atOnce {
			c.refused.Add(1)
			return messages.InvokeResponse_Error{Type: retry.TimeoutError, Message: "there is no room"}
		}
	}
	if c.lasts == 0 {
		return nil
	}
	return c.clock.Sleep(ctx, c.lasts)
}

// laptop is a platform in virtual time with the stack deployed on it.
type laptop struct {
	t        *testing.T
	platform *local.Platform
	cfg      aws.Config
	callee   *callee
	begun    time.Time
	ended    chan *journal.Execution // executions started by the test
}

// deploy deploys the template with CloudFormation, with the real bootstraps.
func deploy(t *testing.T, definition string, c *callee) *laptop {
	t.Helper()
	if os.Getenv(realTime) != "" {
		c.clock = clock.Real()
	} else { // function logs are timed by the system clock, which must not be far off
		c.clock = clock.Virtual(time.Now().UTC().Truncate(time.Minute))
	}
	l := &laptop{t: t, callee: c, ended: make(chan *journal.Execution, 1)}
	var err error
	l.platform, err = local.Open(t.Context(), local.Config{Clock: c.clock, Dir: t.TempDir(),
		BuiltIn: map[string]functions.BuiltIn{"callee": func(functions.Surroundings) (functions.Program, error) {
			return functions.Program{Handler: c.handle, Timeout: time.Hour}, nil
		}},
		Observe: func(x *journal.Execution, _ []history.Event) {
			if x.MapRunARN == "" && x.Name == "main" {
				l.ended <- x
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.platform.Close(); err != nil {
			t.Error(err)
		}
	})
	l.cfg = devstack.Config(l.platform.Endpoint)
	if err := l.platform.Functions.PutLocal(t.Context(), l.platform.Scope, &functions.LocalInput{Name: "callee",
		BuiltIn: "callee", Role: "arn:aws:iam::000000000000:role/callee"}); err != nil {
		t.Fatal(err)
	}
	template(t, definition).Deploy(t, l.platform.Endpoint)
	return l
}

// call calls an operation of a service on the platform.
func (l *laptop) call(service, operation string, in, out any) {
	l.t.Helper()
	devstack.Call(l.t, l.cfg, service, operation, in, out)
}

// run starts an execution of a state machine and waits for its end.
func (l *laptop) run(arn, input string) {
	l.t.Helper()
	l.begun = l.platform.Clock.Now()
	l.callee.begun.Store(l.begun.UnixMilli())
	l.call("sfn", "StartExecution", map[string]any{"stateMachineArn": arn, "name": "main", "input": input}, nil)
	select {
	case x := <-l.ended:
		if x.Status != history.Succeeded {
			l.t.Fatalf("%s: %s", x.Status, l.ending(x.ARN))
		}
	case <-l.t.Context().Done():
		l.t.Fatal(l.t.Context().Err())
	}
}

// ending returns the last event of an execution.
func (l *laptop) ending(arn string) string {
	l.t.Helper()
	var out map[string]any
	l.call("sfn", "GetExecutionHistory", map[string]any{"executionArn": arn, "reverseOrder": true, "maxResults": 1}, &out)
	text, err := json.Marshal(out["events"])
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}

// record returns the audit record in the table, with its changes as lines and their minutes.
func (l *laptop) record() (changes []string, row controller.Row) {
	l.t.Helper()
	var out struct {
		Item map[string]struct{ S, N string }
	}
	l.call("dynamodb", "GetItem", map[string]any{"TableName": table,
		"Key": map[string]any{"state_machine": map[string]string{"S": machine}}}, &out)
	if err := json.Unmarshal([]byte(out.Item["config"].S), &row); err != nil {
		l.t.Fatalf("%v: %v", out, err)
	}
	for _, e := range row.History {
		l.t.Logf("%3.0f min  %-8s %s", e.At.Sub(l.begun).Minutes(), e.What, e.Text)
		if e.What == controller.Begun || e.What == controller.Failed {
			continue
		}
		changes = append(changes, string(e.What)+" "+e.State)
	}
	return changes, row
}

// told returns the controller's events that reached the queue, ordered by time.
func (l *laptop) told() []told {
	l.t.Helper()
	queues := sqs.NewFromConfig(l.cfg)
	var all []told
	for {
		out, err := queues.ReceiveMessage(l.t.Context(), &sqs.ReceiveMessageInput{MaxNumberOfMessages: 10,
			QueueUrl: aws.String(l.platform.Endpoint + "/" + devstack.Account + "/told")})
		if err != nil {
			l.t.Fatal(err)
		}
		if len(out.Messages) == 0 {
			slices.SortFunc(all, func(a, b told) int { return a.Detail.Timestamp.Compare(b.Detail.Timestamp) })
			return all
		}
		for _, m := range out.Messages {
			var e told
			if err := json.Unmarshal([]byte(*m.Body), &e); err != nil {
				l.t.Fatal(err)
			}
			all = append(all, e)
		}
	}
}

// told is an event sent by the controller.
type told struct {
	Type   string `json:"detail-type"`
	Detail struct {
		StateMachineArn, State string
		Timestamp              time.Time
		MapRun                 *struct{ Concurrency int }
		NewConfig              struct{ Retries int }
	}
}

// retry returns the Retry of the state Call in the definition of a state machine or version.
func (l *laptop) retry(arn string) string {
	l.t.Helper()
	var out struct{ Definition string }
	l.call("sfn", "DescribeStateMachine", map[string]any{"stateMachineArn": arn}, &out)
	targets, err := controller.Targets(out.Definition)
	if err != nil || len(targets) != 1 {
		l.t.Fatal(targets, err)
	}
	text, err := json.Marshal(targets[0].Base)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}

// versions returns the descriptions of the versions, oldest first, and the number of the version that the alias
// points at.
func (l *laptop) versions() (descriptions []string, live string) {
	l.t.Helper()
	states := sfn.NewFromConfig(l.cfg)
	out, err := states.ListStateMachineVersions(l.t.Context(), &sfn.ListStateMachineVersionsInput{
		StateMachineArn: aws.String(machine)})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, v := range slices.Backward(out.StateMachineVersions) {
		d, err := states.DescribeStateMachine(l.t.Context(),
			&sfn.DescribeStateMachineInput{StateMachineArn: v.StateMachineVersionArn})
		if err != nil {
			l.t.Fatal(err)
		}
		descriptions = append(descriptions, aws.ToString(d.Description))
	}
	alias, err := states.DescribeStateMachineAlias(l.t.Context(), &sfn.DescribeStateMachineAliasInput{
		StateMachineAliasArn: aws.String(machine + ":live")})
	if err != nil {
		l.t.Fatal(err)
	}
	arn := aws.ToString(alias.RoutingConfiguration[0].StateMachineVersionArn)
	return descriptions, arn[strings.LastIndexByte(arn, ':')+1:]
}

// needsTime skips the test in short runs, and if the bootstraps cannot be built.
func needsTime(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds two bootstraps and runs more than an hour of virtual time")
	}
	if runtime.GOOS == "windows" {
		t.Skip("bootstraps of provided.al2023 do not run on Windows")
	}
}

// In a brown-out the deployed controller cuts the retries of an open stream, triggered by its schedule and using the
// metrics that the deployed metrics function derives from the state machine's log, and restores them afterwards.
func TestBrownOutOfAStream(t *testing.T) {
	t.Parallel()
	needsTime(t)
	const (
		call = `{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"callee","Payload.$":"$"},
			"TimeoutSeconds":30,"Retry":[{"ErrorEquals":["TimeoutError"],"IntervalSeconds":2,"MaxAttempts":4,"BackoffRate":2}],
			"Catch":[{"ErrorEquals":["States.ALL"],"Next":"GivenUp"}],"End":true}`
		// Thirty executions at the start of each minute.
		traffic = `{"StartAt":"Minutes","States":{"Minutes":{"Type":"Map","MaxConcurrency":1,"End":true,"ItemProcessor":{
			"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"Items","States":{
			"Items":{"Type":"Pass","Result":[` + "%s" + `],"Next":"Starts"},
			"Starts":{"Type":"Map","ResultPath":null,"Next":"Wait","ItemProcessor":{"StartAt":"Start","States":{"Start":{
				"Type":"Task","Resource":"arn:aws:states:::states:startExecution",
				"Parameters":{"StateMachineArn":"` + machine + `:live","Input":{}},"End":true}}}},
			"Wait":{"Type":"Wait","Seconds":60,"End":true}}}}}}`
	)
	c := &callee{from: 15 * time.Minute, to: 30 * time.Minute, aMinute: 20}
	l := deploy(t, `{"StartAt":"Call","States":{"Call":`+call+`,"GivenUp":{"Type":"Succeed"}}}`, c)
	base := l.retry(machine)
	var out struct{ StateMachineArn string }
	l.call("sfn", "CreateStateMachine", map[string]any{"name": "traffic", "roleArn": "arn:aws:iam::000000000000:role/traffic",
		"definition": fmt.Sprintf(traffic, numbers(30))}, &out)
	l.run(out.StateMachineArn, "["+numbers(60)+"]")

	changes, row := l.record()
	if want := []string{"adopted ", "applied Call", "applied Call"}; !slices.Equal(changes, want) {
		t.Fatalf("the audit record has %q, want %q", changes, want)
	}
	cut, restored := row.History[2].At.Sub(l.begun), row.History[4].At.Sub(l.begun)
	if cut < c.from || cut >= c.to {
		t.Errorf("retries were cut after %s, the brown-out is from %s to %s", cut, c.from, c.to)
	}
	if restored < max(c.to, cut+30*time.Minute) {
		t.Errorf("retries were restored after %s, cut after %s, and the brown-out ends after %s", restored, cut, c.to)
	}
	descriptions, live := l.versions()
	if len(descriptions) != 3 || descriptions[0] != "deployment" || !strings.HasPrefix(descriptions[1], "stepback adapt: Call: ") ||
		live != "3" {
		t.Errorf("versions %q, the alias leads to %s", descriptions, live)
	}
	if less := l.retry(machine + ":2"); !strings.Contains(less, `"MaxAttempts":0`) {
		t.Errorf("the cut Retry is %s", less)
	}
	for _, arn := range []string{machine, machine + ":3"} {
		if got := l.retry(arn); got != base {
			t.Errorf("the Retry of %s is %s, want %s", arn, got, base)
		}
	}
	events := l.told()
	if len(events) != 2 || events[0].Type != "Retry Configuration Update" || events[0].Detail.StateMachineArn != machine ||
		events[0].Detail.State != "Call" || events[0].Detail.NewConfig.Retries != 0 ||
		!events[1].Detail.Timestamp.Equal(row.History[4].At) {
		t.Errorf("EventBridge was told %+v", events)
	}
}

// In a brown-out the deployed controller lowers the concurrency of a running Map, and afterwards raises it to its
// initial value.
func TestBrownOutOfAMap(t *testing.T) {
	t.Parallel()
	needsTime(t)
	const definition = `{"StartAt":"Rows","States":{"Rows":{"Type":"Map","Label":"Rows","MaxConcurrency":8,"ToleratedFailurePercentage":100,
		"ResultPath":null,"End":true,"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
		"StartAt":"Call","States":{"Call":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
		"Parameters":{"FunctionName":"callee","Payload.$":"$"},"ResultPath":null,"TimeoutSeconds":60,"End":true,
		"Retry":[{"ErrorEquals":["TimeoutError"],"IntervalSeconds":5,"MaxAttempts":4,"BackoffRate":2}]}}}}}}`
	c := &callee{lasts: 12 * time.Second, from: 15 * time.Minute, to: 30 * time.Minute, atOnce: 4}
	l := deploy(t, definition, c)
	l.run(machine+":live", "["+numbers(1700)+"]")

	changes, row := l.record()
	if want := []string{"adopted ", "applied Call", "applied Call"}; !slices.Equal(changes, want) {
		t.Fatalf("the audit record has %q, want %q", changes, want)
	}
	cut, restored := row.History[1], row.History[3]
	if at := cut.At.Sub(l.begun); cut.After != "4" || at < c.from || at >= c.to {
		t.Errorf("the Map Run's concurrency is cut to %s after %s", cut.After, at)
	}
	if at := restored.At.Sub(l.begun); restored.After != "8" || at < c.to {
		t.Errorf("it is set to %s after %s", restored.After, at)
	}
	events := l.told()
	if len(events) != 2 || events[0].Detail.MapRun == nil || events[0].Detail.MapRun.Concurrency != 4 ||
		events[1].Detail.MapRun == nil || events[1].Detail.MapRun.Concurrency != 8 {
		t.Errorf("EventBridge was told %+v", events)
	}
	var runs struct{ MapRuns []struct{ MapRunArn string } }
	l.call("sfn", "ListMapRuns", map[string]any{"executionArn": "arn:aws:states:us-east-1:000000000000:execution:csv-import-dev:main"},
		&runs)
	var run struct {
		MaxConcurrency int
		Status         string
	}
	l.call("sfn", "DescribeMapRun", map[string]any{"mapRunArn": runs.MapRuns[0].MapRunArn}, &run)
	if run.MaxConcurrency != 8 || run.Status != "SUCCEEDED" {
		t.Errorf("the Map Run ends with %+v", run)
	}
}

// numbers returns the numbers from 0 to n-1 as the elements of a JSON array.
func numbers(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return strings.Join(all, ",")
}
