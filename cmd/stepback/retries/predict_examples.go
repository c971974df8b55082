package retries

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"stepback/adaptive/analysis"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/internal/atomicfile"
	"stepback/local"
)

// PredictExamples implements the verb predict examples.
type PredictExamples struct {
	Output string `short:"o" default:"-" placeholder:"FILE" help:"Where to write; - is standard output. Default -."`

	named string // Output as the user typed it

	retriesRecord
}

// Help shows an example.
func (PredictExamples) Help() string {
	return `Reads the histories of the last days and writes their retries, one JSON object per line, in the format of predict train. Two numbers
describe the callee's state, over all histories, in the ten seconds before a retry was decided: the share of its calls that failed
because of load (failureRate), and the share of requested calls that were put off (load). If a history has no inputs, bytes is null.

Examples:
  stepback predict examples --data .stepback -o retries.jsonl
  stepback predict examples --aws --days 30 -o retries.jsonl && stepback predict train retries.jsonl -o model.json`
}

// Run writes the examples from the histories in a data directory or behind an API.
func (c *PredictExamples) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.remote() {
		found, err := c.fromAPI(ctx)
		return c.write(std, found, err)
	}
	if c.Output != "-" { // another process may write the file
		path, err := filepath.Abs(c.Output)
		if err != nil {
			return err
		}
		c.named, c.Output = c.Output, path
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On reads the journal in the process that has the directory open.
func (c *PredictExamples) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	found, err := c.fromJournal(ctx, p.Journal)
	return c.write(std, found, err)
}

// Alone implements workspace.DirectoryVerb.
func (c *PredictExamples) Alone(ctx context.Context, std terminal.Streams) error {
	found, err := c.fromDirectory(ctx)
	return c.write(std, found, err)
}

func (c *PredictExamples) write(std terminal.Streams, found *analysis.Collector, err error) error {
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
	fmt.Fprintf(std.Out, "%s in %s\n", terminal.Counted(len(all), "retry"), cmp.Or(c.named, c.Output))
	return nil
}
