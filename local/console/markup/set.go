package markup

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"text/template/parse"
)

// Set is a set of templates that can call each other. It is safe for concurrent use.
type Set struct {
	trees     map[string]*parse.Tree
	functions map[string]reflect.Value
}

// New returns an empty set. Besides html/template's own functions, templates can call these; each returns a result,
// or a result and an error.
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

// With returns a set with the additional templates that text defines, which html/template must have escaped. name is
// the name of text in errors. Defining a template twice is an error.
func (s *Set) With(name, text string) (*Set, error) {
	known := map[string]any{"and": true, "or": true}
	for name := range s.functions {
		known[name] = true
	}
	more, err := parse.Parse(name, text, "", "", known)
	if err != nil {
		return nil, err
	}
	delete(more, name) // the text outside of the definitions
	all := maps.Clone(s.trees)
	for name, tree := range more {
		if all[name] != nil {
			return nil, fmt.Errorf("template %q is defined twice", name)
		}
		all[name] = tree
	}
	return &Set{all, s.functions}, nil
}

// Execute writes a template with its data. If it returns an error, part of the output may have been written.
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

// failure is the error that ends an execution.
type failure struct{ err error }

// fail ends the execution with an error at a node.
func (x *execution) fail(at parse.Node, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if x.tree != nil && at != nil {
		place, what := x.tree.ErrorContext(at)
		err = fmt.Errorf("template %s: at <%s>: %w", place, what, err)
	}
	panic(&failure{err})
}

var errNotThere = errors.New("is not defined")
