package awssdk

import (
	"context"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// Integration performs tasks with the resource arn:aws:states:::aws-sdk:service:action.
type Integration struct{ Caller *Caller }

// Invoke implements engine.Integration.
func (i Integration) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	result, err := i.Caller.call(ctx, t.RoleARN, strings.TrimPrefix(t.Service, "aws-sdk:"), t.Action, params,
		t.Parameters)
	if err != nil {
		return nil, err
	}
	return engine.ValueResult(result), nil
}

// Call calls an action of a service on behalf of another integration. name is the service's name in a Resource.
// Parameters, result and errors have the form of an AWS SDK integration.
func (c *Caller) Call(ctx context.Context, name, action string, params jsonvalue.Value) (jsonvalue.Value, error) {
	return c.call(ctx, "", name, action, params, params.JSON())
}

// call calls an action with a role, which may be empty; text is the form of the parameters that errors quote.
func (c *Caller) call(ctx context.Context, role, name, action string, params jsonvalue.Value,
	text string) (jsonvalue.Value, error) {
	s, err := serviceOf(name)
	if err != nil {
		return jsonvalue.Value{}, engine.NewFailure(engine.StatesRuntime, err.Error())
	}
	names := sdkNaming(s)
	o, err := c.find(ctx, s, action, c.account(role, params))
	if err != nil {
		return jsonvalue.Value{}, names.taskError(o, params, text, err)
	}
	a, err := o.call(ctx, params, sdkStyle)
	if err != nil {
		return jsonvalue.Value{}, names.taskError(o, params, text, err)
	}
	return a.output, nil
}
