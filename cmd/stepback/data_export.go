package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"

	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/local"
)

type dataExportCmd struct {
	Data   string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	Prefix string `placeholder:"ARN" help:"Only executions whose ARN begins with this."`
}

// Help shows examples.
func (dataExportCmd) Help() string {
	return `Examples:
  stepback data export --data .stepback > executions.jsonl
  stepback data export --prefix arn:aws:states:us-east-1:000000000000:execution:csv-import: | jq -r .execution.status

Each line is one execution, with its events in the form of GetExecutionHistory. Lines are ordered by ARN.`
}

// Run prints the executions.
func (c *dataExportCmd) Run(ctx context.Context, std streams) error {
	return onDirectory(ctx, std, c.Data, c)
}

func (c *dataExportCmd) on(ctx context.Context, std streams, p *local.Platform) error {
	return c.print(ctx, std, p.Journal)
}

func (c *dataExportCmd) alone(ctx context.Context, std streams) error {
	return withJournal(c.Data, pebble.Config{ReadOnly: true}, func(j *pebble.Journal) error {
		return c.print(ctx, std, j)
	})
}

func (c *dataExportCmd) print(ctx context.Context, std streams, j journal.Journal) error {
	w := bufio.NewWriter(std.out)
	var line []byte
	for x, err := range j.Executions(ctx, c.Prefix) {
		if err != nil {
			return err
		}
		events, err := historyOf(ctx, j, x)
		if err != nil {
			return fmt.Errorf("%s: %w", x.ARN, err)
		}
		about, err := json.Marshal(describeExecution(x))
		if err != nil {
			return err
		}
		line = append(append(line[:0], `{"execution":`...), about...)
		line = append(appendEvents(append(line, `,"events":`...), events, ""), "}\n"...)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}
