package console

import (
	"bytes"
	"fmt"
	"html/template"

	"stepback/engine/graph"
)

// Picture is an SVG to embed in a page.
type Picture struct{ SVG template.HTML }

// maxPicture is the largest SVG, in bytes, that is embedded in a page; for larger graphs the page refers to `stepback
// graph`.
const maxPicture = 400_000

// pictureOf draws a graph. For a machine with too many states it refers to `stepback graph`.
func pictureOf(g *graph.Graph, o graph.Options) Picture {
	var b bytes.Buffer
	if err := g.SVG(&b, o); err != nil || b.Len() > maxPicture {
		return Picture{SVG: template.HTML(fmt.Sprintf(`<p class="dim">This graph has %d states, too many to draw here; use stepback graph.</p>`, //nolint:gosec // a number
			len(g.Nodes)))}
	}
	return Picture{SVG: template.HTML(b.String())} //nolint:gosec // graph escapes all texts
}
