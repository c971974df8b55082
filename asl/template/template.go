// Package template compiles and evaluates the payload templates of the JSONPath language (Parameters,
// ResultSelector, ItemSelector, Assign, …). These are JSON values in which the values of keys ending in .$ are
// paths or intrinsic calls.
//
// It does not know about states or their order of evaluation. It never evaluates the value of a key without that
// ending: "$name" stays text there. Compile parses everything once; parts without dynamic keys are shared by all
// results.
package template

import (
	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// Env provides what a template reads: paths and randomness.
type Env = intrinsic.Env

// Template is a compiled template. It is immutable and safe for concurrent use.
type Template struct{ root node }

// Compile compiles a template. The error is a *FieldError that names the offending key.
func Compile(v jsonvalue.Value) (*Template, error) {
	root, err := compile(v)
	if err != nil {
		return nil, err
	}
	return &Template{root}, nil
}

// Eval returns the template with every dynamic key replaced by its value. The keys stay in the order of the
// template. The error is a *PathError if a path selects nothing, alone or as the argument of a call, and a
// *CallError if a call fails. Other errors of the Env are wrapped with the name of the field.
func (t *Template) Eval(env Env) (jsonvalue.Value, error) { return t.root.eval(env) }

// Reads reports whether a path of the template starts from the given root.
func (t *Template) Reads(root jsonpath.Root) bool {
	reads := false
	t.root.paths(func(p *jsonpath.Path) { reads = reads || p.Root() == root })
	return reads
}
