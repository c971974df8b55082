package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/conformance"
	"stepback/engine/history"
	"stepback/engine/integration/lambda"
	"stepback/engine/interpreter"
	"stepback/engine/journal"
)

const account, region = "123456789012", "us-east-1"

// cloud is an engine in virtual time that answers API calls without a network. Time only passes while a case waits.
type cloud struct {
	engine  *engine.Engine
	clock   *clock.Clock
	objects *conformance.Objects
}

func newCloud(t *testing.T, stubs *conformance.Functions) *cloud {
	t.Helper()
	c := &cloud{clock: clock.Virtual(time.Now().Truncate(time.Millisecond)), objects: &conformance.Objects{}}
	stubs.Clock = c.clock
	e, err := engine.New(engine.Config{
		Clock: c.clock, Journal: journal.NewMemory(), Objects: c.objects, TempDir: t.TempDir(), Region: region, Account: account,
		Integrations: map[string]engine.Integration{
			"lambda:invoke": lambda.Integration{Invoker: stubs}, "function": lambda.Function{Invoker: stubs},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.engine = e
	c.clock.Hold()
	t.Cleanup(func() {
		e.Close()
		c.clock.Close()
	})
	return c
}

type operation func(c *cloud, ctx context.Context, p map[string]any) (string, error)

// operations are the API operations that the embedded engine can answer, with the parameters it understands.
var operations = map[string]struct {
	params []string
	call   operation
}{
	"CreateStateMachine":  {[]string{"name", "definition", "roleArn", "type"}, (*cloud).createStateMachine},
	"StartExecution":      {[]string{"stateMachineArn", "name", "input"}, (*cloud).startExecution},
	"StopExecution":       {[]string{"executionArn"}, (*cloud).stopExecution},
	"DescribeExecution":   {[]string{"executionArn"}, (*cloud).describeExecution},
	"GetExecutionHistory": {[]string{"executionArn"}, (*cloud).history},
	"CreateBucket":        {[]string{"Bucket"}, func(*cloud, context.Context, map[string]any) (string, error) { return "{}", nil }},
	"PutObject":           {[]string{"Bucket", "Key", "Body"}, (*cloud).putObject},
}

// call carries an API call out.
func (c *cloud) call(ctx context.Context, t *testing.T, op string, p map[string]any) *conformance.Answer {
	t.Helper()
	text, err := operations[op].call(c, ctx, p)
	if err != nil {
		return refusal(err, text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	a := &conformance.Answer{}
	if err := d.Decode(&a.Result); err != nil {
		t.Fatalf("%s answered %s: %v", op, text, err)
	}
	return a
}

// refusal is an error as the API words it; subject is the ARN that the call was about.
func refusal(err error, subject string) *conformance.Answer {
	var definition *engine.DefinitionError
	switch {
	case errors.As(err, &definition):
		return &conformance.Answer{Code: "InvalidDefinition", Message: err.Error()}
	case errors.Is(err, engine.ErrNoExecution):
		return &conformance.Answer{Code: "ExecutionDoesNotExist", Message: "Execution Does Not Exist: '" + subject + "'"}
	case errors.Is(err, engine.ErrInput):
		return &conformance.Answer{Code: "InvalidExecutionInput", Message: err.Error()}
	default:
		return &conformance.Answer{Code: "Unsupported", Message: err.Error()}
	}
}

func text(p map[string]any, name string) string { s, _ := p[name].(string); return s }

func (c *cloud) createStateMachine(_ context.Context, p map[string]any) (string, error) {
	m, err := c.engine.CreateStateMachine(text(p, "name"), text(p, "definition"), text(p, "roleArn"), text(p, "type") == "EXPRESS")
	if err != nil {
		return "", err
	}
	return answer("stateMachineArn", m.ARN, "creationDate", 0), nil
}

func (c *cloud) startExecution(ctx context.Context, p map[string]any) (string, error) {
	name, input := text(p, "name"), "{}"
	if name == "" {
		name = uuid.NewString()
	}
	if s, ok := p["input"].(string); ok {
		input = s
	}
	arn, err := c.engine.StartExecution(ctx, text(p, "stateMachineArn"), name, input)
	if err != nil {
		return "", err
	}
	return answer("executionArn", arn, "startDate", 0), nil
}

func (c *cloud) stopExecution(ctx context.Context, p map[string]any) (string, error) {
	arn := text(p, "executionArn")
	if err := c.engine.StopExecution(ctx, arn, history.Failure{}); err != nil {
		return arn, err
	}
	if _, err := c.engine.Wait(ctx, arn); err != nil {
		return arn, err
	}
	return answer("stopDate", 0), nil
}

func (c *cloud) describeExecution(ctx context.Context, p map[string]any) (string, error) {
	arn := text(p, "executionArn")
	x, err := c.engine.DescribeExecution(ctx, arn)
	if err != nil {
		return arn, err
	}
	included := map[string]any{"included": true}
	members := []any{
		"executionArn", x.ARN, "stateMachineArn", x.MachineARN, "name", x.Name, "status", x.Status, "startDate", 0,
		"input", x.Input, "inputDetails", included, "redriveCount", 0,
	}
	if x.Status != interpreter.Running {
		members = append(members, "stopDate", 0)
	}
	switch x.Status {
	case interpreter.Running, interpreter.Succeeded:
		members = append(members, "redriveStatus", "NOT_REDRIVABLE",
			"redriveStatusReason", "Execution is "+string(x.Status)+" and cannot be redriven")
	default:
		members = append(members, "redriveStatus", "REDRIVABLE")
	}
	if x.Status == interpreter.Succeeded {
		members = append(members, "output", x.Output, "outputDetails", included)
	}
	if x.Status == interpreter.TimedOut { // the service says no more than that
		return answer(members...), nil
	}
	if x.Failure.HasError {
		members = append(members, "error", x.Failure.Error)
	}
	if x.Failure.HasCause {
		members = append(members, "cause", x.Failure.Cause)
	}
	return answer(members...), nil
}

func (c *cloud) history(ctx context.Context, p map[string]any) (string, error) {
	arn := text(p, "executionArn")
	events, err := c.engine.History(ctx, arn)
	if err != nil {
		return arn, err
	}
	b := []byte(`{"events":[`)
	for i := range events {
		if i > 0 {
			b = append(b, ',')
		}
		b = events[i].AppendJSON(b, true)
	}
	return string(append(b, `],"ResponseMetadata":{"HTTPStatusCode":200}}`...)), nil
}

func (c *cloud) putObject(ctx context.Context, p map[string]any) (string, error) {
	body := text(p, "Body")
	return "{}", c.objects.Put(ctx, text(p, "Bucket"), text(p, "Key"), strings.NewReader(body), int64(len(body)))
}

// answer is the JSON object of the names and values.
func answer(members ...any) string {
	o := map[string]any{"ResponseMetadata": map[string]any{"HTTPStatusCode": 200}}
	for i := 0; i < len(members); i += 2 {
		o[members[i].(string)] = members[i+1]
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(o); err != nil {
		panic(err)
	}
	return b.String()
}

// wait carries a wait step out, letting virtual time pass.
func (c *cloud) wait(ctx context.Context, s *conformance.Step, arn string) error {
	switch s.Wait {
	case "execution-terminated":
		c.clock.Release()
		_, err := c.engine.Wait(ctx, arn)
		c.clock.Hold()
		return err
	case "sleep":
		return c.clock.Sleep(ctx, time.Duration(s.Seconds*float64(time.Second)))
	default: // an execution has started once StartExecution has answered
		return nil
	}
}
