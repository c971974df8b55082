package data

import (
	"context"
	"fmt"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/journal/pebble"
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

Reads every record: descriptions, steps, histories, Map Runs, definitions. Prints one line per problem. The exit status is 0 if
there are none.`
}

// Run checks the journal and prints the problems.
func (c *Check) Run(ctx context.Context, std terminal.Streams) error {
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Check) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	j, ok := p.Journal.(*pebble.Journal)
	if !ok {
		return workspace.EndFirst(p, "the journal cannot be checked")
	}
	return c.check(ctx, std, j)
}

// Alone implements workspace.DirectoryVerb.
func (c *Check) Alone(ctx context.Context, std terminal.Streams) error {
	return workspace.WithJournal(c.Data, pebble.Config{ReadOnly: true}, func(j *pebble.Journal) error {
		return c.check(ctx, std, j)
	})
}

func (c *Check) check(ctx context.Context, std terminal.Streams, j *pebble.Journal) error {
	problems, told := 0, []string{}
	found, err := j.Check(ctx, func(err error) {
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
	if c.JSON {
		err = terminal.PrintJSON(std.Out, map[string]any{
			"executions": found.Executions, "ended": found.Ended, "events": found.Events, "mapRuns": found.MapRuns,
			"definitions": found.Definitions, "problems": told,
		})
		if err != nil {
			return err
		}
		return c.verdict(problems)
	}
	fmt.Fprintf(std.Out, "%d executions, %d of them ended, with %d events; %d Map Runs; %d definitions; problems: %d\n",
		found.Executions, found.Ended, found.Events, found.MapRuns, found.Definitions, problems)
	return c.verdict(problems)
}

func (c *Check) verdict(problems int) error {
	if problems > 0 {
		return exit.With(exit.Failure, nil)
	}
	return nil
}
