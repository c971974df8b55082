package template

import (
	"slices"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/asl/jsonvalue"
)

// Template is a compiled payload template.
type Template struct {
	root        part
	expressions []*Expression
}

// part is a piece of a template: an expression, or a value with holes.
type part struct {
	expression *Expression
	// literal is the value itself when there are no holes, and the object or array to be filled otherwise.
	literal jsonvalue.Value
	holes   []hole
}

// hole is a member or element that must be evaluated.
type hole struct {
	at   int
	part part
}

func (p *part) isLiteral() bool { return p.expression == nil && len(p.holes) == 0 }

// Eval evaluates the template. The error is an *Error.
func (t *Template) Eval(env intrinsic.Env) (jsonvalue.Value, error) { return t.root.eval(env) }

func (p *part) eval(env intrinsic.Env) (jsonvalue.Value, error) {
	if p.expression != nil {
		return p.expression.Eval(env)
	}
	if len(p.holes) == 0 {
		return p.literal, nil
	}
	values := slices.Clone(p.literal.Elements())
	for i := range p.holes {
		h := &p.holes[i]
		v, err := h.part.eval(env)
		if err != nil {
			return jsonvalue.Value{}, err
		}
		values[h.at] = v
	}
	return p.literal.WithElements(values), nil
}

// Paths returns all paths in the template, in source order.
func (t *Template) Paths() []*jsonpath.Path {
	var paths []*jsonpath.Path
	for _, e := range t.expressions {
		paths = append(paths, e.Paths()...)
	}
	return paths
}

// References returns the names of the variables that the template reads, each once, in source order.
func (t *Template) References() []string {
	var names []string
	for _, p := range t.Paths() {
		if p.Root() == jsonpath.Variable && !slices.Contains(names, p.Variable()) {
			names = append(names, p.Variable())
		}
	}
	return names
}
