package agents

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reads annotates a tool that changes nothing.
func reads(title string) *mcp.ToolAnnotations {
	closed := false
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}
}

// source names a definition.
type source struct {
	Definition string `json:"definition,omitempty" jsonschema:"text of the state machine definition (Amazon States Language in JSON or YAML, or a SAM, CloudFormation or serverless.yml template)"`
	File       string `json:"file,omitempty" jsonschema:"path of a definition, template or directory, instead of definition; FILE#NAME is one state machine of a template"`
}

// add adds the source as an argument, and returns its path.
func (in source) add(x *call) (path string, err error) {
	switch {
	case in.Definition == "" && in.File == "":
		return "", errors.New("give definition (its text) or file (its path)")
	case in.Definition != "" && in.File != "":
		return "", errors.New("definition and file exclude each other: give one of them")
	case in.File != "":
		path = in.File
	default:
		name := "definition.asl.yaml"
		if strings.HasPrefix(strings.TrimSpace(in.Definition), "{") {
			name = "definition.asl.json"
		}
		if path, err = x.text(name, in.Definition); err != nil {
			return "", err
		}
	}
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	x.add(path)
	return path, nil
}

type validateInput struct {
	source

	Express bool `json:"express,omitempty" jsonschema:"check as a state machine of type EXPRESS"`
}

type reviewInput struct {
	source

	Express  bool    `json:"express,omitempty" jsonschema:"review as a state machine of type EXPRESS"`
	Rate     float64 `json:"rate,omitempty" jsonschema:"executions started per second, for the rules about load"`
	Capacity float64 `json:"capacity,omitempty" jsonschema:"calls per second that the called services can handle"`
}

type fixInput struct {
	Definition string `json:"definition" jsonschema:"text of the state machine definition in JSON"`
}

type explainRetriesInput struct {
	Code string `json:"code" jsonschema:"code of a finding such as NO_JITTER, or all"`
}

type graphInput struct {
	source

	Execution string `json:"execution,omitempty" jsonschema:"name or ARN of an execution, instead of a definition: its path is drawn"`
	Format    string `json:"format,omitempty" jsonschema:"mermaid (default), dot or svg"`
}

type runInput struct {
	source

	Input    string   `json:"input,omitempty" jsonschema:"input of the execution, as JSON text; {} by default"`
	Mocks    string   `json:"mocks,omitempty" jsonschema:"mock configuration in the form of Step Functions Local's MockConfigFile.json, as text; without mocks only tasks that need no function can run"`
	TestCase string   `json:"test_case,omitempty" jsonschema:"test case of the mock configuration"`
	Machine  string   `json:"machine,omitempty" jsonschema:"name of the state machine in the mock configuration"`
	Faults   []string `json:"faults,omitempty" jsonschema:"shares of a state's tasks that fail, each STATE:ERROR:RATE such as Reserve:throttle:30%"`
	Seed     int64    `json:"seed,omitempty" jsonschema:"seed of the choice of tasks that fail; 1 by default"`
	Express  bool     `json:"express,omitempty" jsonschema:"run as a state machine of type EXPRESS"`
}

type testInput struct {
	Definition string `json:"definition,omitempty" jsonschema:"text of the state machine definition in JSON, to be tested by test"`
	Test       string `json:"test,omitempty" jsonschema:"text of the test file in YAML; see the resource stepback://docs/testing.md"`
	File       string `json:"file,omitempty" jsonschema:"path of a test file or a directory of them, instead of definition and test"`
	Run        string `json:"run,omitempty" jsonschema:"regular expression: only tests whose name matches"`
	Coverage   bool   `json:"coverage,omitempty" jsonschema:"also list what no test covers"`
}

type designInput struct {
	Problem    string `json:"problem" jsonschema:"text of the design file in YAML: callee, arrivals, faults and objective; see the resource stepback://docs/design-retries.md"`
	Definition string `json:"definition,omitempty" jsonschema:"text of the state machine definition in JSON; the answer then has its change as a diff"`
}

