package operate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/graph"
	"stepback/engine/journal"
	"stepback/engine/timeline"
	"stepback/local"
)

// Graph implements the verb graph.
type Graph struct {
	Of     string `arg:"" name:"file|execution" help:"Definition file, - for standard input, or the name or ARN of an execution of the data directory."`
	Data   string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory of the execution. Default .stepback."`
	Output string `short:"o" default:"graph.svg" placeholder:"FILE" help:"File to write: .svg, .png, .mmd or .dot; or svg, png, mermaid or dot for standard output. Default graph.svg."`
	definitions.Substitutions
}

// Help shows examples.
func (Graph) Help() string {
	return `Examples:
  stepback graph orders.asl.json -o orders.svg
  stepback graph orders.asl.json -o mermaid
  stepback graph template.yaml#Orders -o orders.png
  stepback graph 7c0ffee0-1111-4222-8333-444455556666 -o failed.png

The graph of an execution shows its path, its attempts, and the state in which it failed or waits.`
}

// Run draws a definition file, or an execution. An execution is read by the process that has its data directory
// open, if there is one.
func (c *Graph) Run(ctx context.Context, std terminal.Streams) error {
	form, err := graphForm(c.Output)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	file, _, inTemplate := strings.Cut(c.Of, "#") // template.yaml#Orders
	if _, err := os.Stat(file); err != nil && c.Of != "-" {
		if strings.ContainsAny(file, `/\`) && !strings.HasPrefix(c.Of, "arn:") || definitions.IsDefinition(file) || inTemplate {
			return exit.With(exit.Usage, err)
		}
		return workspace.OnDirectory(ctx, std, c.Data, c)
	}
	d, err := c.Read(c.Of, std)
	if err != nil {
		return err
	}
	m := d.Machine(false)
	if m == nil {
		fmt.Fprint(std.Err, d.Render(d.Diagnose(false)))
		return exit.With(exit.Failure, fmt.Errorf("%s cannot be drawn, because Step Functions would refuse it", d.Path))
	}
	return c.write(std, form, m, d.Name, nil)
}

// On implements workspace.DirectoryVerb.
func (c *Graph) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	return c.execution(ctx, std, p.Journal)
}

// Alone implements workspace.DirectoryVerb.
func (c *Graph) Alone(ctx context.Context, std terminal.Streams) error {
	return workspace.ReadJournal(c.Data, func(j journal.Journal) error {
		return c.execution(ctx, std, j)
	})
}

// execution draws the machine of an execution, with the path that it took.
func (c *Graph) execution(ctx context.Context, std terminal.Streams, j journal.Journal) error {
	form, err := graphForm(c.Output)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	x, err := findExecution(ctx, j, c.Of)
	if err != nil {
		return err
	}
	events, err := workspace.HistoryOf(ctx, j, x)
	if err != nil {
		return err
	}
	d, err := journal.DefinitionOf(ctx, j, x)
	if err != nil {
		return fmt.Errorf("the definition of %s: %w", x.ARN, err)
	}
	m, _ := asl.Parse(d.Text)
	if m == nil {
		return fmt.Errorf("the definition of %s cannot be read", x.ARN)
	}
	t := timeline.Read(events)
	if x.MapRunARN != "" && len(t.Visits) > 0 {
		m = graph.Part(m, t.Visits[0].State)
	}
	return c.write(std, form, m, d.MachineName+", "+x.Name+": "+string(x.Status), graph.MarksOf(t))
}

// graphForm returns the output format of a graph: svg, png, mermaid or dot.
func graphForm(output string) (string, error) {
	switch form := strings.ToLower(strings.TrimPrefix(filepath.Ext("."+output), ".")); form {
	case "svg", "png", "mermaid", "dot":
		return form, nil
	case "mmd":
		return "mermaid", nil
	case "gv":
		return "dot", nil
	}
	return "", fmt.Errorf("-o %s: name a file that ends in .svg, .png, .mmd or .dot, or svg, png, mermaid or dot alone",
		output)
}

func (c *Graph) write(std terminal.Streams, form string, m *asl.Machine, title string, marks *graph.Marks) error {
	var out bytes.Buffer
	o := graph.Options{Marks: marks}
	var err error
	switch form {
	case "svg":
		err = graph.New(m, title).SVG(&out, o)
	case "png":
		err = graph.New(m, title).PNG(&out, o)
	case "mermaid":
		err = graph.Mermaid(&out, m)
	case "dot":
		err = graph.DOT(&out, m)
	}
	if err != nil {
		return err
	}
	if !strings.Contains(c.Output, ".") {
		_, err = io.Copy(std.Out, &out)
		return err
	}
	if err := os.WriteFile(c.Output, out.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(std.Out, c.Output)
	return nil
}
