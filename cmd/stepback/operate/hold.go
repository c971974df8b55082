package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/aws"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine"
	"stepback/local"
)

// held holds the flags that select retries of a serving process.
type held struct {
	Machine string `placeholder:"NAME" help:"Only retries of this state machine, including the children of its Maps, or of this durable function."`
	Error   string `placeholder:"NAME" help:"Only retries after this error."`
	State   string `placeholder:"NAME" help:"Only retries of this state, or of this step of a durable function."`
	Data    string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory of the serving process. Default .stepback."`
	Account string `default:"000000000000" help:"Account of the state machines. Default 000000000000."`
	Region  string `default:"us-east-1" help:"Region of the state machines. Default us-east-1."`
	JSON    bool   `name:"json" help:"Print JSON."`
}

func (h *held) scope() aws.Scope { return aws.Scope{Account: h.Account, Region: h.Region} }

func (h *held) hold() engine.Hold {
	return engine.Hold{Machine: h.Machine, Error: h.Error, State: h.State}
}

// Alone implements workspace.DirectoryVerb.
func (h *held) Alone(context.Context, terminal.Streams) error {
	return fmt.Errorf("no process serves %s: start stepback serve --data %s", terminal.ShortPath(h.Data), terminal.Quoted(terminal.ShortPath(h.Data)))
}

// Hold implements the verb hold.
type Hold struct {
	All  bool `help:"Hold all retries."`
	List bool `help:"List the holds, with the number of retries that are due."`
	held
}

// Help shows examples.
func (Hold) Help() string {
	return `Examples:
  stepback hold --error CardServiceBusy
  stepback hold --machine orders --state Charge
  stepback hold --list
  stepback release --error CardServiceBusy

While a callee is down, its retries only use up their attempts. A held retry does not begin when it is due: the execution
keeps running, and its attempts are kept. New retries that match are held too. The hold survives a restart of serve.
Timeouts of executions and states around the retry continue. stepback retry-now still begins the retries of one execution.
For a durable Lambda function, the machine is the function, by name or ARN, and the state is the step.`
}

// Run holds retries.
func (c *Hold) Run(ctx context.Context, std terminal.Streams) error {
	if selects := c.Machine != "" || c.Error != "" || c.State != ""; !c.List && c.All == selects {
		return exit.With(exit.Usage, errors.New("select the retries to hold with --machine, --error or --state, or give --all"))
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Hold) On(_ context.Context, std terminal.Streams, p *local.Platform) error {
	if !c.List {
		if err := p.Hold(c.scope(), c.hold()); err != nil {
			return err
		}
	}
	all, _, err := p.Pacing(c.scope())
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, all)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(std.Out, "no holds")
		return err
	}
	t := terminal.NewTable("machine", "error", "state", "since", ">due")
	any := func(s string) string {
		if s == "" {
			return "any"
		}
		return s
	}
	for _, h := range all {
		t.Add(any(h.Machine), any(h.Error), any(h.State), h.Since.Local().Format(time.DateTime), h.Due)
	}
	t.Print(std.Out, "")
	return nil
}

// Release implements the verb release.
type Release struct {
	All bool `help:"End all holds."`
	held
}

// Help shows examples.
func (Release) Help() string {
	return `Examples:
  stepback release --error CardServiceBusy
  stepback release --all

Each retry then waits for the rest of its delay: what was left when the hold began, or all of it if it failed during the
hold. So the retries do not begin together. Give the flags of the hold; stepback hold --list shows them.`
}

// Run ends holds.
func (c *Release) Run(ctx context.Context, std terminal.Streams) error {
	if selects := c.Machine != "" || c.Error != "" || c.State != ""; c.All && selects {
		return exit.With(exit.Usage, errors.New("give --all, or the flags of one hold"))
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// On implements workspace.DirectoryVerb.
func (c *Release) On(_ context.Context, std terminal.Streams, p *local.Platform) error {
	chosen := []engine.Hold{c.hold()}
	if c.All {
		all, _, err := p.Pacing(c.scope())
		if err != nil {
			return err
		}
		chosen = nil
		for _, h := range all {
			chosen = append(chosen, h.Hold)
		}
	}
	total := 0
	for _, h := range chosen {
		due, err := p.Release(c.scope(), h)
		if errors.Is(err, engine.ErrNoHold) {
			return fmt.Errorf("%w; stepback hold --list shows them", err)
		}
		if err != nil {
			return err
		}
		total += due
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, map[string]int{"holds": len(chosen), "due": total})
	}
	_, err := fmt.Fprintf(std.Out, "released: %s, with %d due\n", terminal.Counted(int64(len(chosen)), "hold"), total)
	return err
}