// addDefinitions adds the tools that need no executions.
func (c *MCP) addDefinitions(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{Name: "validate", Annotations: reads("Check a definition"),
		Description: "Check state machine definitions as AWS Step Functions would: errors and warnings with line, column and JSON pointer."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in validateInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error {
				x.add("validate", "--json")
				x.flag(in.Express, "--express")
				_, err := in.add(x)
				return err
			}, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "review", Annotations: reads("Review Retry blocks"),
		Description: "Review the Retry and Catch blocks of definitions, or the code of durable Lambda functions in a file: worst-case waits, and findings with what to change."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in reviewInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error {
				x.add("retries", "review", "--json")
				x.flag(in.Express, "--express")
				x.number("--rate", in.Rate)
				x.number("--capacity", in.Capacity)
				_, err := in.add(x)
				return err
			}, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "fix", Annotations: reads("Fix Retry blocks"),
		Description: "Return a definition with the findings of review fixed that can be fixed mechanically. No file is changed."},
		c.fix)
	mcp.AddTool(s, &mcp.Tool{Name: "explain_rule", Annotations: reads("Explain a rule of review"),
		Description: "Explain a rule of review: why it matters and what to do. The code all lists the rules."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in explainRetriesInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error {
				x.add("retries", "review", "--explain="+in.Code)
				return nil
			}, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "graph", Annotations: reads("Draw a state machine"),
		Description: "Draw a state machine, or the path of an execution through it."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in graphInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error { return c.graph(x, in) }, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "run_definition", Annotations: reads("Run a definition in virtual time"),
		Description: "Run an execution of a definition in virtual time, with mocks and faults, and return its output and trace. Waits take no time. Nothing is stored."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in runInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error { return runArguments(x, in) }, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "design_retries", Annotations: reads("Design retries"),
		Description: "Search for the simplest Retry block, timeout, concurrency, budget, limiter and breaker that meet an objective through named faults, with predictions."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in designInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error { return designArguments(x, in) }, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "run_test", Annotations: reads("Run tests of a state machine"),
		Description: "Run tests of state machines in virtual time: responses of tasks, faults, and the expected status, output, path, attempts and waits."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in testInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error { return testArguments(x, in) }, window{})
		})
}

// fix runs review --fix on a copy of the definition and returns the copy.
func (c *MCP) fix(ctx context.Context, _ *mcp.CallToolRequest, in fixInput) (*mcp.CallToolResult, any, error) {
	var fixed string
	result, _, err := c.with(ctx, func(x *call) error {
		x.add("retries", "review", "--fix")
		path, err := source{Definition: in.Definition}.add(x)
		if err != nil {
			return err
		}
		if _, err := x.run(ctx, window{}); err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		fixed = string(text)
		x.args = []string{"retries", "review", path} // what is left
		return err
	}, window{})
	if err != nil {
		return nil, nil, err
	}
	result.Content = append([]mcp.Content{&mcp.TextContent{Text: fixed}}, result.Content...)
	return result, nil, nil
}

// graph adds the arguments of graph.
func (c *MCP) graph(x *call, in graphInput) error {
	format := in.Format
	switch format {
	case "":
		format = "mermaid"
	case "mermaid", "dot", "svg":
	default:
		return errors.New("format is mermaid, dot or svg")
	}
	x.add("graph", "--output="+format)
	if in.Execution == "" {
		_, err := in.add(x)
		return err
	}
	if in.Definition != "" || in.File != "" {
		return errors.New("execution and a definition exclude each other: give one of them")
	}
	if c.Remote() {
		return errors.New("the path of an execution can be drawn from a data directory only, and the server was started with " +
			"an endpoint or AWS: use execution_history")
	}
	x.add("--data="+c.Data, in.Execution)
	return nil
}

func runArguments(x *call, in runInput) error {
	x.add("exec", "--virtual-time", "--offline")
	x.flag(in.Express, "--express")
	if _, err := in.add(x); err != nil {
		return err
	}
	if in.Input != "" {
		path, err := x.text("input.json", in.Input)
		if err != nil {
			return err
		}
		x.add("--input=@" + path)
	}
	if in.Mocks != "" {
		path, err := x.text("MockConfigFile.json", in.Mocks)
		if err != nil {
			return err
		}
		x.add("--mock=" + path)
	}
	for flag, value := range map[string]string{"--test-case=": in.TestCase, "--machine=": in.Machine} {
		if value != "" {
			x.add(flag + value)
		}
	}
	for _, f := range in.Faults {
		x.add("--fault=" + f)
	}
	x.number("--seed", float64(in.Seed))
	return nil
}

func designArguments(x *call, in designInput) error {
	path, err := x.text("problem.yaml", in.Problem)
	x.add("retries", "design", path)
	if in.Definition != "" && err == nil {
		var definition string
		definition, err = x.text("machine.asl.json", in.Definition)
		x.add("--definition=" + definition)
	}
	return err
}

func testArguments(x *call, in testInput) error {
	x.add("test", "--json")
	x.flag(in.Coverage, "--coverage")
	if in.Run != "" {
		x.add("--run=" + in.Run)
	}
	if in.File != "" {
		if in.Definition != "" || in.Test != "" {
			return errors.New("file excludes definition and test")
		}
		x.add(filepath.Clean(in.File))
		return nil
	}
	if in.Definition == "" || in.Test == "" {
		return errors.New("give definition and test (their texts), or file (the path of a test file)")
	}
	if _, err := x.text("machine.asl.json", in.Definition); err != nil {
		return err
	}
	path, err := x.text("machine.test.yaml", in.Test)
	x.add(path)
	return err
}
