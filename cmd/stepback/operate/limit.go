package operate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"stepback/aws"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine"
	"stepback/local"
)

// Limit implements the verb limit.
type Limit struct {
	Callee  string `arg:"" optional:"" help:"Lambda function, by name or ARN, or the Resource of the tasks. Without it, list the limits."`
	Rate    string `arg:"" optional:"" placeholder:"N|off" help:"Calls per second, such as 20 or 0.5, or off."`
	Data    string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory of the serving process. Default .stepback."`
	Account string `default:"000000000000" help:"Account of the state machines. Default 000000000000."`
	Region  string `default:"us-east-1" help:"Region of the state machines. Default us-east-1."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// Help shows examples.
func (Limit) Help() string {
	return `Examples:
  stepback limit charge 20
  stepback limit arn:aws:states:::dynamodb:putItem 100
  stepback limit charge off
  stepback limit

Tasks beyond the limit wait in order, and executions take turns. A changed limit applies at once, also to tasks that wait,
and survives a restart of serve. The timeouts of a task continue while it waits. The invokes of durable Lambda functions
are limited in the same way; what the code of their steps calls is not, because it goes to the callee directly.`
}

// rate returns the limit's rate; 0 removes it.
func (c *Limit) rate() (float64, error) {
	if c.Rate == "off" {
		return 0, nil
	}
	rate, err := strconv.ParseFloat(c.Rate, 64)
	if err != nil || !(rate > 0) || math.IsInf(rate, 0) {
		return 0, exit.With(exit.Usage, fmt.Errorf("the rate %q is not understood: give calls per second, such as 20, or off", c.Rate))
	}
	return rate, nil
}

// Run sets, changes, removes or lists limits.
func (c *Limit) Run(ctx context.Context, std terminal.Streams) error {
	if c.Callee != "" {
		if c.Rate == "" {
			return exit.With(exit.Usage, errors.New("give calls per second after the callee, such as 20, or off"))
		}
		if _, err := c.rate(); err != nil {
			return err
		}
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// Alone implements workspace.DirectoryVerb.
func (c *Limit) Alone(ctx context.Context, std terminal.Streams) error {
	return (&held{Data: c.Data}).Alone(ctx, std)
}

// On implements workspace.DirectoryVerb.
func (c *Limit) On(_ context.Context, std terminal.Streams, p *local.Platform) error {
	scope := aws.Scope{Account: c.Account, Region: c.Region}
	if c.Callee != "" {
		rate, err := c.rate()
		if err != nil {
			return err
		}
		if err := p.LimitCalls(scope, engine.CallLimit{Callee: c.Callee, PerSecond: rate}); err != nil {
			return err
		}
	}
	_, all, err := p.Pacing(scope)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, all)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(std.Out, "no limits")
		return err
	}
	t := terminal.NewTable("callee", ">a second", ">waiting")
	for _, l := range all {
		t.Add(l.Callee, strconv.FormatFloat(l.PerSecond, 'g', -1, 64), l.Waiting)
	}
	t.Print(std.Out, "")
	return nil
}
