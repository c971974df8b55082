//go:build lean && !checks

package main

import (
	"context"
	"errors"

	"stepback/cmd/stepback/terminal"
)

// The verbs that serve protocols of coding agents and editors, which the build tag lean leaves out.
type (
	mcpVerb struct{ leftOut }
	lspVerb struct{ leftOut }
)

// leftOut is a verb that this build leaves out. It takes any arguments and rejects the command.
type leftOut struct {
	Arguments []string `arg:"" optional:"" passthrough:"" help:"Arguments of the verb."`
}

// Run returns an error.
func (leftOut) Run(context.Context, terminal.Streams) error {
	return errors.New("this build of stepback leaves out the verbs mcp and lsp; build it with make build")
}

// connect does nothing: no verb of this build runs other verbs.
func (*commandLine) connect(func(context.Context, []string, terminal.Streams) int) {}
