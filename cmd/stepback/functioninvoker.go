package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"

	"stepback/aws"
	"stepback/services/lambda/functions"
	locallambda "stepback/services/lambda/runner"
	"stepback/tasks/lambda"
)

// functionInvoker invokes the functions of the embedded Lambda for the tasks of one account and region.
type functionInvoker struct {
	functions *functions.Service
	scope     aws.Scope
}

// Invoke implements lambda.Invoker. With a role, functions are those of the account that their ARN names, else of the
// role's.
func (i functionInvoker) Invoke(ctx context.Context, c *lambda.Call) (*lambda.Answer, error) {
	if c.RoleARN != "" {
		i.scope.Account = cmp.Or(scopeOf(c.Function).Account, scopeOf(c.RoleARN).Account, i.scope.Account)
	}
	in := locallambda.InvokeInput{
		FunctionName: c.Function, Qualifier: c.Qualifier, Payload: c.Payload, Valid: true, LogTail: c.LogType == "Tail",
	}
	var err error
	if in.ClientContext, err = base64.StdEncoding.DecodeString(c.ClientContext); err != nil {
		return nil, &aws.Error{
			Code: "InvalidRequestContentException", Message: "The client context is not base64.",
			Status: http.StatusBadRequest, RequestID: aws.NewID(),
		}
	}
	a, err := i.invoke(ctx, c.InvocationType, in)
	var refused *aws.Error
	if errors.As(err, &refused) {
		return nil, &aws.Error{Code: refused.Code, Message: refused.Message, Status: refused.Status,
			RequestID: aws.NewID()}
	}
	return a, err
}

// invoke carries out one of the three types of invocations.
func (i functionInvoker) invoke(ctx context.Context, kind string, in locallambda.InvokeInput) (*lambda.Answer, error) {
	switch kind {
	case "Event":
		id, err := i.functions.InvokeEvent(i.scope, in)
		return &lambda.Answer{StatusCode: http.StatusAccepted, RequestID: id}, err
	case "DryRun":
		return &lambda.Answer{StatusCode: http.StatusNoContent, RequestID: aws.NewID()},
			i.functions.CheckInvoke(i.scope, in)
	}
	out, err := i.functions.Invoke(ctx, i.scope, in)
	if err != nil {
		return nil, err
	}
	return &lambda.Answer{
		StatusCode: out.StatusCode, FunctionError: out.FunctionError, Payload: out.Payload,
		ExecutedVersion: out.ExecutedVersion, RequestID: out.RequestID,
		LogResult: base64.StdEncoding.EncodeToString(out.LogTail),
	}, nil
}
