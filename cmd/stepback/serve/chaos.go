package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/local"
	"stepback/local/chaos"
)

// Chaos injects faults into the services of a running server.
type Chaos struct {
	Add  ChaosAdd  `cmd:"" default:"withargs" help:"Add faults. Without arguments, list the active ones."`
	List ChaosList `cmd:"" help:"List the active faults."`
	Lift ChaosLift `cmd:"" help:"End faults."`
}

// Help shows examples.
func (Chaos) Help() string {
	return `Examples:
  stepback chaos dynamodb:PutItem:throttle:10% --for 5m
  stepback chaos sqs:SendMessageBatch:partial:30% events:PutEvents:partial:5%
  stepback chaos 'sqs:*:latency:100ms-2s' s3:GetObject:unavailable:0.2
  stepback chaos lambda:Invoke:hang:1% dynamodb:UpdateItem:ConditionalCheckFailedException:5%
  stepback chaos --file chaos.yaml --seed 7
  stepback chaos list --json
  stepback chaos lift 3
  stepback chaos lift --all

A fault is SERVICE:ACTION:ERROR:RATE or SERVICE:ACTION:latency:TIME[:RATE]. SERVICE and ACTION may be patterns with *.
ERROR is throttle (the service's own throttling error), unavailable (status 503), hang (no response until the client gives
up), crash (the connection is cut, in half of the cases after the request was executed), partial (RATE is the share of a
batch's entries that fail), or the code of an error that the action can return; custom=CODE accepts any code. RATE is a
number from 0 to 1 or a percentage. Faults apply to requests that clients and state machines send to the process that serves
--data, and end when that process ends. With the same seed and the same order of requests, the same requests fail.

A file is YAML with a list "faults", of strings as above or of {fault, for, seed}. Its top-level "seed" and "for" are the
defaults for faults without their own.`
}

// ChaosWhere holds the flags that select a running server.
type ChaosWhere struct {
	Data     string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory of the serving process. Default .stepback."`
	Endpoint string `placeholder:"URL" help:"Address of the serving process instead, such as http://127.0.0.1:4566; its console must be on."`
}

// ChaosAdd implements the verb chaos add.
type ChaosAdd struct {
	Fault []string      `arg:"" optional:"" sep:"none" help:"SERVICE:ACTION:ERROR:RATE or SERVICE:ACTION:latency:TIME[:RATE]."`
	File  string        `type:"existingfile" placeholder:"FILE" help:"YAML file of faults."`
	For   time.Duration `placeholder:"DURATION" help:"How long the faults apply, by the clock of the serving process: 30s, 5m. Default: until they are lifted."`
	Seed  uint64        `default:"1" help:"Seed of the choice of requests that fail. Default 1."`
	ChaosWhere
	JSON bool   `name:"json" help:"Print the faults as JSON."`
	Text []byte `kong:"-"` // contents of File, for a process that may not have access to it
}

// Help has an example.
func (ChaosAdd) Help() string {
	return "Example:\n  stepback chaos add dynamodb:PutItem:throttle:10% --for 5m"
}

