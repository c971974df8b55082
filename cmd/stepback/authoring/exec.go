package authoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stepback/asl"
	"stepback/aws"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/narration"
	"stepback/cmd/stepback/rerun"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/engine/history"
	"stepback/engine/journal"
)

// Exec implements the verb exec.
type Exec struct {
	File        string        `arg:"" help:"State machine definition (Amazon States Language in JSON or YAML); - for standard input."`
	Input       string        `default:"{}" placeholder:"JSON|@FILE|-" help:"Input of the execution: JSON, a file, or standard input. Default {}."`
	Name        string        `placeholder:"NAME" help:"Name of the execution. Default: a random one."`
	Machine     string        `placeholder:"NAME" help:"Name of the state machine, for its ARN and for --mock. Default: the file's name without .asl.json."`
	Nested      []string      `sep:"none" placeholder:"NAME=FILE" help:"Another state machine, which tasks can start (repeatable)."`
	Express     bool          `help:"Run as a state machine of type EXPRESS."`
	Lambda      []string      `sep:"none" placeholder:"NAME=COMMAND|URL|BOOTSTRAP" help:"Implementation of a function (repeatable): a command, a URL to post to, or a bootstrap binary, its directory or zip file."`
	Mock        string        `env:"SFN_MOCK_CONFIG" placeholder:"FILE" help:"Mock configuration of Step Functions Local."`
	TestCase    string        `placeholder:"NAME" help:"Test case of the mock configuration."`
	VirtualTime bool          `help:"Skip waits; timestamps advance as if the waits had taken place."`
	Patience    time.Duration `placeholder:"DURATION" help:"With --virtual-time: how long a function may really take before it is considered hung and its state times out. Default: the state's TimeoutSeconds, at least 5s."`
	Timeout     time.Duration `placeholder:"DURATION" help:"Stop an execution that takes longer, in real time."`
	Data        string        `type:"path" placeholder:"DIR" help:"Data directory that provides serve's buckets and functions and stores the execution with its history. Default: a temporary one."`
	Watch       bool          `short:"w" help:"Run again whenever the definition, the input or the mocks change, until Ctrl-C."`
	JSON        bool          `name:"json" help:"Print the outcome with all events as JSON instead of a trace."`
	Quiet       bool          `short:"q" help:"Print no trace."`

	definitions.Substitutions
	workspace.EmbeddedServices
	workspace.Injection
}

// Help shows examples.
func (Exec) Help() string {
	return `Examples:
  stepback exec order.asl.json --input '{"order":17}'
  stepback exec order.asl.json --input @order.json --lambda reserve='python3 reserve.py' --virtual-time
  stepback exec order.asl.json --lambda charge=http://localhost:8080/charge --nested refund=refund.asl.json
  stepback exec order.asl.json --lambda reserve='python3 reserve.py' --fault Reserve:throttle:30% --virtual-time
  stepback exec order.asl.json --lambda reserve='python3 reserve.py' --virtual-time --watch
  stepback exec order.asl.json --data .stepback --name order-17 && stepback history order-17
  stepback exec order.asl.json --mock MockConfigFile.json --test-case Retried | jq .

The output goes to standard output, the trace to standard error. Ctrl-C stops the execution.

A command gets the payload on standard input and prints the result; when it fails, the error is the {"errorType","errorMessage"} that it
prints, or the last line "Name: message" of its standard error, or ExitStatusN.

Exit status: 0 SUCCEEDED; 1 FAILED; 2 wrong usage; 3 the definition is invalid; 4 TIMED_OUT, or stopped by --timeout; 5 ABORTED;
130 stopped by Ctrl-C.`
}

// errTimeout reports that an execution was stopped because it exceeded --timeout.
var errTimeout = errors.New("the execution took longer than --timeout")

// Run runs one execution and prints its result, repeatedly with --watch.
func (c *Exec) Run(ctx context.Context, std terminal.Streams) error {
	std.Err = &terminal.OneAtATime{W: std.Err}
	if !c.Watch {
		return c.once(ctx, std)
	}
	if c.File == "-" || c.Name != "" {
		return exit.With(exit.Usage, errors.New("--watch needs a file to watch, and cannot be combined with --name"))
	}
	return rerun.OnChange(ctx, std.Err, c.files, func() error { return c.once(ctx, std) })
}

