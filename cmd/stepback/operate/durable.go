package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/durable"
	"stepback/engine/timeline"
)

var durableStatuses = []string{durable.Running, durable.Succeeded, durable.Failed, durable.TimedOut, durable.Stopped}

// durable lists executions of durable functions.
func (c *Executions) durable(ctx context.Context, std terminal.Streams) error {
	if c.Machine != "" || c.MapRun != "" {
		return exit.With(exit.Usage, errors.New("with --durable, select by --function, --status, --retrying, --error and --since"))
	}
	f := &executions.DurableFilter{Function: c.Function, Status: strings.ToUpper(c.Status), Retrying: c.Retrying,
		Error: c.Error, Limit: c.Limit}
	if f.Status != "" && !slices.Contains(durableStatuses, f.Status) {
		return exit.With(exit.Usage, fmt.Errorf("--status %s: give one of %s", c.Status, strings.Join(durableStatuses, ", ")))
	}
	if c.Since > 0 {
		f.Since = time.Now().Add(-time.Duration(c.Since))
	}
	lines, n := json.NewEncoder(std.Out), 0
	lines.SetEscapeHTML(false)
	t := terminal.NewTable("execution", "function", "status", "started", ">took", "what")
	return c.Use(ctx, true, func(x *executions.Client) error {
		err := x.ListDurable(ctx, f, func(d *executions.Durable) error {
			n++
			if c.JSON {
				return lines.Encode(d)
			}
			what, took := d.Retrying, ""
			if d.Error != nil && what == "" {
				what = textOf(d.Error.ErrorType)
			}
			if d.Ended() {
				took = terminal.Duration(d.Stop.Sub(d.Start.Time))
			}
			_, function, _ := strings.Cut(d.FunctionARN, ":function:")
			t.Add(d.ARN, function, d.Status, d.Start.Local().Format(time.DateTime), took, what)
			return nil
		})
		switch {
		case err != nil || c.JSON:
		case n == 0:
			fmt.Fprintln(std.Err, "no durable executions")
		default:
			t.Print(std.Out, "")
		}
		return err
	})
}

// durableDescription is the JSON form of the description of a durable execution.
type durableDescription struct {
	*executions.Durable
	Operations  []executions.DurableOperation `json:"operations"`
	Invocations timeline.Invocations          `json:"invocations"`
}

// durable describes an execution of a durable function.
func (c *Describe) durable(ctx context.Context, std terminal.Streams) error {
	return c.Use(ctx, true, func(x *executions.Client) error {
		found, err := x.DescribeDurable(ctx, c.Execution)
		if err != nil {
			return err
		}
		events, err := x.DurableHistory(ctx, c.Execution)
		if err != nil {
			return err
		}
		t := executions.DurableTimeline(events)
		d := durableDescription{found, executions.DurableOperations(t), t.Invocations}
		if c.JSON {
			return terminal.PrintJSON(std.Out, d)
		}
		d.print(std.Out, time.Now())
		return nil
	})
}

func (d *durableDescription) print(w io.Writer, now time.Time) {
	on := terminal.ScreenOf(w)
	ended := "under way"
	if d.Ended() {
		ended = "to " + d.Stop.Local().Format(time.DateTime)
	}
	fmt.Fprintf(w, "%s\n%s, %s %s\n", d.ARN, on.Status(d.Status), d.Start.Local().Format(time.DateTime), ended)
	if d.Error != nil {
		fmt.Fprintf(w, "  error: %s\n", strings.TrimSpace(textOf(d.Error.ErrorType)+" "+textOf(d.Error.ErrorMessage)))
	}
	if d.Input != nil {
		fmt.Fprintln(w, on.Fit("  input:  "+terminal.ShortenedTo(*d.Input, on.Data())))
	}
	if d.Result != nil {
		fmt.Fprintln(w, on.Fit("  result: "+terminal.ShortenedTo(*d.Result, on.Data())))
	}
	d.printFailedInvocations(w, now)
	fmt.Fprintln(w)
	t := terminal.NewTable("operation", "type", "status", ">attempts", "next", "latest error")
	for i := range d.Operations {
		o := &d.Operations[i]
		next, attempts := "", ""
		if !o.Next.IsZero() {
			next = executions.NextText(o.Next, now)
		}
		if o.Attempts > 0 {
			attempts = terminal.Grouped(o.Attempts)
		}
		t.Add(o.Name, o.Type, o.Status, attempts, next, o.Error)
	}
	t.Print(w, "  ")
	for i := range d.Operations {
		if o := &d.Operations[i]; o.Callback != "" && o.Status == durable.Started {
			fmt.Fprintf(w, "\n  waits for a callback: stepback callback succeed %s\n", o.Callback)
		}
	}
}

