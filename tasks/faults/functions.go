package faults

import (
	"context"
	"strings"

	"stepback/tasks/lambda/invocation"
)

// Functions returns an Invoker that injects faults into some invocations of another.
func (i *Injector) Functions(next invocation.Invoker) invocation.Invoker { return functions{i, next} }

// functions is an Invoker that injects faults.
type functions struct {
	*Injector
	next invocation.Invoker
}

// Invoke implements invocation.Invoker.
func (f functions) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	hit, d, ok := drawFault(f.Injector, r.State, r.Payload, r.Attempt)
	if !ok {
		return f.invoke(ctx, r)
	}
	switch name := hit.Error; {
	case name == Hang, name == "States.Timeout":
		return nil, f.parker.Park(ctx)
	case name == Crash:
		return f.crash(ctx, r, d)
	case name == Throttle:
		return nil, serviceError("TooManyRequestsException")
	case strings.HasPrefix(name, "Lambda.") && name != "Lambda.Unknown":
		return nil, serviceError(strings.TrimPrefix(name, "Lambda."))
	default:
		return functionError(d, name, messageOf(name)), nil
	}
}

// invoke invokes the function. For a batch, it removes the items that faults affect.
func (f functions) invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	if b, carries := f.batches[r.State]; carries {
		return f.invokeBatch(ctx, &b, r)
	}
	return f.next.Invoke(ctx, r)
}

// crash simulates that the process dies: before the function ran, or after it, when the work is done and the response
// is lost.
func (f functions) crash(ctx context.Context, r *invocation.Request, d draw) (*invocation.Answer, error) {
	if d.afterward {
		if _, err := f.invoke(ctx, r); ctx.Err() != nil {
			return nil, err
		}
	}
	return functionError(d, "Runtime.ExitError", "RequestId: "+d.requestID()+
		" Error: Runtime exited with error: signal: killed"), nil
}
