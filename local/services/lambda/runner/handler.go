package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"

	awslambda "github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// errStale is returned if an idle environment ended before it received the invocation.
var errStale = errors.New("the execution environment has ended")

// handlerRunner calls a function's handler in this process.
type handlerRunner struct {
	function  *deployed
	handler   any
	threads   *sync.WaitGroup // goroutines of the environments
	abandoned *atomic.Int64
}

// newEnvironment returns an environment with its own handler. Environments cannot share one, because a handler's
// response is in a buffer that its next invocation reuses.
func (r *handlerRunner) newEnvironment() environment {
	e := &handlerEnvironment{
		runner: r, stream: r.function.stream(), handler: awslambda.NewHandler(r.handler),
		requests: make(chan request), answers: make(chan answer, 1),
	}
	r.threads.Go(e.serve)
	return e
}

// handlerEnvironment runs its handler on one long-lived goroutine, whose stack does not have to grow again for every
// invocation.
type handlerEnvironment struct {
	runner   *handlerRunner
	stream   LogStream
	handler  awslambda.Handler
	requests chan request
	answers  chan answer
	state    atomic.Int32 // of the running invocation
}

type request struct {
	ctx     context.Context
	payload []byte
}

// serve invokes the handler until the environment is closed.
func (e *handlerEnvironment) serve() {
	for r := range e.requests {
		a := e.invoke(r.ctx, r.payload)
		if !e.state.CompareAndSwap(waitedFor, returned) {
			e.runner.abandoned.Add(-1)
		}
		e.answers <- a
	}
}

// close ends the environment. It does not wait for a handler that ignores the end of its context: Service.Close
// does.
func (e *handlerEnvironment) close() { close(e.requests) }

func (e *handlerEnvironment) run(ctx context.Context, c *call) (answer, bool, error) {
	c.log.start(false, e.stream)
	running, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	running = lambdacontext.NewContext(running, &lambdacontext.LambdaContext{AwsRequestID: c.requestID,
		InvokedFunctionArn: c.arn})
	if c.trace != "" {
		//nolint:staticcheck // the key under which the library for functions in Go has the header
		running = context.WithValue(running, "x-amzn-trace-id", c.trace)
	}
	e.state.Store(waitedFor)
	e.requests <- request{running, c.payload}
	select {
	case a := <-e.answers:
		return e.outcome(ctx, running, c, a, true)
	case <-running.Done():
	case <-c.closing:
		cancel()
	}
	e.runner.abandoned.Add(1)
	if e.state.CompareAndSwap(waitedFor, givenUp) {
		return e.outcome(ctx, running, c, answer{}, false)
	}
	e.runner.abandoned.Add(-1) // it returned just now
	return e.outcome(ctx, running, c, <-e.answers, true)
}

// The states of a running handler.
const (
	waitedFor int32 = iota
	returned
	givenUp
)

// outcome returns the result of an invocation. It reports a timeout even if the handler noticed its deadline a
// moment earlier, because Lambda would have stopped the handler.
func (e *handlerEnvironment) outcome(ctx, running context.Context, c *call, a answer, usable bool) (answer, bool,
	error) {
	switch err := running.Err(); {
	case ctx.Err() != nil:
		return answer{}, usable, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return timedOut(c.requestID, c.timeout), usable, nil
	case err != nil: // the service is closing
		return answer{}, usable, err
	}
	return a, usable, nil
}

// invoke calls the handler and converts its result to the response that the Go runtime would send.
func (e *handlerEnvironment) invoke(ctx context.Context, payload []byte) (a answer) {
	defer func() {
		if v := recover(); v != nil {
			a = errorAnswer(panicError(v))
		}
	}()
	response, err := e.handler.Invoke(ctx, payload)
	if err != nil {
		return errorAnswer(handlerError(err))
	}
	return answer{payload: bytes.Clone(response)}
}

// handlerError converts an error to the form that aws-lambda-go sends. The error's type is the name of its
// outermost type. Only a messages.InvokeResponse_Error passed by value is used as it is.
func handlerError(err error) messages.InvokeResponse_Error {
	//nolint:errorlint // a wrapped one is not recognised on AWS either
	if own, ok := err.(messages.InvokeResponse_Error); ok {
		return own
	}
	return messages.InvokeResponse_Error{Message: err.Error(), Type: typeName(err)}
}

func typeName(v any) string {
	t := reflect.TypeOf(v)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

func errorAnswer(e messages.InvokeResponse_Error) answer {
	payload, err := json.Marshal(e)
	if err != nil {
		return failure("Runtime.SerializationError", err.Error())
	}
	return answer{payload: payload, failed: true}
}
