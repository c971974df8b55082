package local_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"stepback/engine/clock"
	"stepback/local"
	"stepback/local/services/lambda/functions"
	"stepback/retrymetrics"
	"stepback/retrymetrics/metricsfile"
	"stepback/tasks/faults"
)

// open opens a platform that is closed at the end of the test.
func open(t *testing.T, cfg local.Config) *local.Platform {
	t.Helper()
	p, err := local.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// settings returns the configuration of AWS clients for a platform.
func settings(p *local.Platform) aws.Config {
	return aws.Config{Region: "us-east-1", BaseEndpoint: &p.Endpoint, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
}

func statesOf(p *local.Platform) *sfn.Client { return sfn.NewFromConfig(settings(p)) }

const role = "arn:aws:iam::000000000000:role/r"

// flaky is a machine that calls a function and retries every error.
const flaky = `{"StartAt":"Call","States":{"Call":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",
 "Parameters":{"FunctionName":"double","Payload.$":"$"},"OutputPath":"$.Payload",
 "Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":2,"MaxAttempts":9}],"End":true}}}`

// doubling is a built-in function.
var doubling = map[string]functions.BuiltIn{"double": func(s functions.Surroundings) (functions.Program, error) {
	return functions.Program{Handler: func(in struct{ N int }) (int, error) {
		_, err := s.Log.Write([]byte("doubling\n"))
		return 2 * in.N, err
	}}, nil
}}

// A run of an arbitrary machine is affected by faults and its retries are counted; the next platform on the directory
// has its function, executions and logs.
func TestARunOfAnyMachineIsCountedAndSuffersFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fault, err := faults.ParseSpec("Call:throttle:40%")
	if err != nil {
		t.Fatal(err)
	}
	p, err := local.Open(t.Context(), local.Config{
		Dir: dir, Clock: clock.Virtual(time.Now()), BuiltIn: doubling, Faults: []faults.Spec{fault}, Seed: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	states := statesOf(p)
	err = p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "double", BuiltIn: "double",
		Role: role})
	if err != nil {
		t.Fatal(err)
	}
	m, err := states.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: aws.String("flaky"),
		Definition: aws.String(flaky), RoleArn: aws.String(role)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{`{"N":1}`, `{"N":2}`, `{"N":3}`, `{"N":4}`} {
		x, err := states.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn,
			Input: &input})
		if err != nil {
			t.Fatal(err)
		}
		if ended, err := e.Wait(t.Context(), *x.ExecutionArn); err != nil || ended.Status != "SUCCEEDED" {
			t.Errorf("%s: %+v, %v", input, ended, err)
		}
	}
	injected := p.Faults.Counts()
	if len(injected) != 1 || injected[0].Injected == 0 {
		t.Fatalf("injected %+v", injected)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	points, err := metricsfile.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	throttled := 0.0
	for _, point := range points {
		if point.Metric == retrymetrics.Throttles && point.Labels.StateMachine == "flaky" &&
			point.Labels.State == "Call" {
			for i, v := range point.Values {
				throttled += v * float64(point.Counts[i])
			}
		}
	}
	if throttled != float64(injected[0].Injected) {
		t.Errorf("%v throttles are counted, %d were injected", throttled, injected[0].Injected)
	}
	next := open(t, local.Config{Dir: dir, BuiltIn: doubling})
	listed, err := lambda.NewFromConfig(settings(next)).ListFunctions(t.Context(), &lambda.ListFunctionsInput{})
	if err != nil || len(listed.Functions) != 1 || *listed.Functions[0].FunctionName != "double" {
		t.Errorf("%+v, %v", listed, err)
	}
	answer, err := lambda.NewFromConfig(settings(next)).Invoke(t.Context(), &lambda.InvokeInput{
		FunctionName: aws.String("double"), Payload: []byte(`{"N":21}`)})
	if err != nil || string(answer.Payload) != "42" {
		t.Errorf("%+v, %v", answer, err)
	}
	logged, err := next.Logs.Read(next.Scope, "/aws/lambda/double", func(string) bool { return true }, 0, math.MaxInt64)
	if err != nil || len(logged) != 5 || strings.TrimSpace(logged[0].Message) != "doubling" {
		t.Errorf("%+v, %v", logged, err)
	}
	executions, err := statesOf(next).ListExecutions(t.Context(), &sfn.ListExecutionsInput{
		StateMachineArn: m.StateMachineArn})
	if err != nil || len(executions.Executions) != 4 {
		t.Errorf("%+v, %v", executions, err)
	}
}

