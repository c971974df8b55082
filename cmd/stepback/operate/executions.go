package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/local"
)

// selection holds the flags that select executions.
type selection struct {
	Machine  string       `placeholder:"NAME" help:"Name or ARN of the state machine. Default: all."`
	MapRun   string       `placeholder:"ARN" help:"The child executions of a Map Run."`
	Status   string       `placeholder:"STATUS" help:"RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED."`
	Retrying bool         `help:"Only executions that are waiting for a retry, with its time."`
	Error    string       `placeholder:"NAME" help:"Only executions that ended with this error, or are waiting for a retry because of it."`
	Since    terminal.Age `placeholder:"DAYSd|DURATION" help:"Only executions that started within this time, such as 2h or 7d."`
}

var statuses = []history.Status{history.Running, history.Succeeded, history.Failed, history.TimedOut, history.Aborted}

// filter returns the filter for the flags.
func (s *selection) filter(limit int) (executions.Filter, error) {
	f := executions.Filter{Machine: s.Machine, MapRun: s.MapRun, Retrying: s.Retrying, Error: s.Error, Limit: limit,
		Status: history.Status(strings.ToUpper(s.Status))}
	if f.Status != "" && !slices.Contains(statuses, f.Status) {
		return f, exit.With(exit.Usage, fmt.Errorf("--status %s: give one of RUNNING, SUCCEEDED, FAILED, TIMED_OUT, ABORTED",
			s.Status))
	}
	if s.Since > 0 {
		f.Since = time.Now().Add(-time.Duration(s.Since))
	}
	return f, nil
}

// Executions implements the verb executions.
type Executions struct {
	selection
	Durable  bool   `help:"List executions of durable Lambda functions instead. Needs a process that serves the data directory, or an endpoint."`
	Function string `placeholder:"NAME" help:"With --durable: name or ARN of the function. Default: all durable functions."`
	Limit    int    `short:"n" default:"50" placeholder:"N" help:"List at most this many, newest first; 0 lists all. With an endpoint the limit is per state machine. Default 50."`
	JSON     bool   `name:"json" help:"Print one JSON object per execution and line."`
	workspace.Where
}

// Help shows examples.
func (Executions) Help() string {
	return `Examples:
  stepback executions
  stepback executions --status FAILED --since 24h
  stepback executions --retrying --machine orders
  stepback executions --durable --function checkout --retrying
  stepback executions --aws --machine orders --error Lambda.TooManyRequestsException --json

For a data directory or a stepback server, an index answers these queries (a server's console must be on; read-only is enough). For
other endpoints, --retrying reads the histories of running executions and --error describes failed ones, up to 1,000 of them: name a
machine, or a time with --since.`
}

// Run lists the executions that the flags select.
func (c *Executions) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.Check(); err != nil {
		return err
	}
	if c.Function != "" && !c.Durable {
		return exit.With(exit.Usage, errors.New("--function selects durable executions: add --durable"))
	}
	if c.Durable {
		return c.durable(ctx, std)
	}
	if !c.Remote() {
		return workspace.OnDirectory(ctx, std, c.Data, c)
	}
	f, err := c.filter(c.Limit)
	if err != nil {
		return err
	}
	f.Errors = true
	return c.Use(ctx, false, func(x *executions.Client) error {
		return c.list(std, func(take func(*executions.Execution) error) error { return x.List(ctx, f, take) })
	})
}

// On implements workspace.DirectoryVerb.
func (c *Executions) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	e, err := p.Engine()
	if err != nil {
		return err
	}
	return c.fromEngine(ctx, std, e, p.Scope)
}

// Alone implements workspace.DirectoryVerb.
func (c *Executions) Alone(ctx context.Context, std terminal.Streams) (err error) {
	r, err := local.Read(ctx, c.Data, c.Scope())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return c.fromEngine(ctx, std, r.Engine, c.Scope())
}

func (c *Executions) fromEngine(ctx context.Context, std terminal.Streams, e *engine.Engine, scope aws.Scope) error {
	f, err := c.filter(c.Limit)
	if err != nil {
		return err
	}
	return c.list(std, func(take func(*executions.Execution) error) error {
		return executions.Engine(ctx, e, scope, f, take)
	})
}

// list prints executions as they arrive, as JSON, or as a table.
func (c *Executions) list(std terminal.Streams, each func(func(*executions.Execution) error) error) error {
	lines, n := json.NewEncoder(std.Out), 0
	lines.SetEscapeHTML(false)
	t := terminal.NewTable("execution", "state machine", "status", "started", ">took", "what")
	err := each(func(x *executions.Execution) error {
		n++
		if c.JSON {
			return lines.Encode(x)
		}
		what, took := x.Retrying, ""
		if x.Error != nil && what == "" {
			what = *x.Error
		}
		if x.Ended() {
			took = terminal.Duration(x.Stop.Sub(x.Start.Time))
		}
		t.Add(x.Name, executions.NameIn(x.MachineARN), x.Status, x.Start.Local().Format(time.DateTime), took, what)
		return nil
	})
	bounded, partly := errors.AsType[*executions.BoundedError](err)
	switch {
	case err != nil && !partly:
		return err
	case c.JSON:
	case n == 0:
		fmt.Fprintln(std.Err, "no executions")
	default:
		t.Print(std.Out, "")
	}
	if partly {
		fmt.Fprintln(std.Err, bounded)
	} else if n == c.Limit && !c.JSON {
		fmt.Fprintf(std.Err, "the newest %d; -n 0 lists all\n", n)
	}
	return nil
}
