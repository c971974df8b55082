package lsp

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/asl/source"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// symbols returns the states of the document, with those of Map and Parallel states inside them.
func (s *server) symbols(_ *glsp.Context, p *protocol.DocumentSymbolParams) (any, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	all := []protocol.DocumentSymbol{}
	for _, o := range d.outlines() {
		all = append(all, d.symbolsOf(o.graphs[0])...)
	}
	return all, nil
}

func (d *document) symbolsOf(g *graph) []protocol.DocumentSymbol {
	symbols := make([]protocol.DocumentSymbol, 0, len(g.states))
	for i := range g.states {
		s := &g.states[i]
		whole := source.Span{Start: min(s.key.Start, s.whole.Start), End: max(s.key.End, s.whole.End)}
		symbol := protocol.DocumentSymbol{Name: s.name, Detail: &s.kind, Kind: protocol.SymbolKindFunction,
			Range: d.span(whole), SelectionRange: d.span(s.key)}
		if s.name == "" {
			symbol.Name = `""` // editors reject empty names
		}
		for _, inner := range s.graphs {
			symbol.Children = append(symbol.Children, d.symbolsOf(inner)...)
		}
		symbols = append(symbols, symbol)
	}
	return symbols
}

// definition returns the place of the state that a transition names.
func (s *server) definition(_ *glsp.Context, p *protocol.DefinitionParams) (any, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	if _, _, found, _ := d.stateAt(d.offset(p.Position)); found != nil {
		return protocol.Location{URI: d.uri, Range: d.span(found.key)}, nil
	}
	return nil, nil
}

// references returns the places that name the same state.
func (s *server) references(_ *glsp.Context, p *protocol.ReferenceParams) ([]protocol.Location, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	places := []protocol.Location{}
	_, g, found, _ := d.stateAt(d.offset(p.Position))
	if found == nil {
		return places, nil
	}
	if p.Context.IncludeDeclaration {
		places = append(places, protocol.Location{URI: d.uri, Range: d.span(found.key)})
	}
	for _, n := range g.names {
		if n.text == found.name {
			places = append(places, protocol.Location{URI: d.uri, Range: d.span(n.span)})
		}
	}
	return places, nil
}

// plainName matches the names that mean the same in JSON and in YAML, with and without quotes.
var plainName = lazyregexp.New(`^\p{L}[\p{L}\p{N}_.()/-]*( [\p{L}\p{N}_.()/-]+)*$`)

// maxStateName is the maximum length of a state's name, in characters.
const maxStateName = 80

// rename returns the edits that rename a state and the transitions to it.
func (s *server) rename(_ *glsp.Context, p *protocol.RenameParams) (*protocol.WorkspaceEdit, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	o, g, found, _ := d.stateAt(d.offset(p.Position))
	switch {
	case found == nil:
		return nil, errors.New("there is no state's name here")
	case p.NewName == found.name:
		return &protocol.WorkspaceEdit{}, nil
	case !plainName.MatchString(p.NewName), utf8.RuneCountInString(p.NewName) > maxStateName:
		return nil, fmt.Errorf("%q is no name for a state here: use 1 to %d letters, digits, spaces and _ . - / ( ), beginning with a letter",
			p.NewName, maxStateName)
	}
	for _, other := range o.graphs {
		if other.state(p.NewName) != nil {
			return nil, fmt.Errorf("the definition already has a state %q: choose another name", p.NewName)
		}
	}
	spans, inJSON := []source.Span{found.key}, []source.Span{o.index.Key(found.at)}
	for _, n := range g.names {
		if n.text == found.name {
			spans, inJSON = append(spans, n.span), append(inJSON, o.index.Value(n.at))
		}
	}
	var edits, expected []source.Edit
	for i, span := range spans {
		inner, ok := bare(d.text, span, found.name)
		if !ok {
			return nil, fmt.Errorf("line %d writes the name of the state in a way that cannot be edited: rename it by hand",
				d.position(span.Start).Line+1)
		}
		edits = append(edits, source.Edit{Span: inner, Text: p.NewName})
		expected = append(expected, source.Edit{Span: inJSON[i], Text: `"` + p.NewName + `"`})
	}
	// The edits are taken only if the edited text, read anew, is the definition with the new name.
	again, err := o.file.Reread(source.Apply(d.text, edits))
	if err != nil {
		return nil, err
	}
	got, err := jsonvalue.Parse(again.Document.JSON)
	want, wrong := jsonvalue.Parse(source.Apply(o.file.Document.JSON, expected))
	if err != nil || wrong != nil || !jsonvalue.Equal(got, want) {
		return nil, errors.New("the text is written in a way that rename cannot edit: rename the state by hand")
	}
	return d.workspaceEdit(edits), nil
}

// workspaceEdit returns edits of the document in the form of the protocol.
func (d *document) workspaceEdit(edits []source.Edit) *protocol.WorkspaceEdit {
	texts := make([]protocol.TextEdit, 0, len(edits))
	for _, e := range edits {
		texts = append(texts, protocol.TextEdit{Range: d.span(e.Span), NewText: e.Text})
	}
	return &protocol.WorkspaceEdit{Changes: map[protocol.DocumentUri][]protocol.TextEdit{d.uri: texts}}
}
