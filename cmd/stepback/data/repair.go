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
	"stepback/engine/journal/pebble"
	"stepback/local"
)

// Repair implements the verb data repair.
type Repair struct {
	Data string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	JSON bool   `name:"json" help:"Print what was and what was not recovered, as JSON."`
}

// Help shows an example.
func (Repair) Help() string {
	return `Example:
  stepback data repair --data .stepback

Replaces the journal and each damaged store by a new one with its intact records, and moves damaged files aside, unchanged. Other
stores and files stay as they are. Prints one line for each loss; the exit status is 0 if there are none, else 1. If you have a backup of the directory, prefer
it.`
}

// Run repairs the data directory and prints the losses.
func (c *Repair) Run(ctx context.Context, std terminal.Streams) error {
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Repair) On(_ context.Context, _ terminal.Streams, p *local.Platform) error {
	return workspace.EndFirst(p, "the data directory cannot be repaired")
}

// Alone implements workspace.DirectoryVerb.
func (c *Repair) Alone(ctx context.Context, std terminal.Streams) error {
	lost := []string{}
	tell := func(err error) {
		lost = append(lost, err.Error())
		if !c.JSON {
			fmt.Fprintln(std.Out, err)
		}
	}
	done, err := local.RepairData(ctx, c.Data, tell)
	if err == nil {
		err = pipeline.RepairData(ctx, c.Data, tell)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		err = c.printJSON(std, &done, lost)
	} else {
		c.print(std, &done)
	}
	if err == nil && len(lost) > 0 {
		return exit.With(exit.Failure, nil)
	}
	return err
}

func (c *Repair) printJSON(std terminal.Streams, done *local.Repaired, lost []string) error {
	journal := done.Journal
	if journal == nil {
		journal = &pebble.Repaired{}
	}
	return terminal.PrintJSON(std.Out, map[string]any{
		"executions": journal.Executions, "records": journal.Records, "dropped": journal.Dropped,
		"unreadable": journal.Unreadable, "aside": journal.Aside, "stores": done.Stores, "files": done.Aside, "lost": lost,
	})
}

func (c *Repair) print(std terminal.Streams, done *local.Repaired) {
	if j := done.Journal; j != nil {
		fmt.Fprintf(std.Out, "recovered %s, %s; dropped: %d; unreadable places: %d; the damaged journal is in %s\n",
			terminal.Counted(j.Executions, "execution"), terminal.Counted(j.Records, "record"), j.Dropped, j.Unreadable, j.Aside)
	}
	for _, name := range slices.Sorted(maps.Keys(done.Stores)) {
		s := done.Stores[name]
		fmt.Fprintf(std.Out, "%s: recovered %s; unreadable places: %d; the damaged store is in %s\n", name,
			terminal.Counted(s.Records, "record"), s.Unreadable, s.Aside)
	}
	if done.Aside != "" {
		fmt.Fprintf(std.Out, "damaged files are in %s\n", done.Aside)
	}
}
