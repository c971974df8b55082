package awssdk

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"stepback/engine"
	"stepback/jsonvalue"
)

// Optimized performs one optimized integration, such as sqs:sendMessage.
type Optimized struct {
	Caller *Caller

	serviceName string // as AWS SDK integrations name it
	action      string
	prefix      string   // prefix of error names
	base        string   // name of errors that are not in the model
	product     string   // the service's name in causes; empty for newer integrations
	texts       []string // members that may be any JSON and are sent as text
	check       func(params jsonvalue.Value) error
	prepare     preparation
	shape       func(params, result jsonvalue.Value) jsonvalue.Value
	judge       func(result jsonvalue.Value) error
	// deliver stores the result in the location that the task's parameters specify.
	deliver func(ctx context.Context, o *Optimized, t *engine.Task, result jsonvalue.Value) (jsonvalue.Value, error)
}

// preparation converts the parameters of a task to those of an action; it may call the service.
type preparation func(ctx context.Context, o *Optimized, t *engine.Task, params jsonvalue.Value) (jsonvalue.Value,
	error)

// Integrations returns all integrations that a caller can perform, for engine.Config.Integrations. It returns
// states:startExecution separately, because that integration does not itself wait for the execution.
func Integrations(c *Caller) (all *engine.Integrations, startExecution *Optimized) {
	all = new(engine.Integrations).Handle("aws-sdk", "*", Integration{c})
	for name, o := range optimized {
		bound := *o
		bound.Caller = c
		service, action, _ := strings.Cut(name, ":")
		all.Handle(service, action, &bound)
	}
	start := startExecutionOf
	start.Caller = c
	return all, &start
}

// usesSDKv2 reports whether the integration is based on the SDK for Java 2.x, as AWS SDK integrations are: its results
// have no HTTP metadata, and its names, times and causes are like theirs.
func (o *Optimized) usesSDKv2() bool { return o.product == "" }

// Invoke implements engine.Integration.
func (o *Optimized) Invoke(ctx context.Context, t *engine.Task) (engine.Result, error) {
	params, err := t.Value()
	if err != nil {
		return nil, err
	}
	if o.check != nil {
		if err := o.check(params); err != nil {
			return nil, err
		}
	}
	if o.prepare != nil {
		if params, err = o.prepare(ctx, o, t, params); err != nil {
			return nil, err
		}
	}
	a, err := o.call(ctx, t.RoleARN, o.action, o.withTexts(params), t.Parameters)
	if err != nil {
		return nil, err
	}
	if a.output, err = o.finish(ctx, t, params, a.output); err != nil {
		return nil, err
	}
	if o.usesSDKv2() {
		return engine.ValueResult(a.output), nil
	}
	return engine.ValueResult(a.withMetadata()), nil
}

// finish converts the service's response to the task's result.
func (o *Optimized) finish(ctx context.Context, t *engine.Task, params, result jsonvalue.Value) (jsonvalue.Value,
	error) {
	if o.shape != nil {
		result = o.shape(params, result)
	}
	if o.judge != nil {
		if err := o.judge(result); err != nil {
			return result, err
		}
	}
	if o.deliver != nil {
		return o.deliver(ctx, o, t, result)
	}
	return result, nil
}

// Call calls another action of the same service, with the same error names. An empty role means the execution's
// role. The result has no HTTP metadata.
func (o *Optimized) Call(ctx context.Context, role, action string, params jsonvalue.Value) (jsonvalue.Value, error) {
	a, err := o.call(ctx, role, action, params, params.JSON())
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return a.output, nil
}

// call calls an action; text is the form of the parameters that errors quote.
func (o *Optimized) call(ctx context.Context, role, action string, params jsonvalue.Value, text string) (*answer,
	error) {
	s, err := serviceOf(o.serviceName)
	if err != nil {
		return nil, engine.NewFailure(engine.StatesRuntime, err.Error())
	}
	n := optimizedNaming(o, s)
	op, err := o.Caller.find(ctx, s, action, o.Caller.account(role, params))
	if err != nil {
		return nil, n.taskError(op, params, text, err)
	}
	look := optimizedStyle
	if o.usesSDKv2() {
		look = sdkStyle
	}
	a, err := op.call(ctx, params, look)
	if err != nil {
		return nil, n.taskError(op, params, text, err)
	}
	return a, nil
}

// withTexts converts the members that may be any JSON to text.
func (o *Optimized) withTexts(params jsonvalue.Value) jsonvalue.Value {
	for _, name := range o.texts {
		if v, ok := params.Get(name); ok && !v.IsNull() && v.Kind() != jsonvalue.String {
			params = params.With(name, jsonvalue.OfString(v.JSON()))
		}
	}
	return params
}

// withMetadata returns the result in the form of optimized integrations, with the response's HTTP status, headers and
// request ID.
func (a *answer) withMetadata() jsonvalue.Value {
	const extra = 3
	out := jsonvalue.NewObject(a.output.Len() + extra)
	for i, key := range a.output.Keys() {
		out.Set(key, a.output.At(i))
	}
	all, first := headers(a.header)
	h := jsonvalue.NewObject(extra)
	h.Set("AllHttpHeaders", all)
	h.Set("HttpHeaders", first)
	h.Set("HttpStatusCode", jsonvalue.OfInt(int64(a.status)))
	out.Set("SdkHttpMetadata", h.Value())
	m := jsonvalue.NewObject(1)
	m.Set("RequestId", jsonvalue.OfString(a.request))
	out.Set("SdkResponseMetadata", m.Value())
	return out.Value()
}

// headers returns the headers of a response in two forms: with all their values, and with the first value of each.
func headers(h http.Header) (all, first jsonvalue.Value) {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	a, f := jsonvalue.NewObject(len(h)), jsonvalue.NewObject(len(h))
	for _, name := range names {
		values := make([]jsonvalue.Value, len(h[name]))
		for i, v := range h[name] {
			values[i] = jsonvalue.OfString(v)
		}
		key := name
		if strings.EqualFold(name, "x-amzn-requestid") {
			key = "x-amzn-RequestId"
		}
		a.Set(key, jsonvalue.OfArray(values))
		f.Set(key, jsonvalue.OfString(h.Get(name)))
	}
	return a.Value(), f.Value()
}
