//go:build !checks

package main

import (
	"context"
	"fmt"

	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
)

// namesCmd prints names for shell completion. If it fails it prints nothing.
type namesCmd struct {
	Of string `arg:"" enum:"executions,machines" help:"executions or machines."`
	workspace.Where
}

// offered is the number of names offered for each state machine.
const offered = 100

// Run prints the names.
func (c *namesCmd) Run(ctx context.Context, std terminal.Streams) error { //nolint:unparam // as kong calls verbs
	_ = c.Use(ctx, false, func(x *executions.Client) error {
		if c.Of == "machines" {
			all, err := x.Machines(ctx)
			for _, m := range all {
				fmt.Fprintln(std.Out, m.Name)
			}
			return err
		}
		return x.List(ctx, executions.Filter{Limit: offered}, func(x *executions.Execution) error {
			fmt.Fprintln(std.Out, x.Name)
			return nil
		})
	})
	return nil
}
