package data

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"

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
}

// Help shows examples.
func (Export) Help() string {
	return `Examples:
  stepback data export --data .stepback > executions.jsonl
  stepback data export --prefix arn:aws:states:us-east-1:000000000000:execution:csv-import: | jq -r .execution.status

Each line is one execution, with its events in the form of GetExecutionHistory. Lines are ordered by ARN.`
}

// Run prints the executions.
func (c *Export) Run(ctx context.Context, std terminal.Streams) error {
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Export) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	return c.print(ctx, std, p.Journal)
}

// Alone implements workspace.DirectoryVerb.
func (c *Export) Alone(ctx context.Context, std terminal.Streams) error {
	return workspace.WithJournal(c.Data, pebble.Config{ReadOnly: true}, func(j *pebble.Journal) error {
		return c.print(ctx, std, j)
	})
}

func (c *Export) print(ctx context.Context, std terminal.Streams, j journal.Journal) error {
	w := bufio.NewWriter(std.Out)
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
