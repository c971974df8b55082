package main

import (
	"context"
	"strings"

	"stepback/engine/integration/lambda"
)

// invokers carry out functions by their names.
type invokers map[string]lambda.Invoker

// namedInvoker invokes the functions that have an invoker of their own, and leaves the others to the next.
type namedInvoker struct {
	named invokers
	next  lambda.Invoker
}

// Invoke implements lambda.Invoker.
func (i namedInvoker) Invoke(ctx context.Context, c *lambda.Call) (*lambda.Answer, error) {
	if in, ok := i.named[functionName(c.Function)]; ok {
		return in.Invoke(ctx, c)
	}
	return i.next.Invoke(ctx, c)
}

// functionName is the bare name of a function that is called by its name, its ARN or a part of that, with or without a qualifier.
func functionName(called string) string {
	parts := strings.Split(called, ":")
	for i, part := range parts[:len(parts)-1] {
		if part == "function" {
			return parts[i+1]
		}
	}
	return parts[0]
}