// files returns the files that an execution is made of.
func (c *Exec) files() []string {
	files := []string{c.File}
	for _, flag := range append([]string{c.Input}, c.Substitute...) {
		if path, isFile := strings.CutPrefix(flag, "@"); isFile {
			files = append(files, path)
		}
	}
	if c.Mock != "" {
		files = append(files, c.Mock)
	}
	for _, flag := range c.Nested {
		if _, path, ok := strings.Cut(flag, "="); ok {
			files = append(files, path)
		}
	}
	return files
}

func (c *Exec) once(ctx context.Context, std terminal.Streams) error {
	o, err := c.order(std)
	if err != nil {
		return err
	}
	stage, err := c.stage(ctx, o, std)
	if err != nil {
		return err
	}
	x, events, err := c.perform(ctx, stage, o)
	err = errors.Join(err, stage.close(ctx))
	if x == nil || err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errTimeout) {
		return err
	}
	if err := c.print(std, x, events); err != nil {
		return err
	}
	return verdict(x, err)
}

// verdict returns the error with which the command exits after it has printed an execution. err, if not nil, is the
// reason why the execution was stopped.
func verdict(x *journal.Execution, err error) error {
	switch {
	case x.Status == history.Succeeded:
		return nil
	case errors.Is(err, errTimeout), x.Status == history.TimedOut:
		return exit.With(exit.TimedOut, nil)
	case errors.Is(err, context.Canceled):
		return exit.With(exit.Stopped, nil)
	case x.Status == history.Aborted:
		return exit.With(exit.Aborted, nil)
	default:
		return exit.With(exit.Failure, nil)
	}
}

// order describes an execution to run: its definitions and input, read and checked.
type order struct {
	main   definitions.File
	nested []definitions.File
	input  string
	name   string
}

// order reads and checks the definitions and the input.
func (c *Exec) order(std terminal.Streams) (*order, error) {
	if c.Patience < 0 {
		return nil, exit.With(exit.Usage, fmt.Errorf("--patience %s is not a positive duration", c.Patience))
	}
	if c.File == "-" && c.Input == "-" {
		return nil, exit.With(exit.Usage,
			errors.New("the definition and the input cannot both be read from standard input"))
	}
	if c.TestCase != "" && c.Mock == "" {
		return nil, exit.With(exit.Usage, errors.New("--test-case needs --mock"))
	}
	o := &order{name: c.Name}
	if o.name == "" {
		o.name = aws.NewID()
	}
	values, err := c.Values()
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if o.main, err = definitions.Read(c.Machine, c.File, values, std); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if o.nested, err = definitions.Nested(c.Nested, values, std); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if err := c.Unknown(append(o.nested, o.main)...); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if o.input, err = definitions.ReadInput(c.Input, std); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return o, o.check(std, c.Express)
}

// states returns the names of the Task states of all definitions, into which faults can be injected.
func (o *order) states() []string {
	var names []string
	for _, d := range append([]definitions.File{o.main}, o.nested...) {
		names = append(names, d.Tasks()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// check prints the problems of the definitions, and returns an error if one of them cannot run.
func (o *order) check(std terminal.Streams, express bool) error {
	refused, lacking := false, error(nil)
	for i, d := range append([]definitions.File{o.main}, o.nested...) {
		found := d.Diagnose(express && i == 0)
		fmt.Fprint(std.Err, d.Render(found))
		if asl.HasErrors(found) {
			refused = true
		} else {
			lacking = errors.Join(lacking, d.Lacks(express && i == 0))
		}
	}
	switch {
	case refused:
		return exit.With(exit.Data, nil)
	case lacking != nil:
		return exit.With(exit.Usage, lacking)
	default:
		return nil
	}
}

// print prints the output, or with --json everything known about the execution.
func (c *Exec) print(std terminal.Streams, x *journal.Execution, events []history.Event) error {
	if !c.JSON {
		if x.Status == history.Succeeded {
			_, err := fmt.Fprintln(std.Out, x.Output)
			return err
		}
		if c.Quiet { // otherwise the trace has printed it
			fmt.Fprintf(std.Err, "%s%s\n", x.Status, narration.Failure(x.Failure))
		}
		return nil
	}
	head, err := json.Marshal(narration.DescribeExecution(x))
	if err != nil {
		return err
	}
	head = append(head[:len(head)-1], `,"events":`...) // before the closing brace
	_, err = std.Out.Write(append(narration.AppendEvents(head, events, "\n  "), "}\n"...))
	return err
}