// printFailedInvocations prints which invocations failed, and why the last one did.
func (d *durableDescription) printFailedInvocations(w io.Writer, now time.Time) {
	i := &d.Invocations
	if i.Failed == 0 {
		return
	}
	fmt.Fprintf(w, "  %s\n", i.Text(now))
	if i.Failure.Cause != "" {
		fmt.Fprintf(w, "    %s\n", terminal.ShortenedTo(strings.Join(strings.Fields(i.Failure.Cause), " "), longestCause))
	}
	if !d.Ended() && i.InARow > 0 {
		fmt.Fprintln(w, "  Lambda invokes the function again until the execution times out; stepback retry-now does it at once")
	}
}

// longestCause is the number of characters of an error's message that a description shows.
const longestCause = 400

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// durable prints the events of an execution of a durable function.
func (c *History) durable(ctx context.Context, std terminal.Streams) error {
	if c.Children || c.Row != nil {
		return exit.With(exit.Usage, errors.New("a durable execution has no Map Runs: leave out --children and --row"))
	}
	return c.Use(ctx, true, func(x *executions.Client) error {
		show := func(e *executions.DurableEvent) error {
			if c.JSON {
				_, err := fmt.Fprintf(std.Out, "%s\n", e.Raw)
				return err
			}
			f := durable.FailureOf(&e.Event)
			line := fmt.Sprintf("%5d  %s  %-24s %s %s %s", e.ID, e.At().Local().Format("15:04:05.000"), durable.EventType(e.Type),
				e.Name, f.Name, f.Cause)
			_, err := fmt.Fprintln(std.Out, strings.TrimRight(line, " "))
			return err
		}
		if c.Follow {
			return x.FollowDurable(ctx, c.Execution, show)
		}
		events, err := x.DurableHistory(ctx, c.Execution)
		for i := range events {
			if err == nil {
				err = show(&events[i])
			}
		}
		return err
	})
}

// Callback completes callbacks of durable executions.
type Callback struct {
	Succeed   CallbackSucceed   `cmd:"" help:"Complete a callback with a result."`
	Fail      CallbackFail      `cmd:"" help:"Fail a callback."`
	Heartbeat CallbackHeartbeat `cmd:"" help:"Prolong the heartbeat timeout of a callback."`
}

// CallbackSucceed implements the verb callback succeed.
type CallbackSucceed struct {
	ID     string `arg:"" help:"ID of the callback, from stepback describe."`
	Result string `default:"" placeholder:"JSON|@FILE|-" help:"Result, as the function's SDK expects it. Default: none."`
	JSON   bool   `name:"json" help:"Print JSON."`
	workspace.Where
}

// Help shows an example.
func (CallbackSucceed) Help() string {
	return "Example:\n  stepback callback succeed \"$ID\" --result '{\"approved\": true}'"
}

// Run completes the callback.
func (c *CallbackSucceed) Run(ctx context.Context, std terminal.Streams) error {
	result := ""
	if c.Result != "" {
		var err error
		if result, err = definitions.ReadInput(c.Result, std); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	return c.Use(ctx, true, func(x *executions.Client) error {
		return reported(std, c.JSON, x.CallbackSuccess(ctx, c.ID, result))
	})
}

// CallbackFail implements the verb callback fail.
type CallbackFail struct {
	ID    string `arg:"" help:"ID of the callback, from stepback describe."`
	Error string `placeholder:"TYPE" help:"Error type."`
	Cause string `placeholder:"TEXT" help:"Error message."`
	JSON  bool   `name:"json" help:"Print JSON."`
	workspace.Where
}

// Help shows an example.
func (CallbackFail) Help() string {
	return "Example:\n  stepback callback fail \"$ID\" --error Rejected --cause 'over budget'"
}

// Run fails the callback.
func (c *CallbackFail) Run(ctx context.Context, std terminal.Streams) error {
	return c.Use(ctx, true, func(x *executions.Client) error {
		return reported(std, c.JSON, x.CallbackFailure(ctx, c.ID, c.Error, c.Cause, ""))
	})
}

// CallbackHeartbeat implements the verb callback heartbeat.
type CallbackHeartbeat struct {
	ID   string `arg:"" help:"ID of the callback, from stepback describe."`
	JSON bool   `name:"json" help:"Print JSON."`
	workspace.Where
}

// Help shows an example.
func (CallbackHeartbeat) Help() string { return "Example:\n  stepback callback heartbeat \"$ID\"" }

// Run sends the heartbeat.
func (c *CallbackHeartbeat) Run(ctx context.Context, std terminal.Streams) error {
	return c.Use(ctx, true, func(x *executions.Client) error {
		return reported(std, c.JSON, x.CallbackHeartbeat(ctx, c.ID))
	})
}
