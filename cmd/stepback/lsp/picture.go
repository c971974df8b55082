package lsp

import (
	"encoding/json"
	"net/url"
	"strings"

	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/asl/source"
	drawing "stepback/engine/graph"
)

// methodGraph is the request for the picture of a definition. It is not part of the protocol; the extension for VS Code
// sends it.
const methodGraph = "stepback/graph"

// picture is the result of methodGraph. Its fields are empty if the document has no valid definition.
type picture struct {
	// Name is the name of the state machine.
	Name string `json:"name,omitempty"`
	// SVG is the picture. Each state is a link to # and its name.
	SVG string `json:"svg,omitempty"`
	// State is the innermost state around the position, and States are the places of all states.
	State  string   `json:"state,omitempty"`
	States []placed `json:"states"`
}

// placed is a state with the position of its name.
type placed struct {
	Name  string         `json:"name"`
	Range protocol.Range `json:"range"`
}

// drawn returns the picture of the definition around a position, or of the first one.
func (s *server) drawn(params json.RawMessage) (any, error) {
	var p protocol.TextDocumentPositionParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	offset := d.offset(p.Position)
	shown := picture{States: []placed{}}
	for i, o := range d.outlines() {
		state, around := o.innermost(offset)
		if i > 0 && !around {
			continue
		}
		m := o.file.Machine(false)
		if m == nil {
			continue
		}
		var b strings.Builder
		link := func(state string) string { return "#" + url.PathEscape(state) }
		if err := drawing.New(m, o.file.Name).SVG(&b, drawing.Options{Link: link}); err != nil {
			return nil, err
		}
		shown = picture{Name: o.file.Name, SVG: b.String(), State: state, States: d.places(o)}
		if around {
			break
		}
	}
	return shown, nil
}

// innermost returns the innermost state around an offset. around is false if there is none.
func (o *outline) innermost(offset int) (state string, around bool) {
	for _, g := range o.graphs { // outer graphs come first
		for i := range g.states {
			s := &g.states[i]
			if within(source.Span{Start: min(s.key.Start, s.whole.Start), End: max(s.key.End, s.whole.End)}, offset) {
				state, around = s.name, true
			}
		}
	}
	return state, around
}

// places returns the places of a definition's states.
func (d *document) places(o *outline) []placed {
	all := []placed{}
	for _, g := range o.graphs {
		for i := range g.states {
			all = append(all, placed{g.states[i].name, d.span(g.states[i].key)})
		}
	}
	return all
}