// An error can be injected into a task that publishes to SNS.
func TestFaultsBefallEveryKindOfTask(t *testing.T) {
	t.Parallel()
	p := open(t, local.Config{Clock: clock.Virtual(time.Now()),
		Faults: []faults.Spec{{State: "Tell", Error: "SNS.InternalErrorException", Rate: 1}}})
	topic, err := p.Topics.CreateTopic(p.Scope, "news")
	if err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]string{"Tell": "SNS.InternalErrorException", "Say": ""} {
		definition := `{"StartAt":"` + state + `","States":{"` + state + `":{"Type":"Task","Resource":` +
			`"arn:aws:states:::sns:publish","Parameters":{"TopicArn":"` + topic +
			`","Message":"m"},"End":true}}}`
		m, err := statesOf(p).CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: &state,
			Definition: &definition, RoleArn: aws.String(role)})
		if err != nil {
			t.Fatal(err)
		}
		x, err := statesOf(p).StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn})
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.Engine()
		if err != nil {
			t.Fatal(err)
		}
		if ended, err := e.Wait(t.Context(), *x.ExecutionArn); err != nil || ended.Failure.Name != want {
			t.Errorf("%s: %+v, %v", state, ended, err)
		}
	}
	if kept, err := os.ReadFile(filepath.Join(p.Dir, "notifications.jsonl")); err != nil ||
		strings.Count(string(kept), "\n") != 1 {
		t.Errorf("%s, %v", kept, err)
	}
}

// TestQueuesOutliveTheirPlatform sends to a queue from a state machine, and reads it with polls by a client of the
// next platform and by a state machine, which does not wait in real time.
func TestQueuesOutliveTheirPlatform(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := open(t, local.Config{Dir: dir, Clock: clock.Virtual(time.Now())})
	run := func(p *local.Platform, name, resource, parameters string) string {
		t.Helper()
		definition := `{"StartAt":"Do","States":{"Do":{"Type":"Task","Resource":"` + resource + `","Parameters":` +
			parameters + `,"End":true}}}`
		m, err := statesOf(p).CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: &name,
			Definition: &definition, RoleArn: aws.String(role)})
		if err != nil {
			t.Fatal(err)
		}
		x, err := statesOf(p).StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn})
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.Engine()
		if err != nil {
			t.Fatal(err)
		}
		ended, err := e.Wait(t.Context(), *x.ExecutionArn)
		if err != nil || ended.Status != "SUCCEEDED" {
			t.Fatalf("%s: %+v, %v", name, ended, err)
		}
		return ended.Output
	}
	made, err := sqs.NewFromConfig(settings(p)).CreateQueue(t.Context(), &sqs.CreateQueueInput{
		QueueName: aws.String("jobs"), Attributes: map[string]string{"DelaySeconds": "600"}})
	if err != nil || !strings.HasPrefix(*made.QueueUrl, p.Endpoint+"/") {
		t.Fatal(made, err)
	}
	run(p, "send", "arn:aws:states:::sqs:sendMessage", `{"QueueUrl":"`+*made.QueueUrl+`","MessageBody":{"n":7}}`)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	next := open(t, local.Config{Dir: dir, Clock: clock.Virtual(time.Now().Add(9*time.Minute + 50*time.Second))})
	found := run(next, "find", "arn:aws:states:::aws-sdk:sqs:getQueueUrl", `{"QueueName":"jobs"}`)
	if want := `{"QueueUrl":"` + next.Endpoint + `/000000000000/jobs"}`; found != want {
		t.Errorf("%s, want %s", found, want)
	}
	got := run(next, "poll", "arn:aws:states:::aws-sdk:sqs:receiveMessage",
		`{"QueueUrl":"`+*made.QueueUrl+`","WaitTimeSeconds":20}`)
	if !strings.Contains(got, `"Body":"{\"n\":7}"`) {
		t.Errorf("received %s", got)
	}
}

