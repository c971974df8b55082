package lambda

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

// errStale tells the pool that an environment had ended while it was idle.
var errStale = errors.New("the execution environment has ended")

// handlerRunner calls a function's handler in this process.
type handlerRunner struct {
	handler   any
	calls     *sync.WaitGroup
	abandoned *atomic.Int64
}

// newEnvironment gives each environment a handler of its own, because the
// answer of one lies in a buffer that the next invocation of it reuses.
func (r *handlerRunner) newEnvironment() environment {
	return &handlerEnvironment{runner: r, handler: awslambda.NewHandler(r.handler), answers: make(chan answer, 1)}
}

type handlerEnvironment struct {
	runner  *handlerRunner
	handler awslambda.Handler
	answers chan answer
}

func (e *handlerEnvironment) close() {}

func (e *handlerEnvironment) run(ctx context.Context, c *call) (answer, bool, error) {
	c.log.start(false)
	running, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	running = lambdacontext.NewContext(running, &lambdacontext.LambdaContext{AwsRequestID: c.requestID, InvokedFunctionArn: c.arn})
	e.runner.calls.Add(1)
	state := new(atomic.Int32)
	go func() {
		defer e.runner.calls.Done()
		a := e.invoke(running, c.payload)
		if !state.CompareAndSwap(waitedFor, returned) {
			e.runner.abandoned.Add(-1)
		}
		e.answers <- a
	}()
	select {
	case a := <-e.answers:
		return e.outcome(ctx, running, c, a, true)
	case <-running.Done():
	}
	e.runner.abandoned.Add(1)
	if state.CompareAndSwap(waitedFor, givenUp) {
		return e.outcome(ctx, running, c, answer{}, false)
	}
	e.runner.abandoned.Add(-1) // it has just returned
	return e.outcome(ctx, running, c, <-e.answers, true)
}

// The states of a handler that runs.
const (
	waitedFor int32 = iota
	returned
	givenUp
)

// outcome makes the end of the time count whether or not the handler noticed
// it a moment earlier: Lambda would have stopped it.
func (e *handlerEnvironment) outcome(ctx, running context.Context, c *call, a answer, usable bool) (answer, bool, error) {
	switch {
	case ctx.Err() != nil:
		return answer{}, usable, ctx.Err()
	case errors.Is(running.Err(), context.DeadlineExceeded):
		return timedOut(c.requestID, c.timeout), usable, nil
	}
	return a, usable, nil
}

// invoke calls the handler and turns what it does into what the Go runtime
// would send.
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

// handlerError names an error as aws-lambda-go does: by the name of its
// outermost type. Only a messages.InvokeResponse_Error by value speaks for
// itself.
func handlerError(err error) messages.InvokeResponse_Error {
	if own, ok := err.(messages.InvokeResponse_Error); ok { //nolint:errorlint // a wrapped one is not recognised on AWS either
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
