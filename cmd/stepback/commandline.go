//go:build !checks

package main

import (
	"github.com/alecthomas/kong"

	"stepback/cmd/stepback/authoring"
	"stepback/cmd/stepback/buildinfo"
	"stepback/cmd/stepback/checks"
	"stepback/cmd/stepback/data"
	"stepback/cmd/stepback/imports"
	"stepback/cmd/stepback/letters"
	"stepback/cmd/stepback/operate"
	"stepback/cmd/stepback/retries"
	"stepback/cmd/stepback/serve"
	"stepback/cmd/stepback/workspace"
)

type commandLine struct {
	Exec      authoring.Exec      `cmd:"" group:"Run state machines" help:"Run an execution of a state machine definition and show what it does."`
	Services  serve.Services      `cmd:"" group:"Run state machines" help:"List the AWS services of stepback serve, with the operations that they support."`
	Serve     serve.Serve         `cmd:"" group:"Run state machines" help:"Serve the APIs of AWS Step Functions, Lambda, S3, SQS, DynamoDB, CloudFormation and more on this machine."`
	Test      checks.Test         `cmd:"" group:"Run state machines" help:"Run the tests of state machines and durable functions, *.test.yaml, in virtual time."`
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
	Hold            operate.Hold            `cmd:"" group:"Inspect and control executions" help:"Keep retries from beginning while their callee is down."`
	Release         operate.Release         `cmd:"" group:"Inspect and control executions" help:"Let held retries continue."`
	RetryNow        operate.RetryNow        `cmd:"" group:"Inspect and control executions" name:"retry-now" help:"Begin the retries that an execution waits for, without their delays."`
	Limit           operate.Limit           `cmd:"" group:"Inspect and control executions" help:"Limit how often tasks call a function or a service, while executions run."`
	SendTaskSuccess operate.SendTaskSuccess `cmd:"" group:"Inspect and control executions" help:"Report success to a task that waits for its token."`
	SendTaskFailure operate.SendTaskFailure `cmd:"" group:"Inspect and control executions" help:"Report failure to a task that waits for its token."`
	Callback        operate.Callback        `cmd:"" group:"Inspect and control executions" help:"Complete a callback of a durable Lambda function, or keep it alive."`

	Validate   checks.Validate      `cmd:"" group:"Definitions and their retries" help:"Check state machine definitions as AWS Step Functions would."`
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
	Man        manCmd        `cmd:"" group:"This program and its data" help:"Print the manual page: stepback man | man -l -"`
	Names      namesCmd      `cmd:"" group:"This program and its data" hidden:"" help:"Print names for completion."`

	MCP mcpVerb `cmd:"" group:"This program and its data" name:"mcp" help:"Serve the Model Context Protocol, by which coding agents use this program."`
	LSP lspVerb `cmd:"" group:"This program and its data" name:"lsp" help:"Serve the Language Server Protocol, by which editors check definitions while they are written."`

	Version kong.VersionFlag `help:"Print the version, the commit and the Go version of the build."`
}

// mappers decode the types of flags that verbs declare.
func mappers() []kong.Option {
	return []kong.Option{kong.NamedMapper("datadir", kong.MapperFunc(serve.DataDir))}
}

// registerBuild hands the version and the verbs that another process can run to the packages that need them.
func registerBuild() {
	buildinfo.Register(released)
	workspace.Register(travelling)
	checks.RegisterFunctions(functionTests)
}
