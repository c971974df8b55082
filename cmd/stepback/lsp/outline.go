package lsp

import (
	"strings"

	"stepback/asl/source"
	"stepback/cmd/stepback/definitions"
	"stepback/jsonvalue"
)

// outline holds the states of one definition of a document, with their positions in the text.
type outline struct {
	file   *definitions.File
	index  *source.Index
	root   jsonvalue.Value
	graphs []*graph
}

// graph is a machine, a branch or an item processor: states that refer to each other.
type graph struct {
	states []state
	// names are the places that name one of the states: StartAt, Next and Default.
	names []name
}

// state is a state with its positions in the text. at is its path in the definition.
type state struct {
	name, kind string
	at         source.Path
	key, whole source.Span
	graphs     []*graph // of a Map or Parallel state
}

// name is a value that names a state.
type name struct {
	text string
	at   source.Path
	span source.Span
}

// outlines returns the outlines of the document's definitions that can be parsed.
func (d *document) outlines() []*outline {
	files, _ := d.read()
	var all []*outline
	for i := range files {
		f := &files[i]
		root, err := jsonvalue.Parse(f.Document.JSON)
		if err != nil || len(f.Document.Problems) > 0 {
			continue
		}
		o := &outline{file: f, index: source.NewIndex(f.Document.JSON), root: root}
		o.graph(nil, root)
		all = append(all, o)
	}
	return all
}

// key returns the position of a member's name in the text.
func (o *outline) key(at source.Path) source.Span { return o.file.Document.Origin(o.index.Key(at)) }

// value returns the position of a value in the text.
func (o *outline) value(at source.Path) source.Span { return o.file.Document.Origin(o.index.Value(at)) }

// graph adds the graph at a path.
func (o *outline) graph(at source.Path, v jsonvalue.Value) *graph {
	g := &graph{}
	o.graphs = append(o.graphs, g)
	o.refer(g, at, v, "StartAt")
	states, _ := v.Get("States")
	if states.Kind() != jsonvalue.Object {
		return g
	}
	for i, key := range states.Keys() {
		s := states.At(i)
		p := at.Join(source.Member("States"), source.Member(key))
		made := state{name: key, kind: member(s, "Type").Text(), at: p, key: o.key(p), whole: o.value(p)}
		o.refer(g, p, s, "Next")
		o.refer(g, p, s, "Default")
		for _, list := range []string{"Catch", "Choices"} {
			o.each(p, s, list, func(p source.Path, v jsonvalue.Value) { o.refer(g, p, v, "Next") })
		}
		o.each(p, s, "Branches", func(p source.Path, v jsonvalue.Value) { made.graphs = append(made.graphs, o.graph(p, v)) })
		for _, inner := range []string{"Iterator", "ItemProcessor"} {
			if v := member(s, inner); v.Kind() == jsonvalue.Object {
				made.graphs = append(made.graphs, o.graph(p.Join(source.Member(inner)), v))
			}
		}
		g.states = append(g.states, made)
	}
	return g
}

// each calls f with the objects of a list.
func (o *outline) each(at source.Path, v jsonvalue.Value, list string, f func(source.Path, jsonvalue.Value)) {
	l := member(v, list)
	if l.Kind() != jsonvalue.Array {
		return
	}
	for i := range l.Len() {
		if l.At(i).Kind() == jsonvalue.Object {
			f(at.Join(source.Member(list), source.Element(i)), l.At(i))
		}
	}
}

// refer adds a member that names a state.
func (o *outline) refer(g *graph, at source.Path, v jsonvalue.Value, field string) {
	if t := member(v, field); t.Kind() == jsonvalue.String {
		p := at.Join(source.Member(field))
		g.names = append(g.names, name{t.Text(), p, o.value(p)})
	}
}

// member returns a member of an object; null if v is no object or lacks it.
func member(v jsonvalue.Value, field string) jsonvalue.Value {
	if v.Kind() != jsonvalue.Object {
		return jsonvalue.Value{}
	}
	m, _ := v.Get(field)
	return m
}

// within reports whether an offset is in a span or at its end.
func within(s source.Span, offset int) bool { return s.Start <= offset && offset <= s.End }

// stateAt returns the state that the text names at an offset, at its definition or in a transition. span is the
// position of the name. The state is nil if there is none.
func (d *document) stateAt(offset int) (o *outline, g *graph, s *state, span source.Span) {
	for _, o := range d.outlines() {
		for _, g := range o.graphs {
			for i := range g.states {
				if within(g.states[i].key, offset) {
					return o, g, &g.states[i], g.states[i].key
				}
			}
			for _, n := range g.names {
				if within(n.span, offset) {
					return o, g, g.state(n.text), n.span
				}
			}
		}
	}
	return nil, nil, nil, source.Span{}
}

// state returns the state with a name, or nil.
func (g *graph) state(text string) *state {
	for i := range g.states {
		if g.states[i].name == text {
			return &g.states[i]
		}
	}
	return nil
}

// bare returns the part of a span that is the name itself, without quotes. ok is false if the text writes the name in
// another way, such as with escapes.
func bare(text string, span source.Span, written string) (inner source.Span, ok bool) {
	if span.Start < 0 || span.End > len(text) || span.Start > span.End {
		return span, false
	}
	i := strings.Index(text[span.Start:span.End], written)
	if i < 0 || strings.Trim(text[span.Start:span.Start+i], `"'\`) != "" ||
		strings.Trim(text[span.Start+i+len(written):span.End], `"'\`) != "" {
		return span, false
	}
	return source.Span{Start: span.Start + i, End: span.Start + i + len(written)}, true
}
