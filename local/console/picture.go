package console

import (
	"bytes"
	"fmt"

	"stepback/engine/graph"
	"stepback/local/console/markup"
)

// Picture is an SVG to stand in a page.
type Picture struct{ SVG markup.HTML }

// maxPicture is how large a graph is drawn in a page; larger ones have a page of their own.
const maxPicture = 400_000

// pictureOf draws a graph. A machine of very many states is left to `stepback graph`.
func pictureOf(g *graph.Graph, o graph.Options) Picture {
	var b bytes.Buffer
	if err := g.SVG(&b, o); err != nil || b.Len() > maxPicture {
		return Picture{SVG: markup.HTML(fmt.Sprintf(`<p class="dim">This graph has %d states; draw it with stepback graph.</p>`,
			len(g.Nodes)))}
	}
	return Picture{SVG: markup.HTML(b.String())}
}
