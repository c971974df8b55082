package agents

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// flag adds a flag without a value.
func (x *call) flag(on bool, name string) {
	if on {
		x.add(name)
	}
}

// number adds a flag with a number, unless it is 0.
func (x *call) number(name string, n float64) {
	if n != 0 {
		x.add(name + "=" + strconv.FormatFloat(n, 'f', -1, 64))
	}
}

// named adds the name of an execution as an argument.
func (x *call) named(execution string) error {
	if execution == "" || strings.HasPrefix(execution, "-") {
		return errors.New("execution is the name or ARN of an execution; list_executions lists them")
	}
	x.add(execution)
	return nil
}

type listInput struct {
	Machine  string `json:"machine,omitempty" jsonschema:"name or ARN of the state machine; all by default"`
	Status   string `json:"status,omitempty" jsonschema:"RUNNING, SUCCEEDED, FAILED, TIMED_OUT or ABORTED"`
	Retrying bool   `json:"retrying,omitempty" jsonschema:"only executions that are waiting for a retry, with its time"`
	Error    string `json:"error,omitempty" jsonschema:"only executions that ended with this error or are waiting for a retry because of it"`
	Since    string `json:"since,omitempty" jsonschema:"only executions that started within this time, such as 2h or 7d"`
	Limit    int    `json:"limit,omitempty" jsonschema:"at most this many, newest first; 50 by default, at most 500"`
}

type executionInput struct {
	Execution string `json:"execution" jsonschema:"name or ARN of the execution"`
}

type historyInput struct {
	Execution string `json:"execution" jsonschema:"name or ARN of the execution"`
	From      int    `json:"from,omitempty" jsonschema:"skip this many lines, to read on where an answer was cut"`
	Limit     int    `json:"limit,omitempty" jsonschema:"number of lines; 200 by default, at most 1000"`
	Children  bool   `json:"children,omitempty" jsonschema:"list the child executions of its Map Runs instead"`
	Failed    bool   `json:"failed,omitempty" jsonschema:"with children: only those with failed attempts"`
}

type analyzeInput struct {
	Machine string `json:"machine,omitempty" jsonschema:"name or ARN of the state machine; all by default"`
	Days    int    `json:"days,omitempty" jsonschema:"only executions that started within this many days; 7 by default"`
}

type whatIfInput struct {
	analyzeInput

	Policy string `json:"policy" jsonschema:"the Retry blocks to try, as text: a definition, Retry arrays by state, or a retry table"`
}

// The default and the largest number of lines of a history, and of executions in a list.
const (
	historyLines, maxHistoryLines = 200, 1000
	maxListed                     = 500
)

func (in analyzeInput) add(x *call) {
	x.where(false)
	if in.Machine != "" {
		x.add("--state-machine=" + in.Machine)
	}
	x.number("--days", float64(in.Days))
}

// addExecutions adds the tools that read executions.
func (c *MCP) addExecutions(s *mcp.Server) {
	mcp.AddTool(s, &mcp.Tool{Name: "list_executions", Annotations: reads("List executions"),
		Description: "List executions, newest first, one JSON object per line: by state machine, status, error or time, or those that wait for a retry."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in listInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error {
				x.add("executions", "--json")
				x.where(true)
				for flag, value := range map[string]string{"--machine=": in.Machine, "--status=": in.Status,
					"--error=": in.Error, "--since=": in.Since} {
					if value != "" {
						x.add(flag + value)
					}
				}
				x.flag(in.Retrying, "--retrying")
				if in.Limit < 0 || in.Limit > maxListed {
					return errors.New("limit is at most " + strconv.Itoa(maxListed) + ": narrow the list by machine, status or since")
				}
				x.number("--limit", float64(in.Limit))
				return nil
			}, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "describe_execution", Annotations: reads("Describe an execution"),
		Description: "Explain an execution: its status and error, what it waits for, the next attempt, when it gives up, and the attempts and waits of each state. Use it for an execution that seems stuck."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in executionInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error {
				x.add("describe")
				x.where(true)
				return x.named(in.Execution)
			}, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "execution_history", Annotations: reads("Read an execution's events"),
		Description: "Return the events of an execution, one per line, or its child executions."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in historyInput) (*mcp.CallToolResult, any, error) {
			if in.Limit < 0 || in.Limit > maxHistoryLines || in.From < 0 {
				return nil, nil, errors.New("from is 0 or more, and limit at most " + strconv.Itoa(maxHistoryLines) +
					": read on with from")
			}
			if in.Limit == 0 {
				in.Limit = historyLines
			}
			return c.with(ctx, func(x *call) error { return x.history(in) }, window{in.From, in.Limit})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "write_test", Annotations: reads("Write a test from an execution"),
		Description: "Return a test file made from an execution: its input, the response to each attempt, and its outcome. These are real data."},
		c.writeTest)
	mcp.AddTool(s, &mcp.Tool{Name: "analyze_retries", Annotations: reads("Analyze retries"),
		Description: "Analyze histories: how often each retry recovered, which retry no longer pays, what waiting and retrying cost, and what to change."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in analyzeInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error {
				x.add("retries", "analyze", "--json")
				in.add(x)
				return nil
			}, window{})
		})
	mcp.AddTool(s, &mcp.Tool{Name: "what_if", Annotations: reads("Replay histories under other Retry blocks"),
		Description: "Replay the histories of the last days under other Retry blocks. Each answer names its level: exact, bracketed or modelled."},
		func(ctx context.Context, _ *mcp.CallToolRequest, in whatIfInput) (*mcp.CallToolResult, any, error) {
			return c.with(ctx, func(x *call) error {
				path, err := x.text("policy.yaml", in.Policy) // YAML includes JSON
				x.add("retries", "whatif", "--json", "--policy="+path)
				in.add(x)
				return err
			}, window{})
		})
}

func (x *call) history(in historyInput) error {
	x.add("history")
	x.where(true)
	x.flag(in.Children, "--children")
	x.flag(in.Failed, "--failed")
	return x.named(in.Execution)
}

// writeTest runs record and returns the files that it wrote.
func (c *MCP) writeTest(ctx context.Context, _ *mcp.CallToolRequest, in executionInput) (*mcp.CallToolResult, any, error) {
	var test string
	result, _, err := c.with(ctx, func(x *call) error {
		path, err := x.text("execution.test.yaml", "") // beside it, record writes the definition
		if err != nil {
			return err
		}
		record := &call{mcp: c, dir: x.dir, args: []string{"record", "--output=" + path}}
		record.where(true)
		if err := record.named(in.Execution); err != nil {
			return err
		}
		if _, err := record.run(ctx, window{}); err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if len(text) > maxAnswerBytes {
			return errors.New("the test is larger than 64 kB: write it to a file with stepback record " + in.Execution +
				" -o FILE.test.yaml")
		}
		test = string(text)
		x.args = []string{"test", path}
		return err
	}, window{})
	if err != nil {
		return nil, nil, err
	}
	result.Content = append([]mcp.Content{&mcp.TextContent{Text: test}}, result.Content...)
	return result, nil, nil
}
