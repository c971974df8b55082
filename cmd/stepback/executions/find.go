package executions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stepback/engine/durable"
	"stepback/engine/history"
)

// Describe describes an execution by its ARN.
func (c *Client) Describe(ctx context.Context, arn string) (*Execution, error) {
	x := new(Execution)
	if err := c.States.Call(ctx, "DescribeExecution", map[string]any{"executionArn": arn}, x); err != nil {
		return nil, Said(err)
	}
	return x, nil
}

// DefinitionOf returns the definition that an execution runs.
func (c *Client) DefinitionOf(ctx context.Context, arn string) (string, error) {
	var out struct{ Definition string }
	err := c.States.Call(ctx, "DescribeStateMachineForExecution", map[string]any{"executionArn": arn}, &out)
	return out.Definition, Said(err)
}

// searched is the number of executions, the newest of each machine, in which a part of a name is searched.
const searched = 1000

// Find returns the execution with the given ARN or name. A name may also be the beginning of an execution's name or
// the end of its ARN, if it matches only one execution.
func (c *Client) Find(ctx context.Context, name string) (*Execution, error) {
	if durable.IsARN(name) {
		d, err := c.DescribeDurable(ctx, name)
		if err != nil {
			return nil, err
		}
		return d.asExecution(), nil
	}
	if strings.HasPrefix(name, "arn:") {
		return c.Describe(ctx, name)
	}
	machines, err := c.Machines(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range machines {
		if m.Type == "EXPRESS" {
			continue
		}
		x, err := c.Describe(ctx, history.ExecutionARN(m.ARN, name))
		var refused *Refusal
		switch {
		case err == nil:
			return x, nil
		case !errors.As(err, &refused):
			return nil, err
		}
	}
	var found []Execution
	for _, m := range machines {
		if m.Type == "EXPRESS" {
			continue
		}
		n := 0
		err := c.each(ctx, map[string]any{"stateMachineArn": m.ARN}, func(x Execution) (bool, error) {
			if strings.HasPrefix(x.Name, name) || strings.HasSuffix(x.ARN, name) {
				found = append(found, x)
			}
			n++
			return n < searched, nil
		})
		if err != nil {
			return nil, err
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no execution is called %q", name)
	case 1:
		return c.Describe(ctx, found[0].ARN)
	default:
		return nil, fmt.Errorf("%q matches %d executions, for example %s and %s; give more of the name", name, len(found),
			found[0].Name, found[1].Name)
	}
}
