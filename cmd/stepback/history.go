package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/local"
	"stepback/pipeline"
)

type historyCmd struct {
	Execution string `arg:"" help:"Name or ARN of an execution; the end of a child execution's ARN is enough."`
	Data      string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	JSON      bool   `name:"json" help:"Print the events as GetExecutionHistory answers them; with --children one child execution a line."`
	Children  bool   `help:"List the child executions of the execution's Map Runs instead."`
}

// Help shows examples.
func (historyCmd) Help() string {
	return `Examples:
  stepback history sample-10000-rows-csv-c84a580c446bb911a30b7999af460ea5
  stepback history sample-10000-rows-csv-c84a580c446bb911a30b7999af460ea5 --children
  stepback history 7c0ffee0-1111-4222-8333-444455556666 --json`
}

// Run prints the events.
func (c *historyCmd) Run(ctx context.Context, std streams) error {
	return onDirectory(ctx, std, c.Data, c)
}

func (c *historyCmd) on(ctx context.Context, std streams, p *local.Platform) error {
	return c.print(ctx, std, p.Journal)
}

func (c *historyCmd) alone(ctx context.Context, std streams) error {
	return withJournal(c.Data, pebble.Options{ReadOnly: true}, func(j *pebble.Journal) error {
		return c.print(ctx, std, j)
	})
}

func (c *historyCmd) print(ctx context.Context, std streams, j journal.Journal) error {
	x, err := findExecution(ctx, j, c.Execution)
	if err != nil {
		return err
	}
	events, err := historyOf(ctx, j, x)
	if err != nil {
		return err
	}
	switch {
	case c.Children:
		return c.printChildren(ctx, std.out, j, x)
	case c.JSON:
		return printEventsJSON(std.out, events)
	default:
		printTrace(std.out, x, events)
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
		return nil, fmt.Errorf("%q fits %d executions, for example %s and %s; give more of the name", name, len(found),
			found[0].Name, found[1].Name)
	}
}

func printEventsJSON(w io.Writer, events []history.Event) error {
	_, err := w.Write(append(appendEvents([]byte(`{"events":`), events, "\n  "), "}\n"...))
	return err
}

// printChildren prints the child executions of a Map Run as a table, or with --json one a line, since there may be a
// million.
func (c *historyCmd) printChildren(ctx context.Context, w io.Writer, j journal.Journal,
	parent *journal.Execution) error {
	if c.JSON {
		lines := json.NewEncoder(w)
		lines.SetEscapeHTML(false)
		return pipeline.Children(ctx, j, parent,
			func(x *journal.Execution) error { return lines.Encode(describeExecution(x)) })
	}
	t := newTable("child execution", "status", ">rows", ">events")
	err := pipeline.Children(ctx, j, parent, func(x *journal.Execution) error {
		t.add(x.Name, x.Status, x.Items, x.HistorySize)
		return nil
	})
	if err != nil {
		return err
	}
	t.print(w, "")
	return nil
}
