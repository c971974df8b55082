package data

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/local"
)

// Export implements the verb data export.
type Export struct {
	Data   string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	Prefix string `placeholder:"ARN" help:"Only executions whose ARN begins with this."`
	To     string `type:"path" placeholder:"DIR" help:"Export all stores into this new directory: executions.jsonl, a file of JSON lines for each store, and copies of files."`
}

// Help shows examples.
func (Export) Help() string {
	return `Examples:
  stepback data export --data .stepback > executions.jsonl
  stepback data export --prefix arn:aws:states:us-east-1:000000000000:execution:csv-import: | jq -r .execution.status
  stepback data export --to exported

Each line is one execution, with its events in the form of GetExecutionHistory. Lines are ordered by ARN. With --to, what can be read
of all stores is exported, damaged or not; what cannot be read is listed on the standard error, and the exit status is 1.`
}

// Run prints the executions.
func (c *Export) Run(ctx context.Context, std terminal.Streams) error {
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Export) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	if c.To != "" {
		return workspace.EndFirst(p, "all stores cannot be exported")
	}
	return c.print(ctx, std.Out, p.Journal)
}

// Alone implements workspace.DirectoryVerb.
func (c *Export) Alone(ctx context.Context, std terminal.Streams) error {
	if c.To != "" {
		return c.all(ctx, std)
	}
	return workspace.ReadJournal(c.Data, func(j journal.Journal) error {
		return c.print(ctx, std.Out, j)
	})
}

// all exports all stores.
func (c *Export) all(ctx context.Context, std terminal.Streams) error {
	problems := 0
	problem := func(err error) {
		problems++
		fmt.Fprintln(std.Err, err)
	}
	if err := local.ExportData(ctx, c.Data, c.To, problem); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(c.To, "executions.jsonl"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = pebble.Salvage(ctx, filepath.Join(c.Data, "journal"), func(j *pebble.Journal) error {
		return c.print(ctx, f, j)
	}, problem)
	if err = errors.Join(err, f.Close()); err == nil && problems > 0 {
		err = exit.With(exit.Failure, nil)
	}
	return err
}

func (c *Export) print(ctx context.Context, to io.Writer, j journal.Journal) error {
	w := bufio.NewWriter(to)
	var line []byte
	for x, err := range j.Executions(ctx, c.Prefix) {
		if err != nil {
			return err
		}
		events, err := workspace.HistoryOf(ctx, j, x)
		if err != nil {
			return fmt.Errorf("%s: %w", x.ARN, err)
		}
		about, err := json.Marshal(narration.DescribeExecution(x))
		if err != nil {
			return err
		}
		line = append(append(line[:0], `{"execution":`...), about...)
		line = append(narration.AppendEvents(append(line, `,"events":`...), events, ""), "}\n"...)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}
