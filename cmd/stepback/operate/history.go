package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/csvimport/pipeline"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local"
)

// History implements the verb history.
type History struct {
	Execution string `arg:"" help:"Name or ARN of an execution. For a child execution the end of its ARN is enough."`
	Follow    bool   `short:"f" help:"Print events as they happen, until the execution ends."`
	JSON      bool   `name:"json" help:"Print the events in the form of GetExecutionHistory; with --children, one child execution per line."`
	Children  bool   `help:"List the child executions of the execution's Map Runs instead."`
	Failed    bool   `help:"With --children: only child executions with failed attempts, with their number and error."`
	Row       *int64 `placeholder:"N" help:"For an import: only the events of one row of the file, numbered from 0 as in dead letters."`
	workspace.Where
}

// Help shows examples.
func (History) Help() string {
	return `Examples:
  stepback history sample-10000-rows-csv-c84a580c446bb911a30b7999af460ea5
  stepback history sample-10000-rows-csv-c84a580c446bb911a30b7999af460ea5 --children --failed
  stepback history sample-10000-rows-csv-c84a580c446bb911a30b7999af460ea5 --row 1161
  stepback history order-17 --follow
  stepback history order-17 --endpoint http://localhost:4566
  stepback history 7c0ffee0-1111-4222-8333-444455556666 --json`
}

// Run prints the events.
func (c *History) Run(ctx context.Context, std terminal.Streams) error {
	if c.Failed && !c.Children {
		return exit.With(exit.Usage, errors.New("--failed selects child executions: add --children"))
	}
	if err := c.Check(); err != nil {
		return err
	}
	if durable.IsARN(c.Execution) {
		return c.durable(ctx, std)
	}
	if (c.Follow || c.Remote()) && (c.Children || c.Row != nil) {
		return exit.With(exit.Usage, errNoChildren)
	}
	if c.Follow || c.Remote() {
		return c.Use(ctx, false, func(x *executions.Client) error { return c.fromAPI(ctx, std, x) })
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// fromAPI prints the history that the API returns; with --follow it keeps printing as events arrive.
func (c *History) fromAPI(ctx context.Context, std terminal.Streams, x *executions.Client) error {
	found, err := x.Find(ctx, c.Execution)
	if err != nil {
		return err
	}
	if !c.Follow {
		events, err := x.History(ctx, found.ARN)
		if err != nil {
			return err
		}
		if c.JSON {
			return printEventsJSON(std.Out, events)
		}
		narration.PrintHistory(std.Out, found, events)
		return nil
	}
	lines := narration.NewEventLines(std.Out)
	return x.Follow(ctx, found.ARN, func(events []history.Event) error {
		for i := range events {
			if !c.JSON {
				lines.Print(&events[i])
			} else if _, err := std.Out.Write(append(events[i].AppendJSON(nil, true), '\n')); err != nil {
				return err
			}
		}
		return nil
	})
}

// On implements workspace.DirectoryVerb.
func (c *History) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	return c.print(ctx, std, p.Journal)
}

// Alone implements workspace.DirectoryVerb.
func (c *History) Alone(ctx context.Context, std terminal.Streams) error {
	return workspace.ReadJournal(c.Data, func(j journal.Journal) error {
		return c.print(ctx, std, j)
	})
}

func (c *History) print(ctx context.Context, std terminal.Streams, j journal.Journal) error {
	x, err := findExecution(ctx, j, c.Execution)
	if err != nil {
		return err
	}
	if c.Children {
		return c.printChildren(ctx, std.Out, j, x)
	}
	var row int64 // in its part of the file
	if c.Row != nil {
		if x, row, err = pipeline.ChildOfRow(ctx, j, x, *c.Row); err != nil {
			return err
		}
	}
	events, err := workspace.HistoryOf(ctx, j, x)
	if err != nil {
		return err
	}
	var only map[int64]bool
	if c.Row != nil {
		only = ofRow(events, row)
	}
	switch {
	case c.JSON:
		return printEventsJSON(std.Out, slices.DeleteFunc(events,
			func(e history.Event) bool { return only != nil && !only[e.ID] }))
	default:
		narration.PrintTrace(std.Out, x, events, only)
		return nil
	}
}

// findExecution finds an execution by its ARN, its name, or the end of its ARN.
func findExecution(ctx context.Context, j journal.Journal, name string) (*journal.Execution, error) {
	if strings.HasPrefix(name, "arn:") {
		x, err := j.Execution(ctx, name)
		if errors.Is(err, journal.ErrNotFound) {
			return nil, fmt.Errorf("no execution has the ARN %s", name)
		}
		return x, err
	}
	var found []*journal.Execution
	for x, err := range j.Executions(ctx, "arn:") {
		if err != nil {
			return nil, err
		}
		if x.Name == name {
			return x, nil
		}
		if strings.HasSuffix(x.ARN, name) || strings.HasPrefix(x.Name, name) {
			found = append(found, x)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no execution is called %q", name)
	case 1:
		return found[0], nil
	default:
		return nil, fmt.Errorf("%q matches %d executions, for example %s and %s; give more of the name", name, len(found),
			found[0].Name, found[1].Name)
	}
}

func printEventsJSON(w io.Writer, events []history.Event) error {
	_, err := w.Write(append(narration.AppendEvents([]byte(`{"events":`), events, "\n  "), "}\n"...))
	return err
}
