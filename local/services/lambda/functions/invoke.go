package functions

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"

	"stepback/aws"
	"stepback/tasks/lambda/invocation"
)

// Invoke carries out one of the three types of invocations, in the scope unless FunctionName is an ARN of another one.
// With a role, a function without an ARN is looked for in the role's account. The qualifier is a version, an alias or
// empty. An error is an *aws.Error, or ctx's when ctx ended first.
func (s *Service) Invoke(ctx context.Context, scope aws.Scope, r *invocation.Request) (*invocation.Answer, error) {
	resolved := *r
	t, err := s.resolve(scope, &resolved)
	if err != nil {
		return nil, err
	}
	switch r.Type {
	case invocation.Event:
		return s.accept(ctx, t, &resolved)
	case invocation.DryRun:
		return &invocation.Answer{StatusCode: http.StatusNoContent, RequestID: aws.NewID()}, nil
	}
	return t.area.lambda.Invoke(ctx, &resolved)
}

// In returns what invokes the functions of a scope.
func (s *Service) In(scope aws.Scope) invocation.Invoker { return scoped{s, scope} }

// scoped is the functions of one scope.
type scoped struct {
	service *Service
	scope   aws.Scope
}

// Invoke implements invocation.Invoker.
func (s scoped) Invoke(ctx context.Context, r *invocation.Request) (*invocation.Answer, error) {
	return s.service.Invoke(ctx, s.scope, r)
}

// target is what an invocation is for: the version that carries it out, and the qualifier that was asked for.
type target struct {
	area    *area
	record  *record
	version *Configuration
	asked   string
}

// resolve replaces what a call names by a function and a version, which an alias draws.
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

// accountOf is the account of a role's ARN; empty when there is none.
func accountOf(role string) string {
	a, _ := aws.ParseARN(role)
	return a.Account
}

// draw picks a version for a number from 0 up to 1.
func (a Alias) draw(number float64) string {
	if a.RoutingConfig != nil {
		for version, weight := range a.RoutingConfig.AdditionalVersionWeights { // one at most
			if number < weight {
				return version
			}
		}
	}
	return a.FunctionVersion
}