// Run adds the faults.
func (c *ChaosAdd) Run(ctx context.Context, std terminal.Streams) (err error) {
	if c.For < 0 {
		return exit.With(exit.Usage, errors.New("--for must be a positive duration"))
	}
	if c.Endpoint != "" {
		return c.at(ctx, std)
	}
	if c.File != "" {
		if c.Text, err = terminal.ReadFile(c.File); err != nil {
			return err
		}
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// Alone implements workspace.DirectoryVerb.
func (c *ChaosAdd) Alone(context.Context, terminal.Streams) error { return noProcess(c.Data) }

// noProcess returns the error that faults need a running server.
func noProcess(dir string) error {
	return fmt.Errorf("no process serves %s: start stepback serve --data %s", terminal.ShortPath(dir), terminal.Quoted(terminal.ShortPath(dir)))
}

// On implements workspace.DirectoryVerb.
func (c *ChaosAdd) On(_ context.Context, std terminal.Streams, p *local.Platform) error {
	var wanted []chaos.Wanted
	for _, f := range c.Fault {
		wanted = append(wanted, chaos.Wanted{Fault: f, Seed: c.Seed, For: c.For})
	}
	if c.File != "" {
		of, err := p.Chaos.ReadFile(terminal.ShortPath(c.File), c.Text, chaos.Wanted{Seed: c.Seed, For: c.For})
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		wanted = append(wanted, of...)
	}
	if len(wanted) == 0 {
		return printFaults(std, p.Chaos.List(), c.JSON)
	}
	added, err := p.Chaos.Add(wanted)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	return printFaults(std, added, c.JSON)
}

// ChaosList implements the verb chaos list.
type ChaosList struct {
	ChaosWhere
	JSON bool `name:"json" help:"Print the faults as JSON."`
}

// Help has an example.
func (ChaosList) Help() string { return "Example:\n  stepback chaos list --json" }

// Run lists the faults.
func (c *ChaosList) Run(ctx context.Context, std terminal.Streams) error {
	if c.Endpoint != "" {
		faults, err := remote(c.Endpoint).faults(ctx)
		if err != nil {
			return err
		}
		return printFaults(std, faults, c.JSON)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// Alone implements workspace.DirectoryVerb.
func (c *ChaosList) Alone(context.Context, terminal.Streams) error { return noProcess(c.Data) }

// On implements workspace.DirectoryVerb.
func (c *ChaosList) On(_ context.Context, std terminal.Streams, p *local.Platform) error {
	return printFaults(std, p.Chaos.List(), c.JSON)
}

// ChaosLift implements the verb chaos lift.
type ChaosLift struct {
	ID   []int `arg:"" optional:"" help:"Number of the fault, from stepback chaos list."`
	All  bool  `help:"End all faults."`
	JSON bool  `name:"json" help:"Print the number of ended faults as JSON."`
	ChaosWhere
}

// Help has an example.
func (ChaosLift) Help() string { return "Example:\n  stepback chaos lift 3" }

// Run lifts the faults.
func (c *ChaosLift) Run(ctx context.Context, std terminal.Streams) error {
	if c.All == (len(c.ID) > 0) {
		return exit.With(exit.Usage, errors.New("name the faults to lift by their numbers (stepback chaos list), or give --all"))
	}
	if c.Endpoint != "" {
		return c.at(ctx, std)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// Alone implements workspace.DirectoryVerb.
func (c *ChaosLift) Alone(context.Context, terminal.Streams) error { return noProcess(c.Data) }

// On implements workspace.DirectoryVerb.
func (c *ChaosLift) On(_ context.Context, std terminal.Streams, p *local.Platform) (err error) {
	var n int
	if c.All {
		n = p.Chaos.LiftAll()
	} else if n, err = p.Chaos.Lift(c.ID...); err != nil && n == 0 {
		return err
	}
	return errors.Join(err, c.print(std, n))
}

func (c *ChaosLift) print(std terminal.Streams, lifted int) error {
	if c.JSON {
		return terminal.PrintJSON(std.Out, map[string]int{"lifted": lifted})
	}
	_, err := fmt.Fprintf(std.Out, "lifted: %d\n", lifted)
	return err
}

// printFaults prints faults as a table or as JSON.
func printFaults(std terminal.Streams, faults []chaos.Fault, asJSON bool) error {
	if asJSON {
		return terminal.PrintJSON(std.Out, faults)
	}
	if len(faults) == 0 {
		_, err := fmt.Fprintln(std.Out, "no active faults")
		return err
	}
	const gap = 2
	w := tabwriter.NewWriter(std.Out, 0, 0, gap, ' ', 0)
	fmt.Fprintln(w, "ID\tFAULT\tUNTIL\tFAILED\tSEED")
	for _, f := range faults {
		until := "lifted"
		if f.Until != nil {
			until = f.Until.Local().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%d of %d\t%d\n", f.ID, strings.TrimSpace(f.Fault), until, f.Injected, f.Requests, f.Seed)
	}
	return w.Flush()
}
