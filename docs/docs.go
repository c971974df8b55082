// Package docs embeds the pages that programs show: the operating guide, to which alarms link, and all pages for the
// MCP server, which serves them as resources.
package docs

import (
	"embed"
)

// Operating is the text of docs/operating.md.
//
//go:embed operating.md
var Operating string

// Pages holds all pages of this folder, apart from the decisions.
//
//go:embed *.md
var Pages embed.FS
