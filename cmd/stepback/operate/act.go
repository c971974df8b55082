package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/durable"
	"stepback/engine/history"
)

// Start implements the verb start.
type Start struct {
	Machine string `arg:"" help:"Name or ARN of the state machine."`
	Input   string `default:"{}" placeholder:"JSON|@FILE|-" help:"Input: JSON, a file, or standard input. Default {}."`
	Name    string `placeholder:"NAME" help:"Name of the execution. Default: a random one."`
	Wait    bool   `help:"Wait until the execution ends and print its output. Exit status as for exec."`
	JSON    bool   `name:"json" help:"Print JSON."`
	workspace.Where
}

// Help shows examples.
func (Start) Help() string {
	return `Examples:
  stepback start orders --input @order.json
  stepback start orders --input '{"id": 17}' --name order-17 --wait
  stepback start orders --endpoint http://localhost:4566`
}

// Run starts an execution.
func (c *Start) Run(ctx context.Context, std terminal.Streams) error {
	input, err := definitions.ReadInput(c.Input, std)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	return c.Use(ctx, true, func(x *executions.Client) error {
		arn, err := x.Start(ctx, c.Machine, c.Name, input)
		if err != nil {
			return err
		}
		if !c.Wait {
			if c.JSON {
				return terminal.PrintJSON(std.Out, map[string]string{"executionArn": arn, "name": executions.NameIn(arn)})
			}
			_, err := fmt.Fprintln(std.Out, arn)
			return err
		}
		ended, err := x.Await(ctx, arn)
		if err != nil {
			return err
		}
		switch {
		case c.JSON:
			err = terminal.PrintJSON(std.Out, ended)
		case ended.Status == history.Succeeded:
			_, err = fmt.Fprintln(std.Out, ended.Output)
		default:
			fmt.Fprintf(std.Err, "%s%s\n", std.ErrScreen().Status(string(ended.Status)), narration.Failure(ended.Failure()))
		}
		return errors.Join(err, statusCode(ended.Status))
	})
}

// statusCode returns the exit error for an execution's final status; nil for a success.
func statusCode(s history.Status) error {
	switch s {
	case history.Succeeded:
		return nil
	case history.TimedOut:
		return exit.With(exit.TimedOut, nil)
	case history.Aborted:
		return exit.With(exit.Aborted, nil)
	default:
		return exit.With(exit.Failure, nil)
	}
}

// acted is the result of stopping or redriving one execution.
type acted struct {
	ARN    string `json:"executionArn"`
	Done   bool   `json:"done"`
	Reason string `json:"reason,omitempty"`
}

// several selects the executions that a verb stops or redrives.
type several struct {
	Executions []string `arg:"" optional:"" help:"Names or ARNs. Without any, the flags select executions."`
	DryRun     bool     `help:"Only print which executions would be affected."`
	JSON       bool     `name:"json" help:"Print one JSON object per execution and line."`
	selection
	workspace.Where
}

// each performs do on every chosen execution and prints each result. It returns an error if do failed for any of
// them. An execution that refuse, if not nil, returns an error for is not passed to do, and counts as failed.
func (s *several) each(ctx context.Context, std terminal.Streams, what string, fits func(*executions.Execution) bool,
	refuse func(*executions.Execution) error, do func(*executions.Client, string) error) error {
	if len(s.Executions) == 0 && s.selection == (selection{}) {
		return exit.With(exit.Usage, errors.New("name executions, or select some: --machine, --status, --error, --since"))
	}
	f, err := s.filter(0)
	if err != nil {
		return err
	}
	return s.Use(ctx, !s.DryRun, func(c *executions.Client) error {
		chosen, err := s.chosen(ctx, c, f, fits)
		if err != nil {
			return err
		}
		failed := 0
		for _, x := range chosen {
			a := acted{ARN: x.ARN}
			var err error
			if refuse != nil {
				err = refuse(&x)
			}
			if err == nil && !s.DryRun {
				err = do(c, x.ARN)
				a.Done = err == nil
			}
			if err != nil {
				a.Reason = err.Error()
				failed++
			}
			if err := s.say(std, what, &a); err != nil {
				return err
			}
		}
		if !s.JSON {
			fmt.Fprintf(std.Err, "%s: %d of %d\n", s.verb(what), len(chosen)-failed, len(chosen))
		}
		if failed > 0 {
			return exit.With(exit.Failure, nil)
		}
		return nil
	})
}

