package chaos

import (
	"context"
	"errors"
	"net/http"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/tasks/lambda/invocation"
)

// Functions applies the faults of lambda:Invoke to invocations that bypass the Lambda API: those of state machines.
func (s *Set) Functions(next invocation.Invoker) invocation.Invoker { return functions{s, next} }

type functions struct {
	set  *Set
	next invocation.Invoker
}

// Invoke implements invocation.Invoker.
func (f functions) Invoke(ctx context.Context, r *invocation.Request) (out *invocation.Answer, err error) {
	faults := f.set.of("lambda")
	if faults == nil {
		return f.next.Invoke(ctx, r)
	}
	defer func() {
		if what := recover(); what == http.ErrAbortHandler { //nolint:errorlint // it is the value that is thrown
			if err = ctx.Err(); err == nil {
				err = &aws.Error{Code: "SdkClientException",
					Message: "Unable to execute HTTP request: Connection reset by peer"}
			}
		} else if what != nil {
			panic(what)
		}
	}()
	_, err = f.set.intercept(ctx, http.Header{}, faults, "lambda", "Invoke", &server.Request{},
		func(ctx context.Context, _ *server.Request) (*server.Answer, error) {
			var err error
			out, err = f.next.Invoke(ctx, r)
			return nil, err
		})
	var e *aws.Error
	if errors.As(err, &e) && e.Status == 0 {
		shaped := *e
		shaped.Status = statusOf("lambda", e.Code)
		return nil, &shaped
	}
	return out, err
}
