// Command stepback runs state machines and their retries on this machine. It imports CSV files of user activity
// through the same state machine and the same Lambda functions that run on AWS, shows what was retried and why, and
// explains the retry table.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"stepback/cmd/stepback/agents"
	"stepback/cmd/stepback/authoring"
	"stepback/cmd/stepback/data"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/imports"
	"stepback/cmd/stepback/letters"
	"stepback/cmd/stepback/operate"
	"stepback/cmd/stepback/retries"
	"stepback/cmd/stepback/serve"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/internal/gcpace"
)

type commandLine struct {
	Exec      authoring.Exec      `cmd:"" group:"Run state machines" help:"Run an execution of a state machine definition and show what it does."`
	Services  serve.Services      `cmd:"" group:"Run state machines" help:"List the AWS services of stepback serve, with the operations that they support."`
	Serve     serve.Serve         `cmd:"" group:"Run state machines" help:"Serve the APIs of AWS Step Functions, Lambda, S3, SQS, DynamoDB, CloudFormation and more on this machine."`
	Test      authoring.Test      `cmd:"" group:"Run state machines" help:"Run the tests of state machines: *.test.yaml beside definitions, in virtual time."`
	Chaos     serve.Chaos         `cmd:"" group:"Run state machines" help:"Inject faults into a running serve: throttling, errors, latency, partial batch failures."`
	Record    authoring.Record    `cmd:"" group:"Run state machines" help:"Write a test from a real execution."`
	TestState authoring.TestState `cmd:"" group:"Run state machines" help:"Run a single state of a machine, with mocks, as the TestState API does."`
	Init      authoring.Init      `cmd:"" group:"Run state machines" help:"Write an example: a state machine with its test."`

	Executions      operate.Executions      `cmd:"" group:"Inspect and control executions" help:"List executions by machine, status, error or time, or those waiting for a retry."`
	Describe        operate.Describe        `cmd:"" group:"Inspect and control executions" help:"Show an execution's progress: attempts, waits, the next attempt, and when it gives up."`
	History         operate.History         `cmd:"" group:"Inspect and control executions" help:"Print an execution's events."`
	Logs            operate.Logs            `cmd:"" group:"Inspect and control executions" help:"Print the log of a Lambda function of serve, or of run --lambda process."`
	Inbox           operate.Inbox           `cmd:"" group:"Inspect and control executions" help:"Read the mails that SNS would have sent."`
	Machines        operate.Machines        `cmd:"" group:"Inspect and control executions" help:"List state machines."`
	MapRuns         operate.MapRuns         `cmd:"" group:"Inspect and control executions" name:"mapruns" help:"List the Map Runs of an execution."`
	Activities      operate.Activities      `cmd:"" group:"Inspect and control executions" help:"List activities."`
	Alarms          operate.Alarms          `cmd:"" group:"Inspect and control executions" help:"List alarms by state, or show one with its history and the results of its actions."`
	Start           operate.Start           `cmd:"" group:"Inspect and control executions" help:"Start an execution of a deployed state machine."`
	Stop            operate.Stop            `cmd:"" group:"Inspect and control executions" help:"Stop executions."`
	Redrive         operate.Redrive         `cmd:"" group:"Inspect and control executions" help:"Resume failed executions at the states that failed."`
	SendTaskSuccess operate.SendTaskSuccess `cmd:"" group:"Inspect and control executions" help:"Report success to a task that waits for its token."`
	SendTaskFailure operate.SendTaskFailure `cmd:"" group:"Inspect and control executions" help:"Report failure to a task that waits for its token."`

	Validate   authoring.Validate   `cmd:"" group:"Definitions and their retries" help:"Check state machine definitions as AWS Step Functions would."`
	Definition authoring.Definition `cmd:"" group:"Definitions and their retries" help:"Print a definition: of the CSV import, a template, or a deployed state machine."`
	Graph      operate.Graph        `cmd:"" group:"Definitions and their retries" help:"Draw a state machine, or the path of an execution through it."`
	Retries    retries.Retries      `cmd:"" group:"Definitions and their retries" help:"Show and explain the retry table."`
	Lab        retries.Lab          `cmd:"" group:"Definitions and their retries" help:"Simulate retries: scenarios, policies, charts."`
	Jitter     retries.Jitter       `cmd:"" group:"Definitions and their retries" help:"Compare jitter strategies for competing clients."`
	Scenario   imports.Scenario     `cmd:"" group:"Definitions and their retries" help:"Rehearse failures: run the real import in virtual time while a component fails."`
	Adapt      retries.Adapt        `cmd:"" group:"Definitions and their retries" help:"Adapt a state machine's retries to measurements."`
	Predict    retries.Predict      `cmd:"" group:"Definitions and their retries" help:"Estimate the chance that a retry succeeds."`
	Cost       retries.Cost         `cmd:"" group:"Definitions and their retries" help:"Compute what runs cost on AWS, and how much retries add."`

	Run       imports.Run       `cmd:"" group:"The CSV import" help:"Import a CSV file of user activity through the state machine."`
	Export    imports.Export    `cmd:"" group:"The CSV import" help:"Export the contents of the database."`
	Sample    imports.Sample    `cmd:"" group:"The CSV import" help:"Write a CSV file of made-up user activity."`
	Dashboard retries.Dashboard `cmd:"" group:"The CSV import" help:"Draw dashboards: those that were deployed, and the retry dashboard of runs."`

	Relay       letters.Relay       `cmd:"" group:"Outbox and dead letters" help:"Send the messages of an application's outbox."`
	DeadLetters letters.DeadLetters `cmd:"" group:"Outbox and dead letters" name:"deadletters" help:"Inspect, redrive and discard dead letters."`

	Data       data.Data     `cmd:"" group:"This program and its data" help:"Check, compact, repair or export the journal of a data directory."`
	Completion completionCmd `cmd:"" group:"This program and its data" help:"Print a completion script for bash, zsh or fish."`
	Names      namesCmd      `cmd:"" group:"This program and its data" hidden:"" help:"Print names for completion."`

	MCP agents.MCP `cmd:"" group:"This program and its data" name:"mcp" help:"Serve the Model Context Protocol, by which coding agents use this program."`

	Version kong.VersionFlag `help:"Print the version, the commit and the Go version of the build."`
}

