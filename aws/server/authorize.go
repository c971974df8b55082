package server

import "context"

// Authorizer decides whether a request that has been read and checked may be carried out: the name of the API model
// (sfn), the operation and the request. An error that is an *aws.Error goes to the client.
type Authorizer func(ctx context.Context, model, operation string, r *Request) error

type authorizerKey struct{}

// WithAuthorizer has the services that answer requests with this context ask somebody first.
func WithAuthorizer(ctx context.Context, a Authorizer) context.Context {
	return context.WithValue(ctx, authorizerKey{}, a)
}

// authorize asks whoever WithAuthorizer named; without one, everything may be done.
func (c *call) authorize(ctx context.Context, r *Request) error {
	a, ok := ctx.Value(authorizerKey{}).(Authorizer)
	if !ok {
		return nil
	}
	return a(ctx, c.service.model.Name, c.op.model.Name, r)
}
