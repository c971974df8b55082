package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// LSP implements the verb lsp.
type LSP struct {
	// Version is the version that the server reports.
	Version string `kong:"-"`
}

// Help shows an example.
func (LSP) Help() string {
	return `Example:
  stepback lsp

Serves the Language Server Protocol (https://microsoft.github.io/language-server-protocol) over standard input and output. An editor
starts it, and then shows the findings of validate and of retries review while a definition is written: in JSON, in YAML, and inside
SAM, CloudFormation and serverless.yml templates. See docs/editors.md for the settings of editors.

Exit status: 0 if the editor sends shutdown before exit, or closes standard input; 1 if it sends exit alone.`
}

// Run serves until the editor sends exit or closes standard input, or the command is interrupted.
func (c *LSP) Run(ctx context.Context, std terminal.Streams) error {
	ctx, cancel := context.WithCancel(ctx)
	in := std.In
	if in == nil {
		in = http.NoBody
	}
	s := newServer(c.Version, std.Err)
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stdio{in, std.Out}, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(s.handle).SuppressErrClosed(), jsonrpc2.SetLogger(log.New(std.Err, "stepback lsp: ", 0)))
	var working sync.WaitGroup
	working.Go(func() {
		s.work(ctx, func(method string, params any) { _ = conn.Notify(ctx, method, params) })
	})
	var err error
	select {
	case <-s.ended:
		if !s.shutDown {
			err = exit.With(exit.Failure, nil)
		}
	case <-conn.DisconnectNotify():
	case <-ctx.Done():
	}
	cancel()
	_ = conn.Close()
	working.Wait()
	return err
}

// stdio is the transport's stream. Closing it leaves standard input and output open.
type stdio struct {
	io.Reader
	io.Writer
}

// Close implements io.Closer.
func (stdio) Close() error { return nil }

// server answers the messages of one editor.
type server struct {
	version  string
	errors   io.Writer
	protocol protocol.Handler
	open     opened

	// ended is closed by end when the editor sends exit. shutDown reports whether it sent shutdown before.
	ended    chan struct{}
	end      func()
	shutDown bool
}

func newServer(version string, errors io.Writer) *server {
	s := &server{version: version, errors: errors, ended: make(chan struct{}), open: newOpened()}
	s.end = sync.OnceFunc(func() { close(s.ended) })
	s.protocol = protocol.Handler{
		Initialize:  s.initialize,
		Initialized: func(*glsp.Context, *protocol.InitializedParams) error { return nil },
		Shutdown: func(*glsp.Context) error {
			s.shutDown = true
			return nil
		},
		SetTrace:      func(*glsp.Context, *protocol.SetTraceParams) error { return nil },
		CancelRequest: func(*glsp.Context, *protocol.CancelParams) error { return nil }, // requests take milliseconds

		TextDocumentDidOpen:   s.didOpen,
		TextDocumentDidChange: s.didChange,
		TextDocumentDidClose:  s.didClose,

		TextDocumentCompletion:     s.complete,
		TextDocumentDocumentSymbol: s.symbols,
		TextDocumentHover:          s.hover,
		TextDocumentDefinition:     s.definition,
		TextDocumentReferences:     s.references,
		TextDocumentRename:         s.rename,
		TextDocumentCodeAction:     s.actions,
		TextDocumentFormatting:     s.format,
		TextDocumentCodeLens:       s.lenses,
	}
	return s
}

// handle answers a request or processes a notification. A panic fails only the request.
func (s *server) handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.errors, "stepback lsp: %s failed: %v\n%s", req.Method, p, debug.Stack())
			result, err = nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("%s failed: %v", req.Method, p)}
		}
	}()
	if req.Method == string(protocol.MethodExit) {
		s.end()
		return nil, nil
	}
	params := json.RawMessage("{}")
	if req.Params != nil {
		params = *req.Params
	}
	if req.Method == methodGraph {
		return s.drawn(params)
	}
	result, known, valid, err := s.protocol.Handle(&glsp.Context{Method: req.Method, Params: params})
	switch {
	case !known && req.Notif: // the protocol lets servers ignore notifications
		return nil, nil
	case !known:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "stepback lsp does not implement " + req.Method}
	case err != nil && !valid:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: req.Method + ": " + err.Error()}
	case err != nil:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: err.Error()}
	}
	return result, nil
}

// initialize returns what the server can do.
func (s *server) initialize(*glsp.Context, *protocol.InitializeParams) (any, error) {
	capabilities := s.protocol.CreateServerCapabilities()
	capabilities.CompletionProvider.TriggerCharacters = []string{`"`, " ", "$", "."}
	return protocol.InitializeResult{
		Capabilities: capabilities,
		ServerInfo:   &protocol.InitializeResultServerInfo{Name: "stepback", Version: &s.version},
	}, nil
}

func (s *server) didOpen(_ *glsp.Context, p *protocol.DidOpenTextDocumentParams) error {
	s.open.set(newDocument(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text))
	return nil
}

func (s *server) didChange(_ *glsp.Context, p *protocol.DidChangeTextDocumentParams) error {
	before, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return err
	}
	text := before.text
	for _, change := range p.ContentChanges {
		switch change := change.(type) {
		case protocol.TextDocumentContentChangeEventWhole:
			text = change.Text
		case protocol.TextDocumentContentChangeEvent:
			lines := newLines(text)
			start, end := lines.offset(change.Range.Start), lines.offset(change.Range.End)
			text = text[:start] + change.Text + text[max(start, end):]
		}
	}
	s.open.set(newDocument(before.uri, p.TextDocument.Version, text))
	return nil
}

func (s *server) didClose(_ *glsp.Context, p *protocol.DidCloseTextDocumentParams) error {
	s.open.remove(p.TextDocument.URI)
	return nil
}
