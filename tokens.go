package stepback

import (
	"context"
	"errors"
	"fmt"

	"stepback/jsonvalue"
)

// SendTaskSuccess ends the task of a task token with a result, and returns when that is kept. A task whose Resource
// ends in .waitForTaskToken hands its token out as $$.Task.Token. The output is encoded as JSON; a json.RawMessage or a
// []byte is JSON text already. The error is ErrInvalidToken or ErrTaskTimedOut if no task waits for the token.
func (e *Engine) SendTaskSuccess(ctx context.Context, token string, output any) error {
	text, err := jsonvalue.Marshal(output)
	if err != nil {
		return fmt.Errorf("the output of the task: %w", err)
	}
	return e.core.SendTaskSuccess(ctx, token, text)
}

// SendTaskFailure fails the task of a task token, and returns when that is kept. Retriers and catchers see the error by
// the name of a *Failure, of Errorf, or the one that Config.ErrorName gives it. Its errors are those of
// SendTaskSuccess.
func (e *Engine) SendTaskFailure(ctx context.Context, token string, err error) error {
	return e.core.SendTaskFailure(ctx, token, e.failureOf(err))
}

// failureOf returns an error as retriers and catchers see it.
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

// SendTaskHeartbeat restarts the time of HeartbeatSeconds for the task of a task token, and returns when that is kept.
// Its errors are those of SendTaskSuccess.
func (e *Engine) SendTaskHeartbeat(ctx context.Context, token string) error {
	return e.core.SendTaskHeartbeat(ctx, token)
}
