package operate

import (
	"context"
	"fmt"
	"time"

	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
)

// Machines implements the verb machines.
type Machines struct {
	JSON bool `name:"json" help:"Print them as JSON."`
	workspace.Where
}

// Help shows examples.
func (Machines) Help() string {
	return `Examples:
  stepback machines
  stepback machines --aws --json`
}

// Run lists the state machines.
func (c *Machines) Run(ctx context.Context, std terminal.Streams) error {
	return c.Use(ctx, false, func(x *executions.Client) error {
		all, err := x.Machines(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return terminal.PrintJSON(std.Out, append([]executions.Machine{}, all...))
		}
		if len(all) == 0 {
			fmt.Fprintln(std.Err, "no state machines")
			return nil
		}
		t := terminal.NewTable("state machine", "type", "created", "ARN")
		for _, m := range all {
			t.Add(m.Name, m.Type, m.Created.Local().Format(time.DateTime), m.ARN)
		}
		t.Print(std.Out, "")
		return nil
	})
}

// Activities implements the verb activities.
type Activities struct {
	JSON bool `name:"json" help:"Print them as JSON."`
	workspace.Where
}

// Help shows examples.
func (Activities) Help() string { return "Example:\n  stepback activities" }

// Run lists the activities.
func (c *Activities) Run(ctx context.Context, std terminal.Streams) error {
	return c.Use(ctx, false, func(x *executions.Client) error {
		all, err := x.Activities(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return terminal.PrintJSON(std.Out, append([]executions.Activity{}, all...))
		}
		if len(all) == 0 {
			fmt.Fprintln(std.Err, "no activities")
			return nil
		}
		t := terminal.NewTable("activity", "created", "ARN")
		for _, a := range all {
			t.Add(a.Name, a.Created.Local().Format(time.DateTime), a.ARN)
		}
		t.Print(std.Out, "")
		return nil
	})
}

// MapRuns implements the verb mapruns.
type MapRuns struct {
	Execution string `arg:"" help:"Name or ARN of the execution."`
	JSON      bool   `name:"json" help:"Print them as JSON."`
	workspace.Where
}

// Help shows examples.
func (MapRuns) Help() string {
	return `Examples:
  stepback mapruns nightly-2026-11-22
  stepback executions --map-run ARN --status FAILED`
}

// Run lists the Map Runs of an execution.
func (c *MapRuns) Run(ctx context.Context, std terminal.Streams) error {
	return c.Use(ctx, false, func(x *executions.Client) error {
		of, err := x.Find(ctx, c.Execution)
		if err != nil {
			return err
		}
		all, err := x.MapRuns(ctx, of.ARN)
		if err != nil {
			return err
		}
		if c.JSON {
			return terminal.PrintJSON(std.Out, append([]executions.MapRun{}, all...))
		}
		if len(all) == 0 {
			fmt.Fprintf(std.Err, "%s has no Map Runs\n", of.Name)
			return nil
		}
		t := terminal.NewTable("status", ">items", ">succeeded", ">failed", ">running", ">pending", "tolerates", "Map Run")
		for i := range all {
			m := &all[i]
			t.Add(m.Status, terminal.Grouped(m.Items.Total), terminal.Grouped(m.Items.Succeeded),
				terminal.Grouped(m.Items.Failed+m.Items.TimedOut+m.Items.Aborted), terminal.Grouped(m.Items.Running),
				terminal.Grouped(m.Items.Pending), fmt.Sprintf("%g %% or %d", m.ToleratedPercentage, m.ToleratedCount), m.ARN)
		}
		t.Print(std.Out, "")
		return nil
	})
}
