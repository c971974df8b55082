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

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/internal/gcpace"
)

type commandLine struct {
	Exec      execCmd      `cmd:"" group:"Run state machines" help:"Run an execution of a state machine definition and show what it does."`
	Services  servicesCmd  `cmd:"" group:"Run state machines" help:"List the AWS services of stepback serve, with the operations that they support."`
	Serve     serveCmd     `cmd:"" group:"Run state machines" help:"Serve the APIs of AWS Step Functions, Lambda, S3, SQS, DynamoDB, CloudFormation and more on this machine."`
	Test      testCmd      `cmd:"" group:"Run state machines" help:"Run the tests of state machines: *.test.yaml beside definitions, in virtual time."`
	Chaos     chaosCmd     `cmd:"" group:"Run state machines" help:"Inject faults into a running serve: throttling, errors, latency, partial batch failures."`
	Record    recordCmd    `cmd:"" group:"Run state machines" help:"Write a test from a real execution."`
	TestState testStateCmd `cmd:"" group:"Run state machines" help:"Run a single state of a machine, with mocks, as the TestState API does."`
	Init      initCmd      `cmd:"" group:"Run state machines" help:"Write an example: a state machine with its test."`

	Executions      executionsCmd      `cmd:"" group:"Inspect and control executions" help:"List executions by machine, status, error or time, or those waiting for a retry."`
	Describe        describeCmd        `cmd:"" group:"Inspect and control executions" help:"Show an execution's progress: attempts, waits, the next attempt, and when it gives up."`
	History         historyCmd         `cmd:"" group:"Inspect and control executions" help:"Print an execution's events."`
	Logs            logsCmd            `cmd:"" group:"Inspect and control executions" help:"Print the log of a Lambda function of serve, or of run --lambda process."`
	Inbox           inboxCmd           `cmd:"" group:"Inspect and control executions" help:"Read the mails that SNS would have sent."`
	Machines        machinesCmd        `cmd:"" group:"Inspect and control executions" help:"List state machines."`
	MapRuns         mapRunsCmd         `cmd:"" group:"Inspect and control executions" name:"mapruns" help:"List the Map Runs of an execution."`
	Activities      activitiesCmd      `cmd:"" group:"Inspect and control executions" help:"List activities."`
	Start           startCmd           `cmd:"" group:"Inspect and control executions" help:"Start an execution of a deployed state machine."`
	Stop            stopCmd            `cmd:"" group:"Inspect and control executions" help:"Stop executions."`
	Redrive         redriveCmd         `cmd:"" group:"Inspect and control executions" help:"Resume failed executions at the states that failed."`
	SendTaskSuccess sendTaskSuccessCmd `cmd:"" group:"Inspect and control executions" help:"Report success to a task that waits for its token."`
	SendTaskFailure sendTaskFailureCmd `cmd:"" group:"Inspect and control executions" help:"Report failure to a task that waits for its token."`

	Validate   validateCmd   `cmd:"" group:"Definitions and their retries" help:"Check state machine definitions as AWS Step Functions would."`
	Definition definitionCmd `cmd:"" group:"Definitions and their retries" help:"Print a definition: of the CSV import, a template, or a deployed state machine."`
	Graph      graphCmd      `cmd:"" group:"Definitions and their retries" help:"Draw a state machine, or the path of an execution through it."`
	Retries    retriesCmd    `cmd:"" group:"Definitions and their retries" help:"Show and explain the retry table."`
	Lab        labCmd        `cmd:"" group:"Definitions and their retries" help:"Simulate retries: scenarios, policies, charts."`
	Jitter     jitterCmd     `cmd:"" group:"Definitions and their retries" help:"Compare jitter strategies for competing clients."`
	Scenario   scenarioCmd   `cmd:"" group:"Definitions and their retries" help:"Rehearse failures: run the real import in virtual time while a component fails."`
	Adapt      adaptCmd      `cmd:"" group:"Definitions and their retries" help:"Adapt a state machine's retries to measurements."`
	Predict    predictCmd    `cmd:"" group:"Definitions and their retries" help:"Estimate the chance that a retry succeeds."`
	Cost       costCmd       `cmd:"" group:"Definitions and their retries" help:"Compute what runs cost on AWS, and how much retries add."`

	Run       runCmd       `cmd:"" group:"The CSV import" help:"Import a CSV file of user activity through the state machine."`
	Export    exportCmd    `cmd:"" group:"The CSV import" help:"Export the contents of the database."`
	Sample    sampleCmd    `cmd:"" group:"The CSV import" help:"Write a CSV file of made-up user activity."`
	Dashboard dashboardCmd `cmd:"" group:"The CSV import" help:"Draw the retry dashboard of runs."`

	Relay       relayCmd       `cmd:"" group:"Outbox and dead letters" help:"Send the messages of an application's outbox."`
	DeadLetters deadlettersCmd `cmd:"" group:"Outbox and dead letters" name:"deadletters" help:"Inspect, redrive and discard dead letters."`

	Data       dataCmd       `cmd:"" group:"This program and its data" help:"Check, compact, repair or export the journal of a data directory."`
	Completion completionCmd `cmd:"" group:"This program and its data" help:"Print a completion script for bash, zsh or fish."`
	Names      namesCmd      `cmd:"" group:"This program and its data" hidden:"" help:"Print names for completion."`

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
	parser, err := parserOf(new(commandLine),
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
	args = verbs(args)
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
