package functions

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// Invoke performs an invocation of any of the three types. The function is looked up in scope, unless FunctionName
// is an ARN in another one; if the request has a role and the name is not an ARN, it is looked up in the role's
// account. The qualifier is a version, an alias or empty. The error is an *aws.Error, or ctx's if ctx ended first.
// If the request has a stream, it receives the response of every successful synchronous invocation: in one piece if the
// function does not stream.
func (s *Service) Invoke(ctx context.Context, scope aws.Scope, r *invocation.Request) (*invocation.Answer, error) {
	a, err := s.invokeOnce(ctx, scope, r)
	return inOnePiece(r, a, err)
}

func (s *Service) invokeOnce(ctx context.Context, scope aws.Scope, r *invocation.Request) (*invocation.Answer, error) {
	resolved := *r
	t, err := s.resolve(scope, &resolved)
	if err != nil {
		return nil, err
	}
	if err := checkTenant(t.version, &resolved); err != nil {
		return nil, err
	}
	switch {
	case r.Type == invocation.DryRun:
		return &invocation.Answer{StatusCode: http.StatusNoContent, RequestID: aws.NewID()}, nil
	case t.version.DurableConfig != nil && s.durable != nil:
		return s.durable.Invoke(ctx, t.durable(r), &resolved)
	case r.DurableExecutionName != "":
		return nil, invalid("The function is not durable, so its invocation can have no durable execution name.")
	case r.Type == invocation.Event:
		return s.accept(ctx, t, &resolved)
	}
	return t.area.lambda.Invoke(ctx, &resolved)
}

// In returns an invoker for the functions of a scope.
func (s *Service) In(scope aws.Scope) invocation.Invoker { return scoped{s, scope} }

// scoped invokes the functions of one scope.
type scoped struct {
	service *Service
	scope   aws.Scope
}

// Invoke implements invocation.Invoker.
func (s scoped) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	return s.service.Invoke(ctx, s.scope, r)
}

// target is the function version that an invocation runs, with the qualifier of the request.
type target struct {
	area    *area
	record  *record
	version *Configuration
	asked   string
}

// resolve replaces the function and the qualifier of a request with a function and a version. For an alias with
// routing, it picks the version at random.
func (s *Service) resolve(scope aws.Scope, in *invocation.Request) (*target, error) {
	n, err := invocation.ParseName(in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	scope.Account = cmp.Or(n.Account, accountOf(in.RoleARN), scope.Account)
	scope.Region = cmp.Or(n.Region, scope.Region)
	asked := cmp.Or(n.Qualifier, latest)
	a, r, err := s.find(scope, n.Function, ":"+asked)
	if err != nil {
		s.elsewhere(scope, n.Function)
		return nil, err
	}
	version := asked
	if alias, ok := r.Aliases[asked]; ok {
		version = alias.draw(rand.Float64())
	}
	c, ok := r.numbered(version)
	if !ok {
		return nil, notFound("Function not found: %s:%s", a.arn(n.Function), asked)
	}
	in.FunctionName, in.Qualifier = n.Function, version
	in.InvokedARN = a.arn(n.Function) + ending(n.Qualifier)
	return &target{a, r, c, asked}, nil
}

// accountOf returns the account in a role's ARN, or "" if role is empty.
func accountOf(role string) string {
	a, _ := aws.ParseARN(role)
	return a.Account
}

// draw picks a version for a random number in [0, 1).
func (a Alias) draw(number float64) string {
	if a.RoutingConfig != nil {
		for version, weight := range a.RoutingConfig.AdditionalVersionWeights { // at most one
			if number < weight {
				return version
			}
		}
	}
	return a.FunctionVersion
}