func (s *several) verb(what string) string {
	if s.DryRun {
		return "would be " + what
	}
	return what
}

// chosen returns the executions to act on. It reads all of them before an action changes the first one.
func (s *several) chosen(ctx context.Context, c *executions.Client, f executions.Filter,
	fits func(*executions.Execution) bool) ([]executions.Execution, error) {
	var chosen []executions.Execution
	for _, name := range s.Executions {
		x, err := c.Find(ctx, name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, *x)
	}
	if len(s.Executions) > 0 {
		return chosen, nil
	}
	c.Looks = math.MaxInt // an action on all matches must wait for all of them
	err := c.List(ctx, f, func(x *executions.Execution) error {
		if fits(x) {
			chosen = append(chosen, *x)
		}
		return nil
	})
	return chosen, err
}

func (s *several) say(std terminal.Streams, what string, a *acted) error {
	if s.JSON {
		return json.NewEncoder(std.Out).Encode(a)
	}
	text := s.verb(what)
	if a.Reason != "" {
		text = "not " + what + ": " + a.Reason
	}
	_, err := fmt.Fprintf(std.Out, "%s  %s\n", a.ARN, text)
	return err
}

// Stop implements the verb stop.
type Stop struct {
	several
	Reason string `placeholder:"NAME" help:"Error to record for the stopped executions."`
	Cause  string `placeholder:"TEXT" help:"Cause to record for the stopped executions."`
}

// Help shows examples.
func (Stop) Help() string {
	return `Examples:
  stepback stop order-17 --cause "wrong price"
  stepback stop --machine orders --retrying --error CardServiceBusy --dry-run`
}

// Run stops running executions.
func (c *Stop) Run(ctx context.Context, std terminal.Streams) error {
	return c.each(ctx, std, "stopped", func(x *executions.Execution) bool { return !x.Ended() },
		func(x *executions.Execution) error { // StopExecution would accept it
			if x.Ended() {
				return fmt.Errorf("it has ended: %s", x.Status)
			}
			return nil
		},
		func(x *executions.Client, arn string) error {
			if durable.IsARN(arn) {
				return x.StopDurable(ctx, arn, c.Reason, c.Cause)
			}
			return x.Stop(ctx, arn, c.Reason, c.Cause)
		})
}

// SendTaskSuccess implements the verb send-task-success.
type SendTaskSuccess struct {
	Token  string `arg:"" help:"Task token."`
	Output string `default:"{}" placeholder:"JSON|@FILE|-" help:"Result of the task. Default {}."`
	JSON   bool   `name:"json" help:"Print JSON."`
	workspace.Where
}

// Help shows an example.
func (SendTaskSuccess) Help() string {
	return "Example:\n  stepback send-task-success \"$TOKEN\" --output '{\"approved\": true}'"
}

// Run sends the report.
func (c *SendTaskSuccess) Run(ctx context.Context, std terminal.Streams) error {
	output, err := definitions.ReadInput(c.Output, std)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	return c.Use(ctx, true, func(x *executions.Client) error {
		return reported(std, c.JSON, x.SendTaskSuccess(ctx, c.Token, output))
	})
}

// SendTaskFailure implements the verb send-task-failure.
type SendTaskFailure struct {
	Token string `arg:"" help:"Task token."`
	Error string `placeholder:"NAME" help:"Error name for retriers and catchers to match."`
	Cause string `placeholder:"TEXT" help:"Cause."`
	JSON  bool   `name:"json" help:"Print JSON."`
	workspace.Where
}

// Help shows an example.
func (SendTaskFailure) Help() string {
	return "Example:\n  stepback send-task-failure \"$TOKEN\" --error Rejected --cause 'over budget'"
}

// Run sends the report.
func (c *SendTaskFailure) Run(ctx context.Context, std terminal.Streams) error {
	return c.Use(ctx, true, func(x *executions.Client) error {
		return reported(std, c.JSON, x.SendTaskFailure(ctx, c.Token, c.Error, c.Cause))
	})
}

// reported prints that a report was accepted.
func reported(std terminal.Streams, asJSON bool, err error) error {
	switch {
	case err != nil:
		return err
	case asJSON:
		return terminal.PrintJSON(std.Out, map[string]bool{"reported": true})
	default:
		fmt.Fprintln(std.Err, "reported")
		return nil
	}
}
