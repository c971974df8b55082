package awssdk

import (
	"context"
	"strings"

	"stepback/engine"
	"stepback/engine/interpreter"
	"stepback/engine/plan"
)

// Integration carries out arn:aws:states:::aws-sdk:service:action.
type Integration struct{ Caller *Caller }

// Invoke implements engine.Integration.
func (i Integration) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(t.Service, "aws-sdk:")
	s := service(name)
	if s == nil {
		return nil, &engine.TaskError{Name: plan.ErrRuntime, Cause: "The service " + name + " of the resource " + t.Resource +
			" is not supported; the services are " + strings.Join(Services(), ", ")}
	}
	names := sdkNaming(s)
	o, err := i.Caller.find(ctx, s, t.Action)
	if err != nil {
		return nil, names.taskError(s, params, t.Parameters, err)
	}
	a, err := o.call(ctx, params, sdkStyle)
	if err != nil {
		return nil, names.taskError(s, params, t.Parameters, err)
	}
	return interpreter.ValuePayload(a.output), nil
}
