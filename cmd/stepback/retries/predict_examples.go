package retries

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"stepback/adaptive/analysis"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/internal/atomicfile"
	"stepback/local"
)

type predictExamplesCmd struct {
	Output string `short:"o" default:"-" placeholder:"FILE" help:"Where to write; - is standard output. Default -."`

	retriesRecord
}

// Help shows an example.
func (predictExamplesCmd) Help() string {
	return `Reads the histories of the last days and writes their retries, one JSON object per line, in the format of predict train. Two numbers
describe the callee's state, over all histories, in the ten seconds before a retry was decided: the share of its calls that failed
because of load (failureRate), and the share of requested calls that were put off (load). If a history has no inputs, bytes is null.

Example: stepback predict examples --data .stepback -o retries.jsonl && stepback predict train retries.jsonl -o model.json`
}

// Run writes the examples from the histories in a data directory or behind an API.
func (c *predictExamplesCmd) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.remote() {
		found, err := c.fromAPI(ctx)
		return c.write(std, found, err)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

func (c *predictExamplesCmd) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	found, err := c.fromJournal(ctx, p.Journal)
	return c.write(std, found, err)
}

func (c *predictExamplesCmd) Alone(ctx context.Context, std terminal.Streams) error {
	found, err := c.fromDirectory(ctx)
	return c.write(std, found, err)
}

func (c *predictExamplesCmd) write(std terminal.Streams, found *analysis.Collector, err error) error {
	if err != nil {
		return err
	}
	all := found.Examples()
	lines := func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		for i := range all {
			if err := encoder.Encode(&all[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if c.Output == "-" {
		buffered := bufio.NewWriter(std.Out)
		if err := lines(buffered); err != nil {
			return err
		}
		return buffered.Flush()
	}
	if err := atomicfile.WriteFrom(c.Output, 0o644, lines); err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "%d retries in %s\n", len(all), c.Output)
	return nil
}
