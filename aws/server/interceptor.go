package server

import (
	"context"
	"net/http"

	"stepback/aws"
)

// Call carries an operation out on a request that has been read and checked.
type Call func(context.Context, *Request) (*Answer, error)

// Interceptor stands between a request, once it has been read and checked, and its operation. It calls next to have the
// operation carried out, with the same request or another one, or answers in its place. Its errors go to the client in
// the protocol of the request.
type Interceptor func(ctx context.Context, operation string, r *Request, next Call) (*Answer, error)

// intercepted is an Interceptor with the name of the model of the service that it is for.
type intercepted struct {
	model string
	f     Interceptor
}

type interceptorKey struct{}

// WithInterceptor has an interceptor stand before the operation that a request with this context asks a service for. It
// is for this one request: what the operation calls in turn, with a context of its own, is not intercepted.
func WithInterceptor(ctx context.Context, model string, f Interceptor) context.Context {
	return context.WithValue(ctx, interceptorKey{}, intercepted{model, f})
}

// carryOut carries out an operation, behind the interceptor of the request if it has one.
func (c *call) carryOut(ctx context.Context, r *Request) (*Answer, error) {
	i, ok := ctx.Value(interceptorKey{}).(intercepted)
	if !ok || i.model != c.service.model.Name {
		return c.op.Call(ctx, r)
	}
	return i.f(context.WithValue(ctx, interceptorKey{}, nil), c.op.model.Name, r, c.op.Call)
}

// Named is the name of the operation that a request asks for; empty when it asks for none. Of a service that speaks
// Query it reads the body.
func (s *Service) Named(w http.ResponseWriter, r *http.Request) string {
	c := &call{service: s, writer: w, request: r, codec: s.codecOf(r)}
	name, err := c.codec.operation(c)
	if err != nil {
		return ""
	}
	return name
}

// Refuse answers a request with an error, in the protocol of the request.
func (s *Service) Refuse(w http.ResponseWriter, r *http.Request, e *aws.Error) {
	id := aws.NewID()
	w.Header().Set("X-Amzn-Requestid", id)
	c := &call{service: s, writer: w, request: r, id: id, codec: s.codecOf(r)}
	w.Header().Set("Content-Type", c.codec.contentType(s))
	s.write(w, r, c.refuse(e))
}
