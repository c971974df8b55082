package retries

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"stepback/adaptive/cost"
	"stepback/adaptive/worth"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/engine/durable"
)

// execution prints what executions like one of a durable function cost. The one is read from the Lambda API.
func (c *Cost) execution(ctx context.Context, std terminal.Streams) error {
	return c.Use(ctx, true, func(x *executions.Client) error {
		events, err := x.DurableHistory(ctx, c.File)
		if err != nil {
			return err
		}
		raw := make([]json.RawMessage, len(events))
		for i := range events {
			raw[i] = events[i].Raw
		}
		return c.durable(raw, std)
	})
}

// pricedDurable is the JSON output for a durable execution.
type pricedDurable struct {
	Prices     cost.Prices `json:"prices"`
	Quotations []quotation `json:"quotations"`
	Usage      usage       `json:"usage"`
}

// usage is the JSON form of durable.Usage.
type usage struct {
	Operations  int64   `json:"operations"`
	Retries     int64   `json:"retries"`
	Written     int64   `json:"writtenBytes"`
	Invocations int64   `json:"invocations"`
	Compute     float64 `json:"computeSeconds"`
	Lasted      float64 `json:"lastedSeconds"`
}

// durable prints what executions cost that use as much as the one with a history.
func (c *Cost) durable(events []json.RawMessage, std terminal.Streams) error {
	u, err := durable.UsageOf(events)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("the history cannot be read: %w", err))
	}
	if u.Operations == 0 {
		return exit.With(exit.Usage, errors.New("the history does not begin with ExecutionStarted: pass all events of the execution"))
	}
	p := cost.DefaultPrices(c.of(worth.X86))
	all := []quotation{quote("like this one", cost.DurableItems(u, float64(c.Executions), c.Memory, c.Retention, p))}
	if c.JSON {
		used := usage{u.Operations, u.Retries, u.Written, u.Invocations, u.Compute.Seconds(), u.Lasted.Seconds()}
		return terminal.PrintJSON(std.Out, pricedDurable{p, all, used})
	}
	fmt.Fprintf(std.Out, "%s of a durable function, in USD\n\n", terminal.Counted(c.Executions, "execution"))
	printQuotations(std.Out, all, p)
	fmt.Fprintf(std.Out, "\nEach has %s, of which %s of steps, writes %s, and runs %s in %s.\n",
		terminal.Counted(u.Operations, "operation"), retriesInWords(u.Retries), terminal.Counted(u.Written, "byte"),
		terminal.Duration(u.Compute.Round(time.Millisecond)), terminal.Counted(u.Invocations, "invocation"))
	fmt.Fprintln(std.Out, "The start counts as an operation. Inputs and results of executions, and results of chained invokes, are not counted as written.")
	return nil
}

func retriesInWords(n int64) string {
	if n == 1 {
		return "1 retry"
	}
	return terminal.Grouped(n) + " retries"
}
