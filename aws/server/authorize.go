package server

import "context"

// Authorizer decides whether a request that has been read and checked may be executed. model is the name of the API
// model (sfn). An error that is an *aws.Error is returned to the client.
type Authorizer func(ctx context.Context, model, operation string, r *Request) error

type authorizerKey struct{}

// WithAuthorizer makes services call a before they execute requests with this context.
func WithAuthorizer(ctx context.Context, a Authorizer) context.Context {
	return context.WithValue(ctx, authorizerKey{}, a)
}

type callerKey struct{}

// CallerKey returns the access key that signed the request of an operation, given the operation's context. It is empty
// if the request is not signed, or the context belongs to no operation.
func CallerKey(ctx context.Context) string {
	key, _ := ctx.Value(callerKey{}).(string)
	return key
}

// authorize calls the context's authorizer. Without an authorizer, every request is allowed.
func (c *call) authorize(ctx context.Context, r *Request) error {
	a, ok := ctx.Value(authorizerKey{}).(Authorizer)
	if !ok {
		return nil
	}
	return a(ctx, c.service.model.Name, c.op.model.Name, r)
}
