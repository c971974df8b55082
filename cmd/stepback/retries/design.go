package retries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"strings"

	"stepback/adaptive/analysis"
	"stepback/adaptive/design"
	"stepback/adaptive/lab"
	"stepback/adaptive/lab/chart"
	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/local"
)

// Design implements the verb retries design.
type Design struct {
	Problem    string `arg:"" name:"file" type:"path" help:"Design file in YAML or JSON: callee, arrivals, faults and objective. A result in it is computed again."`
	Definition string `type:"path" placeholder:"FILE" help:"Print the change of this definition (JSON) as a diff."`
	Write      bool   `help:"Write the change into --definition."`
	Output     string `short:"o" type:"path" placeholder:"FILE" help:"Write the design with its predictions to this file, for retries analyze --design."`
	Report     string `type:"path" placeholder:"FILE" help:"Write the report as a page with pictures (.html)."`
	Fit        bool   `help:"Fit what the file lacks of callee and arrivals to the histories of the state."`
	JSON       bool   `name:"json" help:"Print the design as JSON."`

	retriesRecord
}

// Help shows examples.
func (Design) Help() string {
	return `Searches for the simplest Retry block, timeout, MaxConcurrency, budget, limiter and breaker that meet an objective through the
named faults. Reports what each part brings, bounds by theory, alarms, and predictions with 90 % intervals, made with seeds
that the search has not used. Exit status 1: no design meets the objective; the report says why, and what is nearest.

A file:
  design: 1
  name: save-orders
  state: Save
  arrivals: {rate: 20}                          # or map: {items: 20000}
  callee: {servers: 5, mean: [0.18, 0.2]}       # a range is uncertain; --fit reads both from histories
  call: {memory: 1024}
  faults: [{name: outage, for: [20, 40], errors: 1}, {name: brown-out, for: 240, speed: 0.4}]
  objective: {saved: 0.995, within: 900}        # also callsPerRecord, peakCalls, usdPerThousand, finish
  allow: [limiter, breaker, budget]             # [] for a Retry block alone

Examples:
  stepback retries design orders.yaml
  stepback retries design orders.yaml --definition orders.asl.json --write -o orders.design.json --report orders.html
  stepback retries design import.yaml --fit --data .stepback -o import.design.json
  stepback retries analyze --design orders.design.json`
}

// Run solves the problem.
func (c *Design) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	switch {
	case c.Write && c.Definition == "":
		return exit.With(exit.Usage, errors.New("--write needs --definition"))
	case !c.Fit:
		d, err := readDesign(c.Problem, false)
		if err != nil {
			return err
		}
		return c.solve(ctx, std, d)
	case c.remote():
		found, err := c.fromAPI(ctx)
		return c.fitted(ctx, std, found, err)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Design) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	found, err := c.fromJournal(ctx, p.Journal)
	return c.fitted(ctx, std, found, err)
}

// Alone implements workspace.DirectoryVerb.
func (c *Design) Alone(ctx context.Context, std terminal.Streams) error {
	found, err := c.fromDirectory(ctx)
	return c.fitted(ctx, std, found, err)
}

func readDesign(file string, partial bool) (*design.Design, error) {
	text, err := terminal.ReadFile(file)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	d, err := design.Read(file, text, partial)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return d, nil
}

// fitted fits what the file lacks to the histories.
func (c *Design) fitted(ctx context.Context, std terminal.Streams, found *analysis.Collector, err error) error {
	if err != nil {
		return err
	}
	d, err := readDesign(c.Problem, true)
	if err != nil {
		return err
	}
	fit, err := found.Fit(d.State)
	if err != nil {
		return err
	}
	d.Problem = d.Fitted(fit, false)
	return c.solve(ctx, std, d)
}

// solve runs the search and writes what was asked for.
func (c *Design) solve(ctx context.Context, std terminal.Streams, d *design.Design) error {
	if err := d.Run(ctx, design.Options{}); err != nil {
		if errors.Is(err, design.ErrContradiction) {
			return exit.With(exit.Usage, err)
		}
		return err
	}
	if c.Output != "" {
		var b bytes.Buffer
		if err := d.Write(&b); err != nil {
			return err
		}
		if err := os.WriteFile(c.Output, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if c.JSON {
		if err := d.Write(std.Out); err != nil {
			return err
		}
	} else {
		d.WriteText(std.Out)
		printForms(std.Out, d)
	}
	if d.Result.Feasible {
		if err := changeDefinition(std, d, c.Definition, c.Write, c.JSON); err != nil {
			return err
		}
	}
	if c.Report != "" {
		if err := writeDesignPage(ctx, c.Report, d); err != nil {
			return err
		}
	}
	if !d.Result.Feasible {
		return exit.With(exit.Failure, nil)
	}
	return nil
}

// printForms prints the design as a row of a retry table and as calls of the CDK.
func printForms(w io.Writer, d *design.Design) {
	if !d.Result.Feasible {
		return
	}
	fmt.Fprintf(w, "\nas a row of a retry table:\n%s\nin the AWS CDK:\n%s", d.TableRow(), d.CDK())
}

// changeDefinition prints the change of a definition, and writes it if write is true.
func changeDefinition(std terminal.Streams, d *design.Design, file string, write, quiet bool) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	change, err := d.Apply(filepath.ToSlash(filepath.Base(file)), string(text))
	if err != nil {
		return exit.With(exit.Data, err)
	}
	if !quiet {
		if change.Diff == "" {
			fmt.Fprintf(std.Out, "\n%s has these settings already\n", file)
		} else {
			fmt.Fprintf(std.Out, "\n%s", change.Diff)
		}
	}
	for _, n := range change.Notes {
		fmt.Fprintf(std.Err, "note: %s\n", n)
	}
	if write && change.Diff != "" {
		return definitions.ReplaceText(file, change.Text)
	}
	return nil
}

// pictureSeeds is the number of seeds in a picture.
const pictureSeeds = 10

// writeDesignPage writes the report as a page with one picture for each condition.
func writeDesignPage(ctx context.Context, file string, d *design.Design) error {
	var b, text strings.Builder
	d.WriteText(&text)
	if d.Result.Feasible {
		printForms(&text, d)
	}
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n"+
		"<style>body{font-family:sans-serif;max-width:60em;margin:2em auto}pre{overflow-x:auto;font-size:12px}</style></head><body>\n"+
		"<h1>%s</h1>\n", html.EscapeString(d.Name), html.EscapeString(d.Name))
	names := make([]string, 1, 1+len(d.Faults))
	names[0] = design.Calm
	for _, f := range d.Faults {
		names = append(names, f.Name)
	}
	for k, name := range names {
		s, p := d.Scenario(k)
		none, err := policy.Named("none")
		if err != nil {
			return err
		}
		report, err := lab.Run(ctx, lab.Experiment{
			Scenarios: []*scenario.Scenario{s}, Policies: []*policy.Policy{none, p}, Seeds: pictureSeeds,
			FirstSeed: lab.FirstReportedSeed,
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "<h2>%s</h2>\n", html.EscapeString(name))
		if err := chart.Goodput(report, s, []string{"none", "design"}).WriteSVG(&b); err != nil {
			return err
		}
	}
	fmt.Fprintf(&b, "<h2>Report</h2>\n<pre>%s</pre>\n</body></html>\n", html.EscapeString(text.String()))
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
