package server

import (
	"context"
	"net/http"

	"stepback/aws"
)

// Call executes an operation on a request that has been read and checked.
type Call func(context.Context, *Request) (*Answer, error)

// Interceptor runs after a request has been read and checked, and before its operation. It calls next to execute
// the operation, with the same request or another one, or returns an answer itself. Its errors are returned to the
// client in the request's protocol.
type Interceptor func(ctx context.Context, operation string, r *Request, next Call) (*Answer, error)

// intercepted pairs an Interceptor with the model name of the service that it applies to.
type intercepted struct {
	model  string
	f      Interceptor
	before *intercepted // the interceptor that runs before this one; nil if there is none
}

type interceptorKey struct{}

// WithInterceptor adds an interceptor for the request with this context to the given service. It runs after those
// that were added before. It applies only to this one request: calls that the operation makes with another context
// are not intercepted.
func WithInterceptor(ctx context.Context, model string, f Interceptor) context.Context {
	before, _ := ctx.Value(interceptorKey{}).(*intercepted)
	return context.WithValue(ctx, interceptorKey{}, &intercepted{model, f, before})
}

// carryOut executes an operation, through the request's interceptors.
func (c *call) carryOut(ctx context.Context, r *Request) (*Answer, error) {
	next, found := c.op.Call, false
	for i, _ := ctx.Value(interceptorKey{}).(*intercepted); i != nil; i = i.before {
		if i.model != c.service.model.Name {
			continue
		}
		f, inner := i.f, next
		next = func(ctx context.Context, r *Request) (*Answer, error) { return f(ctx, c.op.model.Name, r, inner) }
		found = true
	}
	if found {
		ctx = context.WithValue(ctx, interceptorKey{}, (*intercepted)(nil))
	}
	return next(ctx, r)
}

// Named returns the name of the operation that a request calls; empty if it names none. For a service with the Query
// protocol, it reads the body.
func (s *Service) Named(w http.ResponseWriter, r *http.Request) string {
	c := &call{service: s, writer: w, request: r, codec: s.codecOf(r)}
	name, err := c.codec.operation(c)
	if err != nil {
		return ""
	}
	return name
}

// Refuse responds to a request with an error, in the request's protocol.
func (s *Service) Refuse(w http.ResponseWriter, r *http.Request, e *aws.Error) {
	id := aws.NewID()
	w.Header().Set("X-Amzn-Requestid", id)
	c := &call{service: s, writer: w, request: r, id: id, codec: s.codecOf(r)}
	w.Header().Set("Content-Type", c.codec.contentType(s))
	s.write(w, r, c.refuse(e))
}
