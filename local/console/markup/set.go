package markup

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"text/template/parse"
)

// Set is templates that call each other. It is safe for concurrent use.
type Set struct {
	trees     map[string]*parse.Tree
	functions map[string]reflect.Value
}

// New returns a set of no templates. The functions are what templates may call beside html/template's own: each has one
// result, or a result and an error.
func New(functions map[string]any) *Set {
	s := &Set{trees: map[string]*parse.Tree{}, functions: map[string]reflect.Value{}}
	for name, f := range own {
		s.functions[name] = reflect.ValueOf(f)
	}
	for name, f := range functions {
		s.functions[name] = reflect.ValueOf(f)
	}
	return s
}

// With returns the set with more templates: those that a text defines. They have been escaped by html/template. The
// name is the text's, for errors. A definition that is there already is an error.
func (s *Set) With(name, text string) (*Set, error) {
	known := map[string]any{"and": true, "or": true}
	for name := range s.functions {
		known[name] = true
	}
	more, err := parse.Parse(name, text, "", "", known)
	if err != nil {
		return nil, err
	}
	delete(more, name) // what is around the definitions
	all := maps.Clone(s.trees)
	for name, tree := range more {
		if all[name] != nil {
			return nil, fmt.Errorf("template %q is defined twice", name)
		}
		all[name] = tree
	}
	return &Set{all, s.functions}, nil
}

// Execute writes a template with its data. What has been written before an error is not taken back.
func (s *Set) Execute(w io.Writer, name string, data any) (err error) {
	x := &execution{set: s, w: w}
	defer func() {
		if r := recover(); r != nil {
			stopped, ok := r.(*failure)
			if !ok {
				panic(r)
			}
			err = stopped.err
		}
	}()
	x.template(nil, name, reflect.ValueOf(data))
	return nil
}

// failure is what ends an execution.
type failure struct{ err error }

// fail ends the execution at a node.
func (x *execution) fail(at parse.Node, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if x.tree != nil && at != nil {
		place, what := x.tree.ErrorContext(at)
		err = fmt.Errorf("template %s: at <%s>: %w", place, what, err)
	}
	panic(&failure{err})
}

var errNotThere = errors.New("is not defined")
