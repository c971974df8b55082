package local

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"stepback/aws"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/local/services/iam/access"
	"stepback/local/services/iam/policy"
	"stepback/local/services/sts"
	"stepback/tasks/lambda/invocation"
)

// functionKeys returns a function that creates the keys that functions sign with in their roles; nil if IAM is not
// enforced.
func (p *Platform) functionKeys() func(role, function string) (map[string]string, error) {
	if !p.cfg.EnforceIAM {
		return nil
	}
	return func(role, function string) (map[string]string, error) {
		keys, ok, err := sts.Stand(p.Documents, role, function)
		if err != nil || !ok {
			return nil, err
		}
		return map[string]string{"AWS_ACCESS_KEY_ID": keys.Key, "AWS_SECRET_ACCESS_KEY": keys.Secret,
			"AWS_SESSION_TOKEN": keys.Token}, nil
	}
}

// ofMachines is the session name of state machines acting in their roles.
const ofMachines = "StepFunctions"

// actingKey is the context key of the access key with which a task acts.
type actingKey struct{}

// tasks makes tasks act with the role of their credentials, or of their state machine. A nil guard returns next.
func (g *guard) tasks(next engine.Integration) engine.Integration {
	if g == nil {
		return next
	}
	return engine.Around(next, func(ctx context.Context, t *engine.Task, to engine.Integration) (engine.Result, error) {
		ctx, _, err := g.withRole(ctx, cmp.Or(t.RoleARN, t.MachineRoleARN), ofMachines)
		if err != nil {
			return nil, err
		}
		return to.Invoke(ctx, t)
	})
}

// invoker authorizes the functions that tasks call. A nil guard returns next.
func (g *guard) invoker(scope aws.Scope, next invocation.Invoker) invocation.Invoker {
	if g == nil {
		return next
	}
	return judgedInvoker{g, scope, next}
}

type judgedInvoker struct {
	guard *guard
	scope aws.Scope
	next  invocation.Invoker
}

// Invoke implements invocation.Invoker.
func (i judgedInvoker) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	key, ok := ctx.Value(actingKey{}).(string)
	if !ok {
		return i.next.Invoke(ctx, r)
	}
	in := jsonvalue.NewObject(2)
	in.Set("FunctionName", jsonvalue.OfString(r.FunctionName))
	if r.Qualifier != "" {
		in.Set("Qualifier", jsonvalue.OfString(r.Qualifier))
	}
	signed, err := http.NewRequestWithContext(ctx, http.MethodPost, i.guard.p.Endpoint, http.NoBody)
	if err != nil {
		return nil, err
	}
	signed.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+key+"/20260101/"+i.scope.Region+"/lambda/aws4_request")
	needs := access.Of("lambda", "Invoke", in.Value(), i.scope)
	if err := i.guard.decide(ctx, signed, i.scope, "lambda", needs, policy.Context{}); err != nil {
		var refused *aws.Error
		if errors.As(err, &refused) {
			refused.RequestID = aws.NewID()
		}
		return nil, err
	}
	return i.next.Invoke(ctx, r)
}
