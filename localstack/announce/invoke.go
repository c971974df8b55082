package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"stepback/csvimport/handlers"
	"stepback/internal/objectevent"
)

// invoker invokes functions; *lambda.Client implements it.
type invoker interface {
	Invoke(context.Context, *lambda.InvokeInput, ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
}

// invoke passes the event to the deployed function. It returns an error if the response names no execution, since the
// function was then not run.
func invoke(ctx context.Context, l invoker, function string, e objectevent.Event) (handlers.Started, error) {
	event, err := json.Marshal(e)
	if err != nil {
		return handlers.Started{}, err
	}
	answer, err := l.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(function), Payload: event})
	if err != nil {
		return handlers.Started{}, fmt.Errorf("the function %s cannot be invoked: %w", function, err)
	}
	if answer.FunctionError != nil {
		return handlers.Started{}, fmt.Errorf("the function %s failed: %s", function, answer.Payload)
	}
	var started handlers.Started
	if json.Unmarshal(answer.Payload, &started) != nil || started.Execution == "" {
		return handlers.Started{}, fmt.Errorf("the function %s was not run: the endpoint returned %q", function,
			answer.Payload)
	}
	return started, nil
}
