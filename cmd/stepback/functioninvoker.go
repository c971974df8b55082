package main

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"stepback/engine/integration/lambda"
	locallambda "stepback/localcloud/lambda"
	"stepback/localcloud/lambda/functions"
)

// functionInvoker invokes the functions of the embedded Lambda for the tasks of one account and region.
type functionInvoker struct {
	functions *functions.Service
	scope     functions.Scope
}

// Invoke implements lambda.Invoker.
func (i functionInvoker) Invoke(ctx context.Context, c *lambda.Call) (*lambda.Answer, error) {
	out, err := i.functions.Invoke(ctx, i.scope, locallambda.InvokeInput{
		FunctionName: c.Function, Qualifier: c.Qualifier, Payload: c.Payload, Valid: true,
	})
	var refused *locallambda.APIError
	if errors.As(err, &refused) {
		return nil, &lambda.InvokeError{Code: refused.Code, Message: refused.Message, StatusCode: refused.StatusCode, RequestID: uuid.NewString()}
	}
	if err != nil {
		return nil, err
	}
	return &lambda.Answer{
		StatusCode: out.StatusCode, FunctionError: out.FunctionError, Payload: out.Payload,
		ExecutedVersion: out.ExecutedVersion, RequestID: out.RequestID,
	}, nil
}
