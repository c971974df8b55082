//go:build checks

package main

import (
	"context"

	"github.com/alecthomas/kong"

	"stepback/cmd/stepback/buildinfo"
	"stepback/cmd/stepback/checks"
	"stepback/cmd/stepback/terminal"
)

// commandLine has only the verbs that check files. They have the names and the flags of the whole command, which pipelines
// can therefore replace by this build: it links none of the services, and is a quarter of the size.
type commandLine struct {
	Validate checks.Validate `cmd:"" help:"Check state machine definitions as AWS Step Functions would."`
	Test     checks.Test     `cmd:"" help:"Run the tests of state machines: *.test.yaml beside definitions, in virtual time."`
	Retries  struct {
		Review checks.Review `cmd:"" help:"Review the Retry blocks of state machine definitions, and the code of durable functions."`
	} `cmd:"" help:"Review retries."`

	Completion completionCmd `cmd:"" help:"Print a completion script for bash, zsh or fish."`
	Man        manCmd        `cmd:"" help:"Print the manual page: stepback man | man -l -"`

	Version kong.VersionFlag `help:"Print the version, the commit and the Go version of the build."`
}

// mappers decode the types of flags that verbs declare.
func mappers() []kong.Option { return nil }

// registerBuild hands the version to the package that reports it.
func registerBuild() { buildinfo.Register(released) }

func (*commandLine) connect(func(context.Context, []string, terminal.Streams) int) {}
