package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
)

// editorsPipes is the stream of a process.
type editorsPipes struct {
	io.Reader
	io.WriteCloser
}

// TestLSP replays a session of an editor with stepback lsp as a process: a definition is opened and closed.
func TestLSP(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "lsp")
	cmd.Env = append(os.Environ(), "STEPBACK_TEST_AS_COMMAND=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	published := make(chan string, 10)
	conn := jsonrpc2.NewConn(
		t.Context(),
		jsonrpc2.NewBufferedStream(editorsPipes{out, in}, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
			published <- string(*req.Params)
			return nil, nil
		}),
	)
	defer func() { _ = conn.Close() }()
	tell := func(method string, params any) {
		t.Helper()
		if err := conn.Notify(t.Context(), method, params); err != nil {
			t.Fatal(err)
		}
	}
	var server struct {
		ServerInfo struct{ Name, Version string }
	}
	if err := conn.Call(
		t.Context(),
		"initialize",
		map[string]any{"capabilities": map[string]any{}},
		&server,
	); err != nil ||
		server.ServerInfo.Name != "stepback" ||
		server.ServerInfo.Version == "" {
		t.Fatalf("initialize answers %+v, %v", server, err)
	}
	tell("initialized", map[string]any{})
	document := map[string]any{"uri": "file:///pay.asl.json", "languageId": "json", "version": 7, "text": agentsMachine}
	tell("textDocument/didOpen", map[string]any{"textDocument": document})
	if got := <-published; !strings.Contains(got, `"code":"NO_JITTER"`) || !strings.Contains(got, `"version":7`) {
		t.Errorf("opening publishes %s", got)
	}
	tell("textDocument/didClose", map[string]any{"textDocument": document})
	if got := <-published; !strings.Contains(got, `"diagnostics":[]`) {
		t.Errorf("closing publishes %s", got)
	}
	if err := conn.Call(t.Context(), "shutdown", nil, nil); err != nil {
		t.Error(err)
	}
	tell("exit", nil)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
