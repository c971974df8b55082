package agents

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// The limits of a call: its duration, and the size of its answer and of its errors.
const (
	callPatience   = 2 * time.Minute
	maxAnswerBytes = 64 << 10
	maxErrorBytes  = 8 << 10
)

// call is one call of a tool: a folder for the texts in its input, and the arguments of a verb.
type call struct {
	mcp  *MCP
	dir  string
	args []string
}

// with makes a call: prepare adds the arguments. The folder exists while the verb runs.
func (c *MCP) with(ctx context.Context, prepare func(*call) error, window window) (*mcp.CallToolResult, any, error) {
	dir, err := os.MkdirTemp("", "stepback-mcp-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	x := &call{mcp: c, dir: dir}
	if err := prepare(x); err != nil {
		return nil, nil, err
	}
	text, err := x.run(ctx, window)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// text writes a text of the input to a file and returns its path.
func (x *call) text(name, content string) (string, error) {
	path := filepath.Join(x.dir, name)
	return path, os.WriteFile(path, []byte(content), 0o600)
}

// add adds arguments.
func (x *call) add(args ...string) { x.args = append(x.args, args...) }

// where adds the flags that select the executions.
func (x *call) where(scope bool) {
	switch w := &x.mcp.Where; {
	case w.AWS:
		x.add("--aws")
	case w.Endpoint != "":
		x.add("--endpoint=" + w.Endpoint)
	default:
		x.add("--data=" + w.Data)
	}
	if scope {
		x.add("--account="+x.mcp.Account, "--region="+x.mcp.Region)
	}
}

// run runs the verb and returns what it printed. A verb that found something to report, such as a refused definition,
// has succeeded here; any other failure is an error with what the verb said.
func (x *call) run(ctx context.Context, w window) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	out, complaints := &bounded{window: w}, &bounded{limit: maxErrorBytes}
	code := x.mcp.Execute(ctx, x.args, terminal.Streams{In: strings.NewReader(""), Out: out, Err: complaints})
	answer, said := x.shown(out), x.shown(complaints)
	switch {
	case out.full:
		return answer + out.note(), nil
	case ctx.Err() != nil:
		return "", errors.New("the call took longer than " + callPatience.String() + " and was stopped: ask for less")
	case code == exit.OK:
		return cmp.Or(answer, said, "(nothing)"), nil
	case code == exit.Data || code == exit.NoTest || x.args[0] == "exec" || x.args[0] == "test",
		code == exit.Failure && answer != "": // an objective that cannot be met is an answer, too
		return strings.TrimSpace(answer + "\n" + said), nil
	}
	return "", errors.New(strings.TrimSpace(cmp.Or(said, answer, fmt.Sprintf("exit status %d", code))))
}

// shown returns what was printed, with the call's folder left out of paths.
func (x *call) shown(b *bounded) string {
	return strings.TrimRight(strings.ReplaceAll(b.String(), x.dir+string(filepath.Separator), ""), "\n")
}

// window selects lines of an answer: those from from on, at most lines. 0 means all.
type window struct{ from, lines int }

// errFull ends a verb whose answer is long enough.
var errFull = errors.New("the answer is long enough")

// bounded keeps the beginning of what is written, or a window of it.
type bounded struct {
	bytes.Buffer
	window

	limit int // bytes; 0 means maxAnswerBytes
	line  int // of the next byte
	full  bool
}

// Write keeps bytes within the window and the limit. It returns errFull after the last of them.
func (b *bounded) Write(p []byte) (int, error) {
	for i, c := range p {
		if b.full || b.lines > 0 && b.line >= b.from+b.lines || b.Len() >= cmp.Or(b.limit, maxAnswerBytes) {
			b.full = true
			return i, errFull
		}
		if b.line >= b.from {
			b.WriteByte(c)
		}
		if c == '\n' {
			b.line++
		}
	}
	return len(p), nil
}

// note tells what was left out.
func (b *bounded) note() string {
	if b.lines > 0 {
		return fmt.Sprintf("\n(cut after line %d: ask for more with from=%d)", b.line, b.line)
	}
	return fmt.Sprintf("\n(cut after %d bytes: ask for less)", b.Len())
}
