package main

import (
	"context"
	"errors"
	"io"
	"sync"

	"stepback/aws"
	locallambda "stepback/services/lambda/runner"
	"stepback/tasks/lambda"
)

// serviceInvoker invokes bootstraps over the Runtime API.
type serviceInvoker struct{ service *locallambda.Service }

// Invoke implements lambda.Invoker.
func (i serviceInvoker) Invoke(ctx context.Context, c *lambda.Call) (*lambda.Answer, error) {
	out, err := i.service.Invoke(ctx, locallambda.InvokeInput{FunctionName: functionName(c.Function),
		Payload: c.Payload, Valid: true})
	var refused *aws.Error
	if errors.As(err, &refused) {
		return nil, &aws.Error{Code: refused.Code, Message: refused.Message, Status: refused.Status,
			RequestID: aws.NewID()}
	}
	if err != nil {
		return nil, err
	}
	return &lambda.Answer{
		StatusCode: out.StatusCode, FunctionError: out.FunctionError, Payload: out.Payload,
		ExecutedVersion: out.ExecutedVersion, RequestID: out.RequestID,
	}, nil
}

// oneAtATime lets the trace and several functions write to one place.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (o *oneAtATime) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(b)
}

// printedLogs prints what functions log.
type printedLogs struct{ w io.Writer }

// WriteLog implements the sink of the embedded Lambda.
func (p *printedLogs) WriteLog(_ string, lines []byte) { _, _ = p.w.Write(lines) }
