package functions

import (
	"cmp"
	"context"
	"math/rand/v2"

	"stepback/aws"
	"stepback/services/lambda/runner"
)

// Invoke runs a function once, in the scope unless FunctionName is an ARN of another one. The qualifier is a version,
// an alias or empty. Errors are those of runner.Service.Invoke.
func (s *Service) Invoke(ctx context.Context, scope aws.Scope, in runner.InvokeInput) (runner.InvokeOutput, error) {
	a, err := s.resolve(scope, &in)
	if err != nil {
		return runner.InvokeOutput{}, err
	}
	return a.lambda.Invoke(ctx, in)
}

// InvokeEvent takes an event, as runner.Service.InvokeEvent does.
func (s *Service) InvokeEvent(scope aws.Scope, in runner.InvokeInput) (requestID string, err error) {
	a, err := s.resolve(scope, &in)
	if err != nil {
		return "", err
	}
	return a.lambda.InvokeEvent(in)
}

// CheckInvoke tells whether an invocation would find its function.
func (s *Service) CheckInvoke(scope aws.Scope, in runner.InvokeInput) error {
	_, err := s.resolve(scope, &in)
	return err
}

// resolve replaces what a call names by a function and a version, which an alias draws.
func (s *Service) resolve(scope aws.Scope, in *runner.InvokeInput) (*area, error) {
	n, err := runner.ParseName(in.FunctionName, in.Qualifier)
	if err != nil {
		return nil, err
	}
	scope.Account, scope.Region = cmp.Or(n.Account, scope.Account), cmp.Or(n.Region, scope.Region)
	asked := cmp.Or(n.Qualifier, latest)
	a, r, err := s.find(scope, n.Function, ":"+asked)
	if err != nil {
		return nil, err
	}
	version := asked
	if alias, ok := r.Aliases[asked]; ok {
		version = alias.draw(rand.Float64())
	}
	if _, ok := r.numbered(version); !ok {
		return nil, notFound("Function not found: %s:%s", a.arn(n.Function), asked)
	}
	in.FunctionName, in.Qualifier = n.Function, version
	in.InvokedARN = a.arn(n.Function) + ending(n.Qualifier)
	return a, nil
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
