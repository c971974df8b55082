package histories_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/analysis"
	"stepback/adaptive/analysis/histories"
	"stepback/engine/clock"
	"stepback/local"
	"stepback/local/services/lambda/functions"
	"stepback/tasks/faults"
)

const role = "arn:aws:iam::000000000000:role/r"

// saving is a distributed Map whose children call a function into which faults are injected.
const saving = `{"StartAt":"Each","States":{"Each":{"Type":"Map","End":true,"MaxConcurrency":7,
 "ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"Save","States":{
 "Save":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","End":true,
  "Parameters":{"FunctionName":"save:$LATEST","Payload.$":"$"},
  "Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":60,"MaxAttempts":9,"BackoffRate":1,"JitterStrategy":"FULL"}]}}}}}}`

// TestJournalAndAPIAgree reads the same executions from a platform's journal and through the AWS SDK.
func TestJournalAndAPIAgree(t *testing.T) {
	t.Parallel()
	fault, err := faults.ParseSpec("Save:DatabaseConnectionError:40%")
	if err != nil {
		t.Fatal(err)
	}
	p, err := local.Open(t.Context(), local.Config{
		Dir: t.TempDir(), Clock: clock.Virtual(time.Now()), Faults: []faults.Spec{fault}, Seed: 3,
		BuiltIn: map[string]functions.BuiltIn{"save": func(functions.Surroundings) (functions.Program, error) {
			return functions.Program{Handler: func(n int) (int, error) { return n, nil }}, nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	err = p.Functions.PutLocal(t.Context(), p.Scope, &functions.LocalInput{Name: "save", BuiltIn: "save", Role: role})
	if err != nil {
		t.Fatal(err)
	}
	client := sfn.New(sfn.Options{Region: "us-east-1", BaseEndpoint: &p.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
	start(t, p, client)

	selection := histories.Selection{Machine: "saving", Since: time.Now().Add(-time.Hour)}
	var kept, asked analysis.Collector
	if err := histories.Journal(t.Context(), p.Journal, selection, &kept); err != nil {
		t.Fatal(err)
	}
	if err := histories.API(t.Context(), client, selection, &asked); err != nil {
		t.Fatal(err)
	}
	a, b := report(t, &kept), report(t, &asked)
	b.From, b.To = a.From, a.To // the API has a resolution of milliseconds
	if got := fmt.Sprint(a.Executions, a.Tasks, a.Running, a.Gaps); got != "201 200 0 0" {
		t.Errorf("executions, tasks, running and gaps are %s", got)
	}
	for i := range a.Classes {
		x, y := &a.Classes[i], &b.Classes[i]
		for k := range x.Retries {
			r, s := &x.Retries[k], &y.Retries[k]
			if r.Started != s.Started || r.Recovered != s.Recovered || r.Again != s.Again {
				t.Errorf("retry %d: the journal has %+v, the API %+v", k+1, r, s)
			}
		}
		if x.Callee != "lambda save" || y.Callee != x.Callee || y.Tasks != x.Tasks || x.Error != "DatabaseConnectionError" {
			t.Errorf("the journal has %s, %s, %d, the API %s, %d", x.Callee, x.Error, x.Tasks, y.Callee, y.Tasks)
		}
	}
	if x, y := a.Recommendations[0].From, b.Recommendations[0].From; x == nil || y == nil || *x != 9 || *y != 9 {
		t.Errorf("the present retries are %v by the journal and %v by the API, want 9", x, y)
	}
	none := histories.Selection{Machine: "other"}
	if err := histories.API(t.Context(), client, none, &asked); err == nil ||
		!strings.Contains(err.Error(), `no state machine "other"`) {
		t.Errorf("of a machine that is not there: %v", err)
	}
	// A machine that is named by its ARN is read without listing machines, for which no narrower permission exists.
	var direct analysis.Collector
	const saved = "arn:aws:states:us-east-1:000000000000:stateMachine:saving"
	if err := histories.API(t.Context(), unlisted{client}, histories.Selection{Machine: saved}, &direct); err != nil {
		t.Fatal(err)
	}
	if d := report(t, &direct); d.Executions != 201 || d.Tasks != 200 {
		t.Errorf("by its ARN: %d executions, %d tasks", d.Executions, d.Tasks)
	}
	none.Machine = saved + "s"
	if err := histories.API(t.Context(), unlisted{client}, none, &asked); err == nil ||
		!strings.Contains(err.Error(), `no state machine "`+none.Machine+`"`) {
		t.Errorf("of an ARN that is not there: %v", err)
	}
}

// unlisted may not list state machines.
type unlisted struct{ *sfn.Client }

func (unlisted) ListStateMachines(context.Context, *sfn.ListStateMachinesInput, ...func(*sfn.Options),
) (*sfn.ListStateMachinesOutput, error) {
	return nil, errors.New("AccessDeniedException")
}

func start(t *testing.T, p *local.Platform, client *sfn.Client) {
	t.Helper()
	m, err := client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("saving"), RoleArn: aws.String(role), Definition: aws.String(saving)})
	if err != nil {
		t.Fatal(err)
	}
	items := "[" + strings.TrimSuffix(strings.Repeat("1,", 200), ",") + "]"
	x, err := client.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: m.StateMachineArn,
		Input: &items})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Wait(t.Context(), *x.ExecutionArn); err != nil {
		t.Fatal(err)
	}
}

func report(t *testing.T, c *analysis.Collector) *analysis.Report {
	t.Helper()
	r, err := c.Analyze(analysis.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Classes) != 1 || len(r.Classes[0].Retries) == 0 {
		t.Fatalf("the classes are %+v", r.Classes)
	}
	return r
}
