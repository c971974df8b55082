package agents

import (
	"context"
	"io/fs"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stepback/docs"
)

// The addresses of resources: pages of the documentation, and the timelines of executions.
const (
	pagePrefix     = "stepback://docs/"
	timelinePrefix = "stepback://executions/"
	timelineSuffix = "/timeline"
)

// addResources adds the pages of the documentation, and the timelines of executions.
func (c *MCP) addResources(s *mcp.Server) {
	pages, _ := fs.Glob(docs.Pages, "*.md")
	for _, name := range pages {
		text, err := docs.Pages.ReadFile(name)
		if err != nil {
			continue // an embedded file can always be read
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		s.AddResource(&mcp.Resource{URI: pagePrefix + name, Name: name, Title: title, MIMEType: "text/markdown",
			Size: int64(len(text))},
			func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI,
					MIMEType: "text/markdown", Text: string(text)}}}, nil
			})
	}
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: timelinePrefix + "{execution}" + timelineSuffix,
		Name: "timeline", Title: "Timeline of an execution", MIMEType: "text/plain",
		Description: "The attempts, waits and first events of an execution; the tool execution_history reads on."},
		c.timeline)
}

// timeline returns the description of an execution and its first events.
func (c *MCP) timeline(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, timelinePrefix), timelineSuffix)
	name, err := url.PathUnescape(name)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	texts := make([]string, 0, 2)
	for _, verb := range []string{"describe", "history"} {
		x := &call{mcp: c, args: []string{verb}}
		x.where(true)
		if err := x.named(name); err != nil {
			return nil, err
		}
		text, err := x.run(ctx, window{0, historyLines})
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain",
		Text: strings.Join(texts, "\n\n")}}}, nil
}
