package retries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/analysis"
	"stepback/adaptive/analysis/histories"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// retriesRecord holds the flags that select the histories to read.
type retriesRecord struct {
	Data         string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory. Default .stepback."`
	Endpoint     string `placeholder:"URL" help:"Read histories from an endpoint such as http://localhost:8083, instead of a data directory."`
	AWS          bool   `name:"aws" help:"Read histories from AWS, with the usual configuration of its SDKs."`
	StateMachine string `placeholder:"NAME" help:"Name or ARN of the state machine. Default: all."`
	Function     string `placeholder:"NAME" help:"Name or ARN of the durable Lambda function, whose steps are read. Default: all, unless --state-machine is given."`
	Days         int    `default:"7" placeholder:"N" help:"Only executions that started within this many days. Default 7."`

	each func(*analysis.Task) // see analysis.Collector.Each
}

// remote reports whether the histories come from an API.
func (c *retriesRecord) remote() bool { return c.AWS || c.Endpoint != "" }

func (c *retriesRecord) check() error {
	switch {
	case c.AWS && c.Endpoint != "":
		return exit.With(exit.Usage, errors.New("--aws and --endpoint exclude each other"))
	case c.Days < 1 || c.Days > 3650:
		return exit.With(exit.Usage, fmt.Errorf("--days is %d; it must be 1 to 3,650", c.Days))
	}
	return nil
}

func (c *retriesRecord) selection() histories.Selection {
	return histories.Selection{Machine: c.StateMachine, Function: c.Function, Since: time.Now().AddDate(0, 0, -c.Days)}
}

// fromAPI reads the histories of AWS or an endpoint.
func (c *retriesRecord) fromAPI(ctx context.Context) (*analysis.Collector, error) {
	cfg, err := workspace.AWSConfig(ctx, c.Endpoint)
	if err != nil {
		return nil, err
	}
	found := analysis.Collector{Each: c.each}
	if c.StateMachine != "" || c.Function == "" {
		if err := histories.API(ctx, sfn.NewFromConfig(cfg), c.selection(), &found); err != nil {
			return nil, err
		}
	}
	if c.Function != "" || c.StateMachine == "" {
		err = workspace.UseConfig(ctx, cfg, 0, func(x *executions.Client) error { return c.durable(ctx, x, &found) })
		var refused *executions.Refusal
		if c.Function == "" && errors.As(err, &refused) { // an endpoint without durable functions
			err = nil
		}
	}
	return &found, err
}

// durable reads the histories of durable functions.
func (c *retriesRecord) durable(ctx context.Context, x *executions.Client, found *analysis.Collector) error {
	f := &executions.DurableFilter{Function: c.Function, Since: c.selection().Since}
	return x.ListDurable(ctx, f, func(d *executions.Durable) error {
		all, err := x.DurableHistory(ctx, d.ARN)
		var refused *executions.Refusal
		if errors.As(err, &refused) && refused.Code == "ResourceNotFoundException" {
			return nil // it has been removed in the meantime
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.ARN, err)
		}
		events := make([]history.Event, len(all))
		for i := range all {
			events[i] = all[i].Event
		}
		found.AddHistory(analysis.Execution{ARN: d.ARN, Ended: d.Ended()}, events)
		return nil
	})
}

// fromJournal reads the histories of a journal.
func (c *retriesRecord) fromJournal(ctx context.Context, j journal.Journal) (*analysis.Collector, error) {
	found := analysis.Collector{Each: c.each}
	return &found, histories.Journal(ctx, j, c.selection(), &found)
}

// fromDirectory reads the histories of a data directory that no process has open.
func (c *retriesRecord) fromDirectory(ctx context.Context) (found *analysis.Collector, err error) {
	err = workspace.ReadJournal(c.Data, func(j journal.Journal) (err error) {
		found, err = c.fromJournal(ctx, j)
		return err
	})
	return found, err
}

// printRecord prints what was read, and which parts could not be used.
func printRecord(w io.Writer, r analysis.Read, from, to time.Time) {
	fmt.Fprintf(w, "%s, %s, %s", terminal.Counted(int64(r.Executions), "execution"), terminal.Counted(int64(r.Tasks), "task"),
		terminal.Counted(int64(r.Attempts), "attempt"))
	if !from.IsZero() {
		fmt.Fprintf(w, ", from %s to %s", from.Local().Format("2006-01-02 15:04"), to.Local().Format("2006-01-02 15:04"))
	}
	fmt.Fprintln(w)
	if r.Running > 0 {
		fmt.Fprintf(w, "%d of the executions have not ended; their pending waits are not counted\n", r.Running)
	}
	if r.Gaps > 0 {
		fmt.Fprintf(w, "histories with gaps: %d; tasks used up to the gap or not at all: %d\n", r.Gaps, r.CutByGaps)
	}
}
