package data

import (
	"context"
	"fmt"
	"path/filepath"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/journal/pebble"
	"stepback/local"
)

// Repair implements the verb data repair.
type Repair struct {
	Data string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	JSON bool   `name:"json" help:"Print which records were and were not recovered, as JSON."`
}

// Help shows an example.
func (Repair) Help() string {
	return `Example:
  stepback data repair --data .stepback

Replaces a damaged journal by a new one with its intact records. The damaged journal is moved aside unchanged. Prints one line for
each record that could not be recovered; the exit status is 0 if there are none. If you have a backup of the directory, prefer it.`
}

// Run repairs the journal and prints the losses.
func (c *Repair) Run(ctx context.Context, std terminal.Streams) error {
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Repair) On(_ context.Context, _ terminal.Streams, p *local.Platform) error {
	return workspace.EndFirst(p, "the journal cannot be repaired")
}

// Alone implements workspace.DirectoryVerb.
func (c *Repair) Alone(ctx context.Context, std terminal.Streams) error {
	dir := filepath.Join(c.Data, "journal")
	if !terminal.Exists(dir) {
		return fmt.Errorf("there is no journal in %s; name the data directory of a run with --data", c.Data)
	}
	lost := []string{}
	found, err := pebble.Repair(ctx, dir, func(err error) {
		lost = append(lost, err.Error())
		if !c.JSON {
			fmt.Fprintln(std.Out, err)
		}
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = terminal.PrintJSON(std.Out, map[string]any{
			"executions": found.Executions, "records": found.Records, "dropped": found.Dropped,
			"unreadable": found.Unreadable, "aside": found.Aside, "lost": lost,
		})
	} else {
		fmt.Fprintf(std.Out, "recovered %d executions, %d records; dropped: %d; unreadable places: %d; the damaged journal is in %s\n",
			found.Executions, found.Records, found.Dropped, found.Unreadable, found.Aside)
	}
	if err == nil && len(lost) > 0 {
		return exit.With(exit.Failure, nil)
	}
	return err
}
