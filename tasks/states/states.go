// Package states performs states:startExecution. With .sync and .sync:2 the task lasts as long as the execution that
// it starts, which is stopped if the task is given up. The package runs no executions itself: it calls the API of
// Step Functions.
package states

import (
	"context"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/jsonvalue"
)

// API calls Step Functions. Its errors have the names that tasks receive.
type API interface {
	engine.Integration // starts an execution
	// Call calls an action with a role. An empty role means the execution's role.
	Call(ctx context.Context, role, action string, params jsonvalue.Value) (jsonvalue.Value, error)
}

// Integration performs states:startExecution.
type Integration struct {
	API API
	// Await waits until an execution has ended. The calling task holds the engine's clock.
	Await func(ctx context.Context, t *engine.Task, arn string) error
}

// CheckParameters implements engine.ParameterChecker. It checks the parameters if API implements that interface,
// too.
func (i Integration) CheckParameters(t *engine.Task) error {
	if c, ok := i.API.(engine.ParameterChecker); ok {
		return c.CheckParameters(t)
	}
	return nil
}

// stopTime limits the time that stopping an execution may take if its task was given up.
const stopTime = 10 * time.Second

// Invoke implements engine.Integration.
func (i Integration) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	started, err := i.start(ctx, t)
	if err != nil || t.Pattern != engine.Sync && t.Pattern != engine.Sync2 {
		return started, err
	}
	arn, _ := started.Value().Get("ExecutionArn")
	t.Submitted(started)
	if err := i.Await(ctx, t, arn.Text()); err != nil {
		if engine.GivenUp(ctx) {
			i.stop(ctx, t, arn)
		}
		return nil, err
	}
	return i.outcome(ctx, t, arn)
}

// start starts the execution, unless it was already started before a crash.
func (i Integration) start(ctx context.Context, t *engine.Task) (engine.Result, error) {
	if t.Submission != "" {
		return engine.TextResult(t.Submission), nil
	}
	return i.API.Invoke(ctx, t)
}

// outcome returns the result or error of a .sync task, which contains the description of the execution.
func (i Integration) outcome(ctx context.Context, t *engine.Task, arn jsonvalue.Value) (engine.Result, error) {
	x, err := i.API.Call(ctx, t.RoleARN, "DescribeExecution", members("ExecutionArn", arn))
	if err != nil {
		return nil, err
	}
	if status, _ := x.Get("Status"); status.Text() != string(history.Succeeded) {
		return nil, engine.NewFailure(engine.StatesTaskFailed, x.JSON())
	}
	if t.Pattern == engine.Sync2 {
		for _, field := range []string{"Input", "Output"} {
			text, ok := x.Get(field)
			if !ok {
				continue
			}
			v, err := jsonvalue.Parse(text.Text())
			if err != nil {
				return nil, err
			}
			x = x.With(field, v)
		}
	}
	return engine.ValueResult(x), nil
}

// stop stops an execution whose task was given up. Errors are ignored, because nothing waits for the task any more.
func (i Integration) stop(ctx context.Context, t *engine.Task, arn jsonvalue.Value) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	_, _ = i.API.Call(ctx, t.RoleARN, "StopExecution", members("ExecutionArn", arn))
}

func members(name string, v jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(1)
	b.Set(name, v)
	return b.Value()
}

// pollInterval is the interval at which executions of another engine are polled.
const pollInterval = 2 * time.Second

// Poll returns a function for Await that waits for executions of another engine by polling them.
func Poll(api API, c *clock.Clock) func(ctx context.Context, t *engine.Task, arn string) error {
	return func(ctx context.Context, t *engine.Task, arn string) error {
		for {
			x, err := api.Call(ctx, t.RoleARN, "DescribeExecution", members("ExecutionArn", jsonvalue.OfString(arn)))
			if err != nil {
				return err
			}
			if status, _ := x.Get("Status"); status.Text() != string(history.Running) {
				return nil
			}
			if err := c.Sleep(ctx, pollInterval); err != nil {
				return err
			}
		}
	}
}
