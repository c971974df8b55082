package operate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"stepback/adaptive/pacing"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/engine/durable"
	"stepback/engine/history"
)

// Redrive implements the verb redrive.
type Redrive struct {
	several
	Rate string `placeholder:"N|auto" help:"Executions per second. auto begins as many at a time as their callees can handle, which it learns, waits for their ends, and redrives those that fail again. Default: all at once."`
}

// Help shows examples.
func (Redrive) Help() string {
	return `Examples:
  stepback redrive order-17
  stepback redrive --machine orders --status FAILED --error CardServiceBusy --since 2h --dry-run
  stepback redrive --machine orders --error CardServiceBusy --rate auto
  stepback redrive --machine orders --error CardServiceBusy --rate 20 --aws

Redrive resumes an execution that failed, timed out or was stopped at the states that failed. States that succeeded do not
run again. After an outage, --rate keeps thousands of redrives from causing the next one. If it is interrupted, run the same
command again: executions that have been redriven no longer match.`
}

// Run redrives executions that ended without success.
func (c *Redrive) Run(ctx context.Context, std terminal.Streams) error {
	for _, name := range c.Executions {
		if durable.IsARN(name) {
			return exit.With(exit.Usage, fmt.Errorf(
				"%s is an execution of a durable function, which cannot be redriven: invoke the function again with another DurableExecutionName", name))
		}
	}
	failed := func(x *executions.Execution) bool { return x.Ended() && x.Status != history.Succeeded }
	if c.Rate == "auto" && !c.DryRun {
		return c.learn(ctx, std, failed)
	}
	var gap time.Duration
	if c.Rate != "" && c.Rate != "auto" {
		rate, err := strconv.ParseFloat(c.Rate, 64)
		if err != nil || !(rate > 0) || math.IsInf(rate, 0) || rate < 1e-6 {
			return exit.With(exit.Usage, fmt.Errorf("--rate %s: give executions per second, such as 20, or auto", c.Rate))
		}
		gap = time.Duration(float64(time.Second) / rate)
	}
	var next time.Time
	return c.each(ctx, std, "redriven", failed, nil, func(x *executions.Client, arn string) error {
		if gap > 0 {
			if err := waitUntil(ctx, next); err != nil {
				return err
			}
			next = time.Now().Add(gap)
		}
		return x.Redrive(ctx, arn)
	})
}

func waitUntil(ctx context.Context, at time.Time) error {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// learn redrives at the rate that the callees can handle.
func (c *Redrive) learn(ctx context.Context, std terminal.Streams, fits func(*executions.Execution) bool) error {
	if len(c.Executions) == 0 && c.selection == (selection{}) {
		return exit.With(exit.Usage, errors.New("name executions, or select some: --machine, --status, --error, --since"))
	}
	f, err := c.filter(0)
	if err != nil {
		return err
	}
	return c.Use(ctx, true, func(x *executions.Client) error {
		chosen, err := c.chosen(ctx, x, f, fits)
		if err != nil {
			return err
		}
		arns := make([]string, len(chosen))
		for i := range chosen {
			arns[i] = chosen[i].ARN
		}
		const reports = 5 // seconds between them
		seconds := 0
		var printed error
		p, err := pacing.Run(ctx, arns, redriving{x}, pacing.Config{Every: x.Every, Progress: func(p pacing.Progress) {
			if seconds++; seconds%reports == 0 && p.Done() < p.Total {
				fmt.Fprintln(std.Err, paced(p))
			}
		}}, func(arn string, err error) {
			a := acted{ARN: arn, Done: err == nil}
			if err != nil {
				a.Reason = err.Error()
			}
			printed = errors.Join(printed, c.say(std, "redriven", &a))
		})
		if !c.JSON {
			fmt.Fprintln(std.Err, paced(p))
		}
		switch {
		case err != nil:
			return fmt.Errorf("%w; run the same command again to redrive the %s that are left", err,
				terminal.Counted(int64(p.Total-p.Done()-p.UnderWay), "execution"))
		case printed != nil:
			return printed
		case p.Failed+p.Refused > 0:
			return exit.With(exit.Failure, nil)
		}
		return nil
	})
}

// paced formats the progress of a redrive and what it has learned.
func paced(p pacing.Progress) string {
	text := fmt.Sprintf("%s of %s redriven, %d under way, at most %d at a time", terminal.Grouped(int64(p.Succeeded)),
		terminal.Grouped(int64(p.Total)), p.UnderWay, int(p.Limit))
	if p.Rate > 0 {
		text += fmt.Sprintf(", %.1f a second", p.Rate)
	}
	if p.Again > 0 {
		text += fmt.Sprintf(", %s failed and tried again", terminal.Grouped(int64(p.Again)))
	}
	if n := p.Failed + p.Refused; n > 0 {
		text += fmt.Sprintf(", %s not redriven", terminal.Grouped(int64(n)))
	}
	return text
}

// redriving implements pacing.Work with redrives of executions.
type redriving struct{ client *executions.Client }

// Begin implements pacing.Work.
func (r redriving) Begin(ctx context.Context, arn string) error { return r.client.Redrive(ctx, arn) }

// Ended implements pacing.Work. An execution that cannot be described now is looked at again later.
func (r redriving) Ended(ctx context.Context, arns []string) (map[string]bool, error) {
	ended := map[string]bool{}
	var last error
	for i, arn := range arns {
		x, err := r.client.Describe(ctx, arn)
		switch {
		case err != nil:
			if last = err; i == 0 && ctx.Err() != nil {
				return nil, err
			}
		case x.Ended():
			ended[arn] = x.Status == history.Succeeded
		}
	}
	var refused *executions.Refusal
	if last != nil && len(ended) == 0 && !errors.As(last, &refused) { // the endpoint is gone
		return nil, last
	}
	return ended, nil
}
