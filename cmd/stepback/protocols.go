//go:build !lean && !checks

package main

import (
	"context"

	"stepback/cmd/stepback/agents"
	"stepback/cmd/stepback/buildinfo"
	"stepback/cmd/stepback/lsp"
	"stepback/cmd/stepback/terminal"
)

// The verbs that serve protocols of coding agents and editors. The build tag lean leaves them out.
type (
	mcpVerb = agents.MCP
	lspVerb = lsp.LSP
)

// connect hands the servers of protocols the version, and those that run other verbs the function that runs a command
// line.
func (c *commandLine) connect(execute func(context.Context, []string, terminal.Streams) int) {
	c.MCP.Execute, c.MCP.Version = execute, buildinfo.Line()
	c.LSP.Version = buildinfo.Line()
}
