package main

import (
	"context"
	"fmt"
	"time"

	"stepback/cmd/stepback/executions"
)

type machinesCmd struct {
	JSON bool `name:"json" help:"Print them as JSON."`
	where
}

// Help shows examples.
func (machinesCmd) Help() string {
	return `Examples:
  stepback machines
  stepback machines --aws --json`
}

// Run lists the state machines.
func (c *machinesCmd) Run(ctx context.Context, std streams) error {
	return c.use(ctx, false, func(x *executions.Client) error {
		all, err := x.Machines(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std.out, append([]executions.Machine{}, all...))
		}
		if len(all) == 0 {
			fmt.Fprintln(std.err, "no state machines")
			return nil
		}
		t := newTable("state machine", "type", "created", "ARN")
		for _, m := range all {
			t.add(m.Name, m.Type, m.Created.Local().Format(time.DateTime), m.ARN)
		}
		t.print(std.out, "")
		return nil
	})
}

type activitiesCmd struct {
	JSON bool `name:"json" help:"Print them as JSON."`
	where
}

// Help shows examples.
func (activitiesCmd) Help() string { return "Example:\n  stepback activities" }

// Run lists the activities.
func (c *activitiesCmd) Run(ctx context.Context, std streams) error {
	return c.use(ctx, false, func(x *executions.Client) error {
		all, err := x.Activities(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std.out, append([]executions.Activity{}, all...))
		}
		if len(all) == 0 {
			fmt.Fprintln(std.err, "no activities")
			return nil
		}
		t := newTable("activity", "created", "ARN")
		for _, a := range all {
			t.add(a.Name, a.Created.Local().Format(time.DateTime), a.ARN)
		}
		t.print(std.out, "")
		return nil
	})
}

type mapRunsCmd struct {
	Execution string `arg:"" help:"Name or ARN of the execution."`
	JSON      bool   `name:"json" help:"Print them as JSON."`
	where
}

// Help shows examples.
func (mapRunsCmd) Help() string {
	return `Examples:
  stepback mapruns nightly-2026-11-22
  stepback executions --map-run ARN --status FAILED`
}

// Run lists the Map Runs of an execution.
func (c *mapRunsCmd) Run(ctx context.Context, std streams) error {
	return c.use(ctx, false, func(x *executions.Client) error {
		of, err := x.Find(ctx, c.Execution)
		if err != nil {
			return err
		}
		all, err := x.MapRuns(ctx, of.ARN)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(std.out, append([]executions.MapRun{}, all...))
		}
		if len(all) == 0 {
			fmt.Fprintf(std.err, "%s has no Map Runs\n", of.Name)
			return nil
		}
		t := newTable("status", ">items", ">succeeded", ">failed", ">running", ">pending", "tolerates", "Map Run")
		for i := range all {
			m := &all[i]
			t.add(m.Status, grouped(m.Items.Total), grouped(m.Items.Succeeded),
				grouped(m.Items.Failed+m.Items.TimedOut+m.Items.Aborted), grouped(m.Items.Running),
				grouped(m.Items.Pending), fmt.Sprintf("%g %% or %d", m.ToleratedPercentage, m.ToleratedCount), m.ARN)
		}
		t.print(std.out, "")
		return nil
	})
}
