package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/asl"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/timeline"
	"stepback/local"
)

// Describe implements the verb describe.
type Describe struct {
	Execution string `arg:"" help:"Name or ARN of the execution."`
	JSON      bool   `name:"json" help:"Print its description, current activity, visits, attempts and waits as JSON."`
	workspace.Where
}

// Help shows examples.
func (Describe) Help() string {
	return `Examples:
  stepback describe order-17
  stepback describe order-17 --endpoint http://localhost:4566 --json

Shows the progress of a running execution (current attempt, time of the next one, when it gives up) and, for each state, how often
it was entered, attempted and failed, and how long it waited. Of a durable Lambda function's execution (an ARN from
stepback executions --durable), it shows the operations with their attempts, waits and callbacks.`
}

// Run describes an execution.
func (c *Describe) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.Check(); err != nil {
		return err
	}
	if durable.IsARN(c.Execution) {
		return c.durable(ctx, std)
	}
	if c.Remote() {
		return c.Alone(ctx, std)
	}
	return workspace.OnDirectory(ctx, std, c.Data, c)
}

// Alone implements workspace.DirectoryVerb.
func (c *Describe) Alone(ctx context.Context, std terminal.Streams) error {
	return c.Use(ctx, false, func(x *executions.Client) error { return c.describe(ctx, std, x, nil) })
}

// On describes an execution with the times of the next attempts, which the API does not provide.
func (c *Describe) On(ctx context.Context, std terminal.Streams, p *local.Platform) error {
	e, err := p.Engine()
	if err != nil {
		return err
	}
	cfg := c.Signed(p.Endpoint)
	return workspace.UseConfig(ctx, *cfg, 0, func(x *executions.Client) error {
		return c.describe(ctx, std, x, e.Pending)
	})
}

// described is the JSON form of a description, for scripts.
type described struct {
	*executions.Execution
	Now    []timeline.Now   `json:"now"`
	Took   float64          `json:"tookSeconds"`
	States []describedState `json:"states"`
}

// describedState summarizes the visits of a state.
type describedState struct {
	State    string  `json:"state"`
	Type     string  `json:"type"`
	Visits   int     `json:"visits"`
	Attempts int     `json:"attempts"`
	Failed   int     `json:"failedAttempts"`
	Waited   float64 `json:"waitedSeconds"`
	Outcome  string  `json:"outcome"`
	Error    string  `json:"latestError,omitempty"`
}

func (c *Describe) describe(ctx context.Context, std terminal.Streams, x *executions.Client,
	pending func(context.Context, string) ([]history.Pending, error)) error {
	found, err := x.Find(ctx, c.Execution)
	if err != nil {
		return err
	}
	events, err := x.History(ctx, found.ARN)
	if err != nil {
		return err
	}
	var m *asl.Machine
	if definition, err := x.DefinitionOf(ctx, found.ARN); err == nil {
		m, _ = asl.Parse(definition)
	}
	var waits []history.Pending
	if pending != nil && !found.Ended() {
		if waits, err = pending(ctx, found.ARN); err != nil {
			return err
		}
	}
	t := timeline.Read(events)
	now := time.Now()
	d := described{Execution: found, Now: append([]timeline.Now{}, t.Now(m, waits)...), Took: t.Took(now).Seconds(),
		States: statesOf(t)}
	if c.JSON {
		return terminal.PrintJSON(std.Out, d)
	}
	c.print(std, &d, now)
	return nil
}

// statesOf summarizes the visits by state, in the order in which the states were first entered.
func statesOf(t *timeline.Timeline) []describedState {
	all, at := []describedState{}, map[string]int{}
	for _, v := range t.Visits {
		i, ok := at[v.State]
		if !ok {
			i = len(all)
			at[v.State] = i
			all = append(all, describedState{State: v.State, Type: v.Type})
		}
		s := &all[i]
		s.Visits++
		s.Outcome = string(v.Outcome)
		s.Attempts += len(v.Attempts)
		for k := range v.Attempts {
			a := &v.Attempts[k]
			if a.Outcome.Bad() {
				s.Failed++
				s.Error = a.Failure.Name
			}
		}
		for _, w := range v.Waits() {
			if !w.Until.IsZero() {
				s.Waited += w.Until.Sub(w.From).Seconds()
			}
		}
	}
	return all
}

// shownStates is the maximum number of states in the table.
const shownStates = 60

func (c *Describe) print(std terminal.Streams, d *described, now time.Time) {
	w, on := std.Out, terminal.ScreenOf(std.Out)
	fmt.Fprintln(w, d.ARN)
	ended := "under way"
	if d.Ended() {
		ended = "to " + d.Stop.Local().Format(time.DateTime)
	}
	fmt.Fprintf(w, "%s, %s %s, %s\n", on.Status(string(d.Status)), d.Start.Local().Format(time.DateTime), ended,
		timeline.Short(time.Duration(d.Took*float64(time.Second))))
	for _, n := range d.Now {
		fmt.Fprintln(w, "  "+n.Text(now))
	}
	if f := d.Failure(); !f.IsZero() {
		fmt.Fprintln(w, strings.TrimPrefix(narration.Failure(f), "\n"))
	}
	if d.RedriveStatus == "REDRIVABLE" {
		fmt.Fprintf(w, "  can be redriven: stepback redrive %s%s\n", d.Name, c.Flags())
	}
	fmt.Fprintln(w, on.Fit("  input:  "+terminal.ShortenedTo(d.Input, on.Data())))
	if d.Output != "" {
		fmt.Fprintln(w, on.Fit("  output: "+terminal.ShortenedTo(d.Output, on.Data())))
	}
	fmt.Fprintln(w)
	t := terminal.NewTable("state", "type", ">visits", ">attempts", ">failed", ">waited", "outcome", "latest error")
	for _, s := range d.States[:min(shownStates, len(d.States))] {
		attempts, failed := "", ""
		if s.Attempts > 0 {
			attempts, failed = terminal.Grouped(int64(s.Attempts)), terminal.Grouped(int64(s.Failed))
		}
		t.Add(s.State, s.Type, s.Visits, attempts, failed,
			terminal.Duration(time.Duration(s.Waited*float64(time.Second))), s.Outcome, s.Error)
	}
	t.Print(w, "  ")
	fmt.Fprintf(w, "\n  stepback history %s%s  every event\n", d.Name, c.Flags())
}

var errNoChildren = errors.New("--children and --row need a data directory; use stepback executions --map-run ARN for the child executions of an endpoint")
