package markup

import (
	"cmp"
	"io"
	"reflect"
	"slices"
	"text/template/parse"
)

// mostNested is the deepest nesting of template calls.
const mostNested = 1000

// execution is the execution of a template, including the templates that it calls.
type execution struct {
	set       *Set
	w         io.Writer
	tree      *parse.Tree // the tree being executed
	variables []variable  // innermost last
	depth     int
}

type variable struct {
	name  string
	value reflect.Value
}

// template executes a template with data as dot.
func (x *execution) template(at parse.Node, name string, data reflect.Value) {
	tree := x.set.trees[name]
	if tree == nil {
		x.fail(at, "template %q %w", name, errNotThere)
	}
	if x.depth >= mostNested {
		x.fail(at, "templates call each other more than %d deep", mostNested)
	}
	inner := &execution{set: x.set, w: x.w, tree: tree, variables: []variable{{"$", data}}, depth: x.depth + 1}
	inner.list(data, tree.Root)
}

// scope runs do and drops the variables that it declared.
func (x *execution) scope(do func()) {
	n := len(x.variables)
	do()
	x.variables = x.variables[:n]
}

func (x *execution) list(dot reflect.Value, list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		x.node(dot, n)
	}
}

func (x *execution) node(dot reflect.Value, n parse.Node) {
	switch n := n.(type) {
	case *parse.TextNode:
		x.write(n, n.Text)
	case *parse.ActionNode:
		if v := x.pipeline(dot, n.Pipe); len(n.Pipe.Decl) == 0 {
			x.print(n, v)
		}
	case *parse.IfNode:
		x.scope(func() {
			if truth(x.pipeline(dot, n.Pipe)) {
				x.list(dot, n.List)
			} else {
				x.list(dot, n.ElseList)
			}
		})
	case *parse.WithNode:
		x.scope(func() {
			if v := x.pipeline(dot, n.Pipe); truth(v) {
				x.list(v, n.List)
			} else {
				x.list(dot, n.ElseList)
			}
		})
	case *parse.RangeNode:
		x.scope(func() { x.loop(dot, n) })
	case *parse.TemplateNode:
		var data reflect.Value
		if n.Pipe != nil {
			data = x.pipeline(dot, n.Pipe)
		}
		x.template(n, n.Name, data)
	case *parse.CommentNode:
	default:
		x.fail(n, "%s is not known here", n)
	}
}

func (x *execution) write(at parse.Node, text []byte) {
	if _, err := x.w.Write(text); err != nil {
		x.fail(at, "%w", err)
	}
}

// print writes a value that has been escaped.
func (x *execution) print(at parse.Node, v reflect.Value) {
	if !v.IsValid() || v.Type() != reflect.TypeFor[escaped]() {
		x.fail(at, "nothing has escaped this value")
	}
	x.write(at, []byte(v.String()))
}

// loop executes a range action. Its variables hold the element, or the index and the element.
func (x *execution) loop(dot reflect.Value, n *parse.RangeNode) {
	declared := len(x.variables)
	over, _ := indirect(x.pipeline(dot, n.Pipe))
	element := func(index, value reflect.Value) {
		switch of := x.variables[declared:]; len(n.Pipe.Decl) {
		case 1:
			of[0].value = value
		case 2:
			of[0].value, of[1].value = index, value
		}
		x.scope(func() { x.list(value, n.List) })
	}
	if !over.IsValid() {
		x.list(dot, n.ElseList)
		return
	}
	switch over.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range over.Len() {
			element(reflect.ValueOf(i), over.Index(i))
		}
	case reflect.Map:
		keys := over.MapKeys()
		slices.SortFunc(keys, byText)
		for _, key := range keys {
			element(key, over.MapIndex(key))
		}
	default:
		x.fail(n, "range cannot go through a %s", over.Type())
	}
	if over.Len() == 0 {
		x.list(dot, n.ElseList)
	}
}

// byText orders map keys, which are strings.
func byText(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) }
