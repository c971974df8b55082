// Package docs embeds the pages that programs show. That is the operating guide, to which alarms link; the rest of
// the folder is not embedded.
package docs

import _ "embed"

// Operating is the text of docs/operating.md.
//
//go:embed operating.md
var Operating string
