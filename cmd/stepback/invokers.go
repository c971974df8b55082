package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/tasks/lambda"
)

// invokers carry out functions by their names, and remember the names that were called and that nothing carries out.
type invokers struct {
	named map[string]lambda.Invoker

	mu      sync.Mutex
	missing []string // in the order of their first calls
}

// namedInvoker invokes the functions that have an invoker of their own, and leaves the others to the next.
type namedInvoker struct {
	*invokers
	next lambda.Invoker
}

// Invoke implements lambda.Invoker.
func (i namedInvoker) Invoke(ctx context.Context, c *lambda.Call) (*lambda.Answer, error) {
	name := functionName(c.Function)
	if in, ok := i.named[name]; ok {
		return in.Invoke(ctx, c)
	}
	a, err := i.next.Invoke(ctx, c)
	var refused *aws.Error
	if errors.As(err, &refused) && refused.Code == "ResourceNotFoundException" {
		i.miss(name)
	}
	return a, err
}

func (i *invokers) miss(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.missing, name) {
		i.missing = append(i.missing, name)
	}
}

// advice is what to do about functions that were called and that nothing carries out; empty when there are none.
func (i *invokers) advice() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.missing) == 0 {
		return ""
	}
	said := "nothing carries out " + strings.Join(i.missing, ", ") + ": give --lambda " + i.missing[0] +
		"=COMMAND, a URL or a bootstrap (stepback exec --help)"
	if len(i.named) > 0 {
		said += "; --lambda has " + strings.Join(slices.Sorted(maps.Keys(i.named)), ", ")
	}
	return said
}

// functionName is the bare name of a function that is called by its name, its ARN or a part of that, with or without a
// qualifier.
func functionName(called string) string {
	parts := strings.Split(called, ":")
	for i, part := range parts[:len(parts)-1] {
		if part == "function" {
			return parts[i+1]
		}
	}
	return parts[0]
}
