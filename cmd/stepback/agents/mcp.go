package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
)

// Execute runs one command line and returns its exit code.
type Execute func(ctx context.Context, args []string, std terminal.Streams) int

// MCP implements the verb mcp.
type MCP struct {
	Listen       string `placeholder:"ADDRESS" help:"Serve over HTTP at a loopback address such as 127.0.0.1:8765, instead of standard input and output."`
	AllowActions bool   `name:"allow-actions" help:"Also offer the tools that change something: start, stop and redrive executions, and fix files in place."`
	workspace.Where

	// Execute runs the verbs. Version is the version that the server reports.
	Execute Execute `kong:"-"`
	Version string  `kong:"-"`
}

// Help shows examples.
func (MCP) Help() string {
	return `Examples:
  stepback mcp
  stepback mcp --endpoint http://localhost:4566 --allow-actions
  stepback mcp --listen 127.0.0.1:8765

Serves the Model Context Protocol (https://modelcontextprotocol.io), by which coding agents use tools. The tools check, review, draw,
run and test state machines, and read the executions of the data directory, an endpoint or AWS. Without --allow-actions no tool
changes anything. Over HTTP the URL is http://ADDRESS/mcp. See docs/agents.md for the settings of clients.`
}

// Run serves until the client closes standard input, or the command is interrupted.
func (c *MCP) Run(ctx context.Context, std terminal.Streams) error {
	if err := c.Check(); err != nil {
		return err
	}
	server := c.server()
	if c.Listen != "" {
		return c.listen(ctx, std, server)
	}
	in := std.In
	if in == nil {
		in = http.NoBody
	}
	err := server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{std.Out}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil //nolint:nilerr // an interruption is the ordinary end
	}
	return err
}

// unclosed is a writer that others continue to use.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }

// The limits of the HTTP server: the longest time that a client takes for its headers, the size of a request, and the
// time that a stopping server waits for running calls.
const (
	headerPatience  = 10 * time.Second
	maxRequestBytes = 8 << 20
	grace           = 5 * time.Second
	sessionIdle     = 30 * time.Minute
)

// listen serves over HTTP.
func (c *MCP) listen(ctx context.Context, std terminal.Streams, server *mcp.Server) error {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return exit.With(exit.Usage, fmt.Errorf("--listen %s: %w; write an address such as 127.0.0.1:8765", c.Listen, err))
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return exit.With(exit.Usage, fmt.Errorf("--listen %s: the server asks for no password, so it listens at "+
			"loopback addresses only: write 127.0.0.1 or [::1]", c.Listen))
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", http.NewCrossOriginProtection().Handler(mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{MaxRequestBodyBytes: maxRequestBytes, SessionTimeout: sessionIdle})))
	s := &http.Server{Handler: mux, ReadHeaderTimeout: headerPatience}
	fmt.Fprintf(std.Err, "MCP at http://%s/mcp; Ctrl-C ends it\n", listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if s.Shutdown(last) != nil { // streams of clients stay open for ever
		_ = s.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

const instructions = `stepback runs and checks AWS Step Functions state machines on this machine, and knows their retries.
Check a definition with validate, then review; run it with run_definition, or write a test (see the resource
stepback://docs/testing.md) and run it with run_test: time is virtual, no AWS account is needed. Executions are those of the data
directory or endpoint with which the server was started: list_executions, describe_execution (why it waits, when it gives up),
execution_history. analyze_retries and what_if compute what Retry blocks gained and what others would have done.`

// server returns the server with its tools and resources.
func (c *MCP) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "stepback", Title: "stepback", Version: c.Version},
		&mcp.ServerOptions{Instructions: instructions})
	c.addDefinitions(s)
	c.addExecutions(s)
	if c.AllowActions {
		c.addActions(s)
	}
	c.addResources(s)
	return s
}
