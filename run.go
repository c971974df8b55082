package stepback

import (
	"context"
	"encoding/json"
	"fmt"

	"stepback/engine"
)

// Run is an execution that was started. Its methods return ErrNoExecution if there is no such execution.
type Run struct {
	engine  *Engine
	arn     string
	express *engine.Started // of an EXPRESS execution, which the journal only has after its end; nil for all others
}

// ARN returns the execution's ARN.
func (r *Run) ARN() string { return r.arn }

// Wait waits for the end of the execution and returns it. A failed execution is no error.
func (r *Run) Wait(ctx context.Context) (*Execution, error) {
	wait := func(ctx context.Context) (*engine.Execution, error) { return r.engine.core.Wait(ctx, r.arn) }
	if r.express != nil {
		wait = r.express.Wait
	}
	x, err := wait(ctx)
	if err != nil {
		return nil, err
	}
	return executionOf(x), nil
}

// Output waits for the end of the execution and decodes its output into the value that out points to. The error of an
// execution that did not succeed is a *Failure.
func (r *Run) Output(ctx context.Context, out any) error {
	x, err := r.Wait(ctx)
	if err != nil {
		return err
	}
	if x.Status != Succeeded {
		f := x.Failure
		return fmt.Errorf("%s %s: %w", r.arn, x.Status, &f)
	}
	return json.Unmarshal([]byte(x.Output), out)
}

// Describe returns the execution as it is now. An EXPRESS execution is not found before its end.
func (r *Run) Describe(ctx context.Context) (*Execution, error) {
	x, err := r.engine.core.DescribeExecution(ctx, r.arn)
	if err != nil {
		return nil, err
	}
	described := executionOf(x)
	if x.Status == Running {
		described.Retries, err = r.engine.core.Retries(ctx, r.arn)
	}
	return described, err
}

// History returns the events of the execution so far.
func (r *Run) History(ctx context.Context) ([]Event, error) { return r.engine.core.History(ctx, r.arn) }

// Stop ends the execution with status Aborted. why may be the zero Failure. Stop does not wait for the end; Wait does.
// Stopping an execution that has ended changes nothing.
func (r *Run) Stop(ctx context.Context, why Failure) error {
	return r.engine.core.StopExecution(ctx, r.arn, why)
}

// Redrive continues a STANDARD execution that failed, timed out or was aborted, at the state where that happened.
// It returns once the redrive is stored. States that succeeded are not repeated. If the execution cannot be
// redriven, the error is an *engine.NotRedrivableError with the reason: it is running, it succeeded, or it ended
// more than 14 days ago.
func (r *Run) Redrive(ctx context.Context) error {
	_, err := r.engine.core.RedriveExecution(ctx, r.arn, "")
	return err
}
