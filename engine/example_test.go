package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
)

// mailer carries out the tasks of a service that AWS does not have.
type mailer struct{ busy int }

func (m *mailer) Invoke(_ context.Context, t *engine.Task) (engine.Result, error) {
	if m.busy--; m.busy >= 0 {
		return nil, engine.NewFailure("Busy", "the mail server is busy")
	}
	return engine.TextResult(`{"sent": ` + t.Parameters + `}`), nil
}

// An engine in virtual time: a task is retried, and its history has the times. Ten seconds pass on the engine's clock
// and none on the wall.
func Example() {
	ctx := context.Background()
	c := clock.Virtual(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC))
	defer c.Close()
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(),
		Integrations: new(engine.Integrations).Handle("mail", "send", &mailer{busy: 1}),
	})
	if err != nil {
		panic(err)
	}
	defer e.Close()
	m, err := e.Define(engine.Definition{Name: "Mail", Text: `{"StartAt": "Send", "States": {"Send": {
		"Type": "Task", "Resource": "arn:aws:states:::mail:send", "Parameters": {"to.$": "$.to"},
		"Retry": [{"ErrorEquals": ["Busy"], "IntervalSeconds": 10}], "End": true}}}`})
	if err != nil {
		panic(err)
	}
	arn, err := e.StartExecution(ctx, m.ARN, "mail-1", `{"to": "ann"}`)
	if err != nil {
		panic(err)
	}
	if _, err := e.Wait(ctx, arn); err != nil {
		panic(err)
	}
	x, err := e.DescribeExecution(ctx, arn)
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Status, x.Output)
	events, err := e.History(ctx, arn)
	if err != nil {
		panic(err)
	}
	for i := range events {
		fmt.Println(events[i].At().Format(time.TimeOnly), events[i].Type)
	}
	// Output:
	// SUCCEEDED {"sent": {"to":"ann"}}
	// 09:00:00 ExecutionStarted
	// 09:00:00 TaskStateEntered
	// 09:00:00 TaskScheduled
	// 09:00:00 TaskStarted
	// 09:00:00 TaskFailed
	// 09:00:10 TaskScheduled
	// 09:00:10 TaskStarted
	// 09:00:10 TaskSucceeded
	// 09:00:10 TaskStateExited
	// 09:00:10 ExecutionSucceeded
}

// A worker polls for the tasks of an activity and reports by the task token.
func ExampleEngine_GetActivityTask() {
	ctx := context.Background()
	const activity = "arn:aws:states:us-east-1:000000000000:activity:pack"
	c := clock.Real()
	defer c.Close()
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(),
		Activity: func(arn string) (bool, error) { return arn == activity, nil },
	})
	if err != nil {
		panic(err)
	}
	defer e.Close()
	m, err := e.Define(engine.Definition{Name: "Pack", Text: `{"StartAt": "Pack", "States": {"Pack": {
		"Type": "Task", "Resource": "` + activity + `", "TimeoutSeconds": 3600, "End": true}}}`})
	if err != nil {
		panic(err)
	}
	arn, err := e.StartExecution(ctx, m.ARN, "order-17", `{"items": 2}`)
	if err != nil {
		panic(err)
	}
	task, err := e.GetActivityTask(ctx, activity, "worker-1") // waits up to a minute; nil if there is no task
	if err != nil {
		panic(err)
	}
	fmt.Println("to pack:", task.Input)
	if err := e.SendTaskSuccess(ctx, task.Token, `"packed"`); err != nil {
		panic(err)
	}
	x, err := e.Wait(ctx, arn)
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Output)
	fmt.Println(errors.Is(e.SendTaskHeartbeat(ctx, task.Token), engine.ErrTaskTimedOut)) // the task is over
	// Output:
	// to pack: {"items": 2}
	// "packed"
	// true
}

// The most specific handler gets a task. A registration that cannot be meant panics when the program starts.
func ExampleIntegrations() {
	var m engine.Integrations
	m.Handle("aws-sdk", "*", engine.Around(nil, answer("the SDK"))).
		Handle("aws-sdk:sqs", "sendMessage", engine.Around(nil, answer("a queue in memory")))
	for _, t := range []engine.Task{
		{Service: "aws-sdk:sqs", Action: "sendMessage"}, {Service: "aws-sdk:s3", Action: "getObject"},
	} {
		result, err := m.Handler(t.Service, t.Action).Invoke(context.Background(), &t)
		if err != nil {
			panic(err)
		}
		fmt.Println(t.Service, t.Action, result.Text())
	}
	defer func() { fmt.Println(recover()) }()
	m.Handle("ecs", "runTask.sync", engine.Around(nil, answer("a job")))
	// Output:
	// aws-sdk:sqs sendMessage "a queue in memory"
	// aws-sdk:s3 getObject "the SDK"
	// engine: Handle("ecs", "runTask.sync"): a handler gets the tasks of every pattern: register "runTask" without .sync
}

func answer(text string) func(context.Context, *engine.Task, engine.Integration) (engine.Result, error) {
	return func(context.Context, *engine.Task, engine.Integration) (engine.Result, error) {
		return engine.TextResult(`"` + text + `"`), nil
	}
}

// The executions that failed with an error, and how one of them continues where it failed.
func ExampleEngine_RedriveExecution() {
	ctx := context.Background()
	c := clock.Real()
	defer c.Close()
	e, err := engine.New(engine.Config{
		Clock: c, Journal: journal.NewMemory(),
		Integrations: new(engine.Integrations).Handle("mail", "send", &mailer{busy: 1}),
	})
	if err != nil {
		panic(err)
	}
	defer e.Close()
	m, err := e.Define(engine.Definition{Name: "Mail", Text: `{"StartAt": "Send", "States": {"Send": {
		"Type": "Task", "Resource": "arn:aws:states:::mail:send", "End": true}}}`})
	if err != nil {
		panic(err)
	}
	arn, err := e.StartExecution(ctx, m.ARN, "mail-1", `{}`)
	if err != nil {
		panic(err)
	}
	if _, err := e.Wait(ctx, arn); err != nil {
		panic(err)
	}
	failed, _, err := e.List(ctx, engine.Query{Of: m.ARN, Error: "Busy"}, 0, "")
	if err != nil {
		panic(err)
	}
	for _, x := range failed {
		fmt.Println(x.Name, x.Status)
		if _, err := e.RedriveExecution(ctx, x.ARN, "once"); err != nil {
			panic(err)
		}
	}
	x, err := e.Wait(ctx, arn)
	if err != nil {
		panic(err)
	}
	fmt.Println(x.Name, x.Status)
	// Output:
	// mail-1 FAILED
	// mail-1 SUCCEEDED
}
