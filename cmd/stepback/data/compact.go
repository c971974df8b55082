package data

import (
	"context"
	"fmt"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/journal/pebble"
	"stepback/local"
	"stepback/local/services/stepfunctions"
)

// Compact implements the verb data compact.
type Compact struct {
	Data      string       `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	JSON      bool         `name:"json" help:"Print what was removed as JSON."`
	OlderThan terminal.Age `default:"90d" placeholder:"DAYSd|DURATION" help:"Remove executions that ended longer ago than this. Default 90d."`
}

// Help shows examples.
func (Compact) Help() string {
	return `Examples:
  stepback data compact
  stepback data compact --older-than 24h`
}

// Run removes old executions and rewrites the store.
func (c *Compact) Run(ctx context.Context, std terminal.Streams) error {
	if c.OlderThan < 0 {
		return exit.With(exit.Usage, fmt.Errorf("--older-than %s is not a positive age",
			time.Duration(c.OlderThan)))
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Compact) On(_ context.Context, _ terminal.Streams, p *local.Platform) error {
	return workspace.EndFirst(p, "the journal cannot be compacted")
}

// Alone implements workspace.DirectoryVerb.
func (c *Compact) Alone(ctx context.Context, std terminal.Streams) error {
	return workspace.WithJournal(c.Data, pebble.Config{Retention: -1}, func(j *pebble.Journal) error {
		removed, err := j.Expire(ctx, time.Now().Add(-time.Duration(c.OlderThan)))
		if err != nil {
			return err
		}
		definitions, revisions, err := j.ForgetDefinitions(ctx)
		if err != nil {
			return err
		}
		if _, err := stepfunctions.Sweep(ctx, j, revisions); err != nil {
			return err
		}
		before, after, err := j.Compact(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return terminal.PrintJSON(std.Out, map[string]any{
				"removedExecutions": removed, "removedDefinitions": definitions, "bytes": after, "bytesBefore": before,
			})
		}
		fmt.Fprintf(std.Out, "removed %s and %s; the journal takes %.1f MB (before: %.1f MB)\n",
			terminal.Counted(removed, "execution"), terminal.Counted(definitions, "definition"), megabytes(after), megabytes(before))
		return nil
	})
}

func megabytes(bytes uint64) float64 { return float64(bytes) / 1e6 }
