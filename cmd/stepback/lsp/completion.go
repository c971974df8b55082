package lsp

import (
	"regexp"

	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/asl"
	"stepback/asl/source"
)

// completed matches the text of a line up to the value of a field that has completions.
var completed = regexp.MustCompile(`(?:^|[\s{,"'\\])(Next|Default|StartAt|Type)\\?["']?\s*:\s*\\?["']?([^"',{}\\:]*)$`)

// stateTypes are the values of Type.
var stateTypes = []asl.Type{asl.Task, asl.Pass, asl.Choice, asl.Wait, asl.Succeed, asl.Fail, asl.Parallel, asl.Map}

// complete returns the states to which the transition at a position can lead, or the types of states.
func (s *server) complete(_ *glsp.Context, p *protocol.CompletionParams) (any, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	items := []protocol.CompletionItem{}
	offset := d.offset(p.Position)
	line := d.text[d.starts[d.position(offset).Line]:offset]
	m := completed.FindStringSubmatchIndex(line)
	if m == nil {
		return items, nil
	}
	written := d.span(source.Span{Start: offset - (len(line) - m[4]), End: offset})
	add := func(label string, kind protocol.CompletionItemKind, detail string) {
		items = append(items, protocol.CompletionItem{Label: label, Kind: &kind, Detail: &detail,
			TextEdit: protocol.TextEdit{Range: written, NewText: label}})
	}
	outlines := d.outlines()
	if line[m[2]:m[3]] == "Type" {
		if len(outlines) > 0 { // other documents have fields of this name, too
			for _, t := range stateTypes {
				add(string(t), protocol.CompletionItemKindEnumMember, "state type")
			}
		}
		return items, nil
	}
	for _, g := range graphsAt(outlines, offset) {
		for i := range g.states {
			add(g.states[i].name, protocol.CompletionItemKindReference, g.states[i].kind+" state")
		}
	}
	return items, nil
}

// graphsAt returns the graph that the transition at an offset belongs to. While the transition has no value yet, these
// are all graphs.
func graphsAt(outlines []*outline, offset int) []*graph {
	var all []*graph
	for _, o := range outlines {
		for _, g := range o.graphs {
			for _, n := range g.names {
				if within(n.span, offset) {
					return []*graph{g}
				}
			}
			all = append(all, g)
		}
	}
	return all
}
