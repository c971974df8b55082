package retries

import (
	"context"
	"fmt"
	"time"

	"stepback/adaptive/lab/chart"
	"stepback/adaptive/lab/contention"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// Jitter implements the verb jitter.
type Jitter struct {
	Clients []int         `default:"10,50,100,190" placeholder:"N" help:"Numbers of competing clients to compare. Default 10,50,100,190."`
	Trials  int           `default:"100" placeholder:"N" help:"Number of trials to average. Default 100."`
	Base    time.Duration `default:"5ms" placeholder:"DURATION" help:"Base wait. Default 5ms."`
	Cap     time.Duration `default:"2s" placeholder:"DURATION" help:"Longest wait before jitter. Default 2s."`
	Seed    uint64        `default:"1" help:"Seed. Default 1."`
	Output  string        `short:"o" type:"path" placeholder:"FILE" help:"Also draw the comparison into this file: .svg or .png."`
	JSON    bool          `name:"json" help:"Print the comparison as JSON."`
}

// Help shows examples.
func (Jitter) Help() string {
	return `Examples:
  stepback jitter
  stepback jitter --clients 20,40,80 -o jitter.svg

The model is the one of the AWS article "Exponential Backoff And Jitter": clients update one row under optimistic
concurrency control, over a network with a delay of 10 ms. A client that loses the race retries after a wait.`
}

// Run compares the jitters and prints the result.
func (c *Jitter) Run(_ context.Context, std terminal.Streams) error {
	if c.Output != "" {
		if _, err := chart.Format(c.Output); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	rows, err := contention.Table(contention.Options{Trials: c.Trials, Base: c.Base, Cap: c.Cap, Seed: c.Seed},
		c.Clients)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if c.Output != "" {
		if err := chart.Jitter(rows).WriteFile(c.Output); err != nil {
			return err
		}
		fmt.Fprintln(std.Err, c.Output)
	}
	if c.JSON {
		return contention.WriteJSON(std.Out, rows)
	}
	return contention.WriteTable(std.Out, rows)
}