const description = `Retries in workflows: a Step Functions-style engine and retry toolkit.

Exit status: 0 success; 1 failure; 2 wrong usage; 3 the input needs a person's attention (a refused definition, findings, rejected
or dead-lettered rows); 4 timed out; 5 aborted; 130 stopped by Ctrl-C.`

func main() {
	gcpace.Default.Keep()
	workspace.Register(released, travelling)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	code := execute(ctx, os.Args[1:], terminal.NewStreams(os.Stdin, os.Stdout, os.Stderr))
	stop()
	os.Exit(code)
}

// runner is implemented by every verb.
type runner interface {
	Run(ctx context.Context, std terminal.Streams) error
}

// parserOf returns kong's parser of command lines, which reads them into cli.
func parserOf(cli *commandLine, options ...kong.Option) (*kong.Kong, error) {
	return kong.New(cli, append([]kong.Option{kong.Name("stepback"), kong.Description(description)}, options...)...)
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, args []string, io terminal.Streams) int {
	exited := -1
	io.Interrupted = ctx.Done()
	help := io.Out
	out := &terminal.Checked{Writer: io.Out, ShownOn: io.OutScreen()}
	io.Out = out
	if io.OutWidth == 0 {
		help = out // kong asks only an *os.File how wide its terminal is
	}
	cli := new(commandLine)
	cli.MCP.Execute, cli.MCP.Version = execute, versionLine()
	parser, err := parserOf(cli,
		kong.Writers(help, io.Err), kong.Exit(func(code int) { exited = code }),
		kong.Vars{"version": versionLine()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: helpWidth(io)}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(io),
	)
	if err != nil {
		return terminal.Report(io, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	args = helpAndVersionFlags(args)
	command, err := parser.Parse(args)
	switch {
	case out.Err != nil:
		return terminal.Report(io, out.Err)
	case exited >= 0: // help or the version was printed
		return exited
	case err != nil:
		return misused(io, parser, args, err)
	}
	if err = command.Run(); err == nil {
		err = out.Err
	}
	return terminal.Report(io, err)
}

// misused reports what is wrong with a command line and returns the exit code.
func misused(io terminal.Streams, parser *kong.Kong, args []string, err error) int {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context.Selected() != nil {
		parser.Stdout = io.Err
		_ = parse.Context.PrintUsage(true)
	} else {
		fmt.Fprintln(io.Err, "Usage: stepback <command>; stepback --help lists the commands")
	}
	said := terminal.Words(err)
	if before, after, ok := strings.Cut(said, " (short flag); perhaps try "); ok {
		said = before + ", which begins with a dash: write " + strings.TrimSuffix(after, "?")
	}
	if h := hint(args); h != "" {
		said, _, _ = strings.Cut(said, ", did you mean ")
		said += "; " + h
	}
	fmt.Fprintf(io.Err, "stepback: %s\n", said)
	return exit.Usage
}

// helpWidth returns the largest width of help: the terminal's, at most 110 columns, or 80 without a terminal.
func helpWidth(io terminal.Streams) int {
	const widest, page = 110, 80
	if io.OutWidth > 0 {
		return min(io.OutWidth, widest)
	}
	return page
}
