package data

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/csvimport/pipeline"
	"stepback/local"
)

// Check implements the verb data check.
type Check struct {
	Data string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	JSON bool   `name:"json" help:"Print the counts and the problems as JSON."`
}

// Help shows an example.
func (Check) Help() string {
	return `Example:
  stepback data check --data .stepback

Reads every record and every file of all stores: executions, documents, queues, tables, objects, logs, functions, keys, metrics, the
import's database. Prints one line per problem, with the file. The exit status is 0 if there are none, else 1.`
}

// Run checks the data directory and prints the problems.
func (c *Check) Run(ctx context.Context, std terminal.Streams) error {
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Check) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	return c.check(std, func(problem func(error)) (local.Checked, error) { return p.CheckData(ctx, problem) })
}

// Alone implements workspace.DirectoryVerb.
func (c *Check) Alone(ctx context.Context, std terminal.Streams) error {
	return c.check(std, func(problem func(error)) (local.Checked, error) {
		found, err := local.CheckData(ctx, c.Data, problem)
		if err == nil {
			err = pipeline.CheckData(ctx, c.Data, problem)
		}
		return found, err
	})
}

func (c *Check) check(std terminal.Streams, read func(problem func(error)) (local.Checked, error)) error {
	problems, told := 0, []string{}
	found, err := read(func(err error) {
		problems++
		if c.JSON {
			told = append(told, err.Error())
			return
		}
		fmt.Fprintln(std.Out, err)
	})
	if err != nil {
		return err
	}
	j := found.Journal
	if c.JSON {
		err = terminal.PrintJSON(std.Out, map[string]any{
			"executions": j.Executions, "ended": j.Ended, "events": j.Events, "mapRuns": j.MapRuns,
			"definitions": j.Definitions, "keys": found.Keys, "problems": told,
		})
		if err != nil {
			return err
		}
		return c.verdict(problems)
	}
	for _, name := range slices.Sorted(maps.Keys(found.Keys)) {
		if n := found.Keys[name]; n > 0 {
			fmt.Fprintf(std.Out, "%s: %s\n", name, terminal.Counted(n, "record"))
		}
	}
	fmt.Fprintf(std.Out, "%s, %s of them ended, with %s; %s; %s; problems: %s\n",
		terminal.Counted(j.Executions, "execution"), terminal.Grouped(int64(j.Ended)), terminal.Counted(j.Events, "event"),
		terminal.Counted(j.MapRuns, "Map Run"), terminal.Counted(j.Definitions, "definition"), terminal.Grouped(int64(problems)))
	return c.verdict(problems)
}

func (c *Check) verdict(problems int) error {
	if problems > 0 {
		return exit.With(exit.Failure, nil)
	}
	return nil
}
