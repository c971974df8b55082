package agents

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// acts annotates a tool that changes something.
func acts(title string, destructive bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, DestructiveHint: &destructive}
}

type startInput struct {
	Machine string `json:"machine" jsonschema:"name or ARN of the deployed state machine"`
	Input   string `json:"input,omitempty" jsonschema:"input as JSON text; {} by default"`
	Name    string `json:"name,omitempty" jsonschema:"name of the execution; a random one by default"`
}

type stopInput struct {
	Execution string `json:"execution" jsonschema:"name or ARN of the execution"`
	Cause     string `json:"cause,omitempty" jsonschema:"why it is stopped, for its history"`
}

type redriveInput struct {
	Execution string `json:"execution,omitempty" jsonschema:"name or ARN of one execution; or select many by machine, status, error and since"`
	Machine   string `json:"machine,omitempty" jsonschema:"name or ARN of the state machine"`
	Status    string `json:"status,omitempty" jsonschema:"FAILED, TIMED_OUT or ABORTED"`
	Error     string `json:"error,omitempty" jsonschema:"only executions that ended with this error"`
	Since     string `json:"since,omitempty" jsonschema:"only executions that started within this time, such as 2h or 7d"`
	DryRun    bool   `json:"dry_run,omitempty" jsonschema:"only list which executions would be redriven"`
}

// addActions adds the tools that change executions.
func (c *MCP) addActions(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{Name: "start_execution", Annotations: acts("Start an execution", false),
		Description: "Start an execution of a deployed state machine."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in startInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error {
				if in.Machine == "" || strings.HasPrefix(in.Machine, "-") {
					return errors.New("machine is the name or ARN of a deployed state machine")
				}
				x.add("start", "--json", in.Machine)
				x.where(true)
				if in.Name != "" {
					x.add("--name=" + in.Name)
				}
				if in.Input == "" {
					return nil
				}
				path, err := x.text("input.json", in.Input)
				x.add("--input=@" + path)
				return err
			}, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "stop_execution", Annotations: acts("Stop an execution", true),
		Description: "Stop a running execution. It can be redriven later."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in stopInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error {
				x.add("stop", "--json")
				x.where(true)
				if in.Cause != "" {
					x.add("--cause=" + in.Cause)
				}
				return x.named(in.Execution)
			}, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "redrive_executions", Annotations: acts("Redrive executions", false),
		Description: "Resume failed, timed-out or stopped executions at the states that failed. Use dry_run first when more than one may be affected."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in redriveInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error { return x.redrive(in) }, window{})
		})
}

func (x *call) redrive(in redriveInput) error {
	x.add("redrive", "--json")
	x.where(true)
	x.flag(in.DryRun, "--dry-run")
	selected := false
	for _, f := range [][2]string{{"--machine=", in.Machine}, {"--status=", in.Status}, {"--error=", in.Error},
		{"--since=", in.Since}} {
		if f[1] != "" {
			x.add(f[0] + f[1])
			selected = true
		}
	}
	switch {
	case in.Execution == "" && !selected:
		return errors.New("give execution, or select executions by machine, status, error or since")
	case in.Execution != "" && selected:
		return errors.New("execution excludes machine, status, error and since")
	case in.Execution != "":
		return x.named(in.Execution)
	}
	return nil
}