func TestADirectoryHasOnePlatform(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if s, err := local.Running(t.Context(), dir); s != nil || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
	p, err := local.Open(t.Context(), local.Config{Dir: dir, Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = local.Open(t.Context(), local.Config{Dir: dir})
	var taken *local.InUseError
	if !errors.As(err, &taken) || taken.Server == nil || taken.Server.Endpoint != p.Endpoint ||
		taken.Server.PID != os.Getpid() || taken.Server.Version != "v1" {
		t.Fatalf("%v", err)
	}
	s, err := local.Running(t.Context(), dir)
	if err != nil || s == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	stranger := *s
	stranger.Token = "guessed"
	for server, want := range map[*local.Server]int{s: 501, &stranger: 403} {
		answer, err := server.Ask(t.Context(), strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("answered %d, want %d", answer.StatusCode, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "server.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err := local.Running(t.Context(), dir); s != nil || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
	open(t, local.Config{Dir: dir})
}

func TestATemporaryPlatformLeavesNothing(t *testing.T) {
	t.Parallel()
	p, err := local.Open(t.Context(), local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is there still: %v", p.Dir, err)
	}
}

// TestADirectoryOfAnEarlierVersion opens a data directory left by the version of 22 November 2026, which had two
// platforms: an import, and a server that was killed while an execution waited.
func TestADirectoryOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	dir := unpacked(t, "testdata/data-directory-2026-11-22.tar.gz")
	var resumed []string
	p := open(t, local.Config{Dir: dir, Clock: clock.Virtual(time.Date(2026, 11, 22, 12, 55, 0, 0, time.UTC)),
		Resumed: func(x local.Resumed) { resumed = append(resumed, x.Name) }})
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	const waiting = "arn:aws:states:us-east-1:000000000000:execution:waiter:w1"
	if x, err := e.Wait(t.Context(), waiting); err != nil || x.Status != "SUCCEEDED" ||
		!x.Stop.Truncate(time.Second).Equal(time.Date(2026, 11, 22, 13, 53, 43, 0, time.UTC)) {
		t.Errorf("%+v, %v", x, err)
	}
	machines, err := statesOf(p).ListStateMachines(t.Context(), &sfn.ListStateMachinesInput{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range machines.StateMachines {
		names = append(names, *m.Name)
	}
	if !slices.Equal(names, []string{"waiter", "greeter"}) || !slices.Equal(resumed, []string{"w1"}) {
		t.Errorf("machines %v, resumed %v", names, resumed)
	}
	for arn, want := range map[string]string{
		"greeter:g1": "SUCCEEDED",
		"csv-import:small-csv-dc2e738e692f43a24b32467cce8a43ae": "SUCCEEDED",
	} {
		x, err := statesOf(p).DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{
			ExecutionArn: aws.String("arn:aws:states:us-east-1:000000000000:execution:" + arn)})
		if err != nil || string(x.Status) != want {
			t.Errorf("%s: %+v, %v", arn, x, err)
		}
	}
	f, err := lambda.NewFromConfig(settings(p)).GetFunction(t.Context(), &lambda.GetFunctionInput{
		FunctionName: aws.String("greet")})
	if err != nil || f.Configuration.CodeSize != 487 {
		t.Errorf("%+v, %v", f, err)
	}
	logged, err := p.Logs.Read(p.Scope, "/aws/lambda/greet", func(string) bool { return true }, 0, math.MaxInt64)
	if err != nil || len(logged) == 0 {
		t.Errorf("%+v, %v", logged, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "objects", "uploads", "a.txt")); string(text) != "hello" {
		t.Errorf("%s, %v", text, err)
	}
}
