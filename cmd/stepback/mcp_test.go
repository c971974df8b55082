package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is a client of stepback mcp.
type agent struct {
	*mcp.ClientSession

	t *testing.T
}

// tools starts stepback mcp as a process and connects to it: over standard input and output, or over HTTP.
func tools(t *testing.T, overHTTP bool, args ...string) agent {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"mcp"}, args...)...)
	cmd.Env = append(os.Environ(), "STEPBACK_TEST_AS_COMMAND=1")
	var transport mcp.Transport = &mcp.CommandTransport{Command: cmd}
	if overHTTP {
		cmd.Args = append(cmd.Args, "--listen", "127.0.0.1:0")
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		line, err := bufio.NewReader(said).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		url, _, _ := strings.Cut(strings.TrimPrefix(line, "MCP at "), ";")
		transport = &mcp.StreamableClientTransport{Endpoint: url}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return agent{session, t}
}

// call calls a tool and returns its texts, and whether it is an error.
func (a agent) call(tool string, in map[string]any) (text string, failed bool) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), time.Minute)
	defer cancel()
	out, err := a.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		return err.Error(), true
	}
	var texts []string
	for _, c := range out.Content {
		if part, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n"), out.IsError
}

// finds calls a tool whose answer must contain all texts.
func (a agent) finds(tool string, in map[string]any, texts ...string) {
	a.t.Helper()
	got, failed := a.call(tool, in)
	if failed {
		a.t.Errorf("%s of %v fails: %s", tool, in, got)
	}
	for _, want := range texts {
		if !strings.Contains(got, want) {
			a.t.Errorf("%s of %v answers\n%s\nwithout %q", tool, in, got, want)
		}
	}
}

// refuses calls a tool that must fail with a text.
func (a agent) refuses(tool string, in map[string]any, want string) {
	a.t.Helper()
	if got, failed := a.call(tool, in); !failed || !strings.Contains(got, want) {
		a.t.Errorf("%s of %v answers\n%s\nwant an error with %q", tool, in, got, want)
	}
}

const agentsMachine = `{"StartAt":"Pay","States":{"Pay":{"Type":"Task","Resource":"arn:aws:lambda:us-east-1:123456789012:function:pay",
	"Retry":[{"ErrorEquals":["Busy"],"IntervalSeconds":2,"MaxAttempts":3,"BackoffRate":2}],"End":true}}}`

const agentsTest = `tests:
  - name: busy twice
    input: {}
    mocks:
      Pay:
        - error: Busy
        - error: Busy
        - return: {"paid": true}
    expect:
      status: SUCCEEDED
      attempts: {Pay: 3}
`

func TestMCP(t *testing.T) {
	t.Parallel()
	for name, overHTTP := range map[string]bool{"stdio": false, "HTTP": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			machine := filepath.Join(dir, "wait.asl.json")
			if err := os.WriteFile(machine, []byte(`{"StartAt":"W","States":{"W":{"Type":"Pass","End":true}}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			data := filepath.Join(dir, "data")
			if s := stepback(t, "exec", machine, "--data", data, "--name", "e1"); s.code != 0 {
				t.Fatal(s.err)
			}
			a := tools(t, overHTTP, "--data", data)
			a.finds("validate", map[string]any{"definition": agentsMachine}, `"definition.asl.json"`)
			a.finds("validate", map[string]any{"definition": `{"StartAt":"X","States":{}}`}, "SCHEMA_VALIDATION_FAILED")
			a.refuses("validate", map[string]any{}, "give definition")
			a.refuses("validate", map[string]any{"file": filepath.Join(dir, "none.asl.json")}, "none.asl.json")
			a.refuses("validate", map[string]any{"definition": "{}", "surplus": 1}, "surplus")
			a.finds("review", map[string]any{"definition": agentsMachine}, "NO_JITTER")
			a.finds("explain_rule", map[string]any{"code": "NO_JITTER"}, "NO_JITTER")
			a.finds("fix", map[string]any{"definition": agentsMachine}, `"JitterStrategy"`)
			a.finds("graph", map[string]any{"definition": agentsMachine}, "flowchart TD", "Pay")
			a.finds("run_definition", map[string]any{"definition": `{"StartAt":"P","States":{"P":{"Type":"Wait","Seconds":86400,"End":true}}}`,
				"input": `{"n":1}`}, `"n":1`)
			a.finds("run_test", map[string]any{"definition": agentsMachine, "test": agentsTest}, "busy twice", `"passed"`)
			a.refuses("design_retries", map[string]any{"problem": "design: 2\nname: a\nstate: Pay\n"}, "problem.yaml:1:9: design")
			a.finds("list_executions", map[string]any{}, `"e1"`)
			a.refuses("list_executions", map[string]any{"limit": 1_000_000}, "at most 500")
			a.finds("describe_execution", map[string]any{"execution": "e1"}, "SUCCEEDED")
			a.refuses("describe_execution", map[string]any{"execution": "none"}, "none")
			a.refuses("describe_execution", map[string]any{"execution": "--help"}, "list_executions")
			a.finds("execution_history", map[string]any{"execution": "e1"}, "PassStateEntered")
			a.finds("execution_history", map[string]any{"execution": "e1", "limit": 1}, "ask for more with from=1")
			a.refuses("execution_history", map[string]any{"execution": "e1", "limit": 1_000_000}, "at most 1000")
			a.finds("write_test", map[string]any{"execution": "e1"}, "tests:")
			a.finds("analyze_retries", map[string]any{}, "{")
			a.refuses("stop_execution", map[string]any{"execution": "e1"}, "stop_execution")
			page, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "stepback://docs/testing.md"})
			if err != nil || !strings.Contains(page.Contents[0].Text, "mocks") {
				t.Errorf("the page is %v, %v", page, err)
			}
			told, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "stepback://executions/e1/timeline"})
			if err != nil || !strings.Contains(told.Contents[0].Text, "PassStateEntered") {
				t.Errorf("the timeline is %v, %v", told, err)
			}
		})
	}
}

func TestMCPActs(t *testing.T) {
	t.Parallel()
	_, url := served(t)
	awaits(t, "orders", "machines", "--endpoint", url)
	a := tools(t, false, "--endpoint", url, "--allow-actions")
	a.finds("start_execution", map[string]any{"machine": "orders", "name": "e1", "input": `{"ok":false,"fail":false}`}, ":execution:orders:e1")
	a.finds("describe_execution", map[string]any{"execution": "e1"}, "RUNNING")
	a.finds("stop_execution", map[string]any{"execution": "e1", "cause": "wrong price"}, "e1")
	a.finds("describe_execution", map[string]any{"execution": "e1"}, "ABORTED", "wrong price")
	a.finds("redrive_executions", map[string]any{"status": "ABORTED", "dry_run": true}, ":execution:orders:e1")
	a.refuses("redrive_executions", map[string]any{}, "give execution")
	a.refuses("start_execution", map[string]any{"machine": "none"}, "none")
	a.refuses("graph", map[string]any{"execution": "e1"}, "use execution_history")
}

func TestMCPListensAtLoopbackOnly(t *testing.T) {
	t.Parallel()
	if s := stepback(t, "mcp", "--listen", "0.0.0.0:0"); s.code != 2 || !strings.Contains(s.err, "write 127.0.0.1") {
		t.Errorf("exit status %d: %s", s.code, s.err)
	}
}
