package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/local"
)

// RetryNow implements the verb retry-now.
type RetryNow struct {
	Execution string `arg:"" help:"Name or ARN of the execution."`
	State     string `placeholder:"NAME" help:"Only the retries of this state, or of this step of a durable function; 'invocation' is the next invocation of a function that failed outside its steps. Default: all."`
	JSON      bool   `name:"json" help:"Print one JSON object per retry and line."`
	workspace.Where
}

// Help shows examples.
func (RetryNow) Help() string {
	return `Examples:
  stepback retry-now order-17
  stepback retry-now order-17 --state Charge --endpoint http://localhost:4566
  stepback retry-now "$ARN" --state charge

The retries that the execution waits for begin at once, instead of when their delays are over. Later delays do not
change. AWS has no such operation: with --endpoint, the server must be stepback's, and its console on.`
}

// begun is a retry that has begun.
type begun struct {
	ARN   string `json:"executionArn"`
	State string `json:"state"`
	id    string // as the console's forms have it
}

// Run begins the retries.
func (c *RetryNow) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.Check(); err != nil {
		return err
	}
	switch {
	case c.AWS:
		return exit.With(exit.Usage, errors.New("AWS has no operation that begins a retry: use --data or --endpoint"))
	case c.Endpoint != "":
		return c.Use(ctx, true, func(x *executions.Client) error { return c.at(ctx, std, x) })
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// Alone implements workspace.DirectoryVerb.
func (c *RetryNow) Alone(context.Context, terminal.Streams) error {
	return fmt.Errorf("no process serves %s: start stepback serve --data %s, or name one with --endpoint",
		terminal.ShortPath(c.Data), terminal.Quoted(terminal.ShortPath(c.Data)))
}

// On implements workspace.DirectoryVerb.
func (c *RetryNow) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	if durable.IsARN(c.Execution) {
		if _, err := p.Durable.Find(ctx, c.Execution); err != nil {
			return err
		}
		retries, err := p.Durable.Retries(ctx, c.Execution)
		if err != nil {
			return err
		}
		var waits []begun
		for _, r := range retries {
			waits = append(waits, begun{c.Execution, r.Name, r.Operation})
		}
		return c.begin(std, c.Execution, waits, func(b begun) error { return p.Durable.RetryNow(ctx, b.ARN, b.id) })
	}
	e, err := p.Engine()
	if err != nil {
		return err
	}
	return workspace.UseConfig(ctx, *c.Signed(p.Endpoint), 0, func(x *executions.Client) error {
		found, err := x.Find(ctx, c.Execution)
		if err != nil {
			return err
		}
		pending, err := e.Pending(ctx, found.ARN)
		if err != nil {
			return err
		}
		var waits []begun
		for _, w := range pending {
			if w.Kind == history.PendingRetry {
				waits = append(waits, begun{found.ARN, w.State, strconv.FormatInt(w.ID, 10)})
			}
		}
		return c.begin(std, found.ARN, waits, func(b begun) error {
			id, err := strconv.ParseInt(b.id, 10, 64)
			if err != nil {
				return err
			}
			return e.RetryNow(ctx, b.ARN, id)
		})
	})
}

// at begins the retries through the console of a server.
func (c *RetryNow) at(ctx context.Context, std terminal.Streams, x *executions.Client) error {
	arn, id := c.Execution, "operation"
	if !durable.IsARN(arn) {
		found, err := x.Find(ctx, arn)
		if err != nil {
			return err
		}
		arn, id = found.ARN, "id"
	}
	server, page := workspace.Console{Endpoint: c.Endpoint}, "executions/"+url.PathEscape(arn)
	body, err := server.Get(ctx, page+"?format=json&now=all")
	if err != nil {
		return err
	}
	var shown struct {
		Now []struct {
			State     string
			Type      string
			Outcome   string
			Pending   int64  `json:"pendingId"`
			Operation string `json:"operationId"`
		}
	}
	if err := json.Unmarshal(body, &shown); err != nil {
		return fmt.Errorf("%s is not a server of stepback: %w", c.Endpoint, err)
	}
	var waits []begun
	for _, n := range shown.Now {
		switch {
		case n.Pending > 0:
			waits = append(waits, begun{arn, n.State, strconv.FormatInt(n.Pending, 10)})
		case (n.Type == durable.TypeStep || n.Type == durable.TypeExecution) && n.Outcome == "waiting":
			waits = append(waits, begun{arn, n.State, n.Operation})
		}
	}
	return c.begin(std, arn, waits, func(b begun) error {
		_, err := server.Act(ctx, page, "retry-now", url.Values{"arn": {b.ARN}, id: {b.id}})
		return err
	})
}

// begin begins those of the retries that the flags select, and reports them.
func (c *RetryNow) begin(std terminal.Streams, arn string, waits []begun, do func(begun) error) error {
	n := 0
	for _, b := range waits {
		if c.State != "" && b.State != c.State {
			continue
		}
		if err := do(b); err != nil {
			return fmt.Errorf("%s: %w", b.State, err)
		}
		n++
		if c.JSON {
			if err := json.NewEncoder(std.Out).Encode(b); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(std.Out, "%s  %s: the retry has begun\n", arn, b.State)
	}
	if n == 0 {
		what := "a retry"
		if c.State != "" {
			what += " of " + c.State
		}
		return exit.With(exit.Failure, fmt.Errorf("%s does not wait for %s; stepback describe shows what it does", arn, what))
	}
	return nil
}
