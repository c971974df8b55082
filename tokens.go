package stepback

import (
	"context"
	"errors"
	"fmt"

	"stepback/jsonvalue"
)

// SendTaskSuccess ends the task with a task token successfully, and returns once the result is stored. A task whose
// Resource ends in .waitForTaskToken passes its token on as $$.Task.Token. The output is encoded as JSON; a
// json.RawMessage or a []byte already is JSON text. If no task waits for the token, the error is ErrInvalidToken or
// ErrTaskTimedOut.
func (e *Engine) SendTaskSuccess(ctx context.Context, token string, output any) error {
	text, err := jsonvalue.Marshal(output)
	if err != nil {
		return fmt.Errorf("the output of the task: %w", err)
	}
	return e.core.SendTaskSuccess(ctx, token, text)
}

// SendTaskFailure makes the task with a task token fail, and returns once the failure is stored. The error name for
// retriers and catchers is that of a *Failure, that given to Errorf, or that returned by Config.ErrorName. Its
// errors are those of SendTaskSuccess.
func (e *Engine) SendTaskFailure(ctx context.Context, token string, err error) error {
	return e.core.SendTaskFailure(ctx, token, e.failureOf(err))
}

// failureOf converts an error to the Failure that retriers and catchers receive.
func (e *Engine) failureOf(err error) Failure {
	if err == nil {
		return Failure{}
	}
	var f *Failure
	name := e.errorName(err)
	if errors.As(err, &f) && f.Name == name {
		return f.Cut()
	}
	failure := Failure{Name: name, Cause: err.Error()}
	return failure.Cut()
}

// SendTaskHeartbeat restarts the HeartbeatSeconds of the task with a task token, and returns once that is stored.
// Its errors are those of SendTaskSuccess.
func (e *Engine) SendTaskHeartbeat(ctx context.Context, token string) error {
	return e.core.SendTaskHeartbeat(ctx, token)
}
