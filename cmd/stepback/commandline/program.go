package commandline

import (
	"fmt"
	"reflect"
	"slices"
)

// Version is a flag that requests the program's version. A line that contains it need not be complete.
type Version bool

// Program is a grammar of command lines.
type Program struct {
	top *Node
}

// New builds the grammar of a program from the struct that grammar points to; Parse parses into the same struct. New
// panics if the struct's tags are contradictory, because no input can fix that.
func New(name, description string, grammar any) *Program {
	top := build(grammar)
	top.Name, top.Help = name, description
	var asked bool
	help := &Flag{Short: 'h', help: true, Value: &Value{
		Name: "help", Help: "Show context-sensitive help.", target: reflect.ValueOf(&asked).Elem(), decode: decodeBool,
	}}
	help.flag = help
	top.Flags = append([]*Flag{help}, top.Flags...)
	top.check(nil)
	return &Program{top: top}
}

// Top returns the program as a node, with the verbs below it.
func (p *Program) Top() *Node { return p.top }

// build builds a node from a struct's fields.
func build(target any) *Node {
	n := &Node{Target: target}
	if h, ok := target.(interface{ Help() string }); ok {
		n.Detail = h.Help()
	}
	n.add(reflect.ValueOf(target).Elem(), "")
	return n
}

// add adds the fields of a struct; its flags are under the given heading unless they name one.
func (n *Node) add(v reflect.Value, group string) {
	for i := range v.NumField() {
		f, fv := v.Type().Field(i), v.Field(i)
		t := tagsOf(f)
		if t["group"] == "" {
			t["group"] = group
		}
		switch {
		case f.Anonymous:
			n.add(fv, t["group"])
		case !fv.CanSet():
			// A field that belongs to the verb itself.
		case t.has("cmd"):
			n.addVerb(f, fv, t)
		case t.has("arg"):
			a := newValue(f, fv, t)
			a.optional = t.has("optional") || a.hasDefault
			a.Required = !a.optional
			n.Args = append(n.Args, a)
		default:
			n.addFlag(f, fv, t)
		}
	}
}

func (n *Node) addVerb(f reflect.StructField, fv reflect.Value, t tags) {
	c := build(fv.Addr().Interface())
	c.Name, c.Help, c.Group, c.Hidden, c.Parent = nameOf(f, t), t["help"], t["group"], t.has("hidden"), n
	if t.has("default") {
		if n.byDefault != nil || t["default"] != "withargs" {
			panic("commandline: the verb " + c.Name + ": a node has one verb with default:\"withargs\"")
		}
		n.byDefault = c
	}
	n.Children = append(n.Children, c)
}

func (n *Node) addFlag(f reflect.StructField, fv reflect.Value, t tags) {
	flag := &Flag{
		Value: newValue(f, fv, t), Group: t["group"], Hidden: t.has("hidden"),
		placeholder: t["placeholder"], xor: t.list("xor"), version: f.Type == reflect.TypeFor[Version](),
	}
	flag.flag = flag
	flag.Required = t.has("required")
	for _, r := range t["short"] {
		flag.Short = r
	}
	n.Flags = append(n.Flags, flag)
}

func nameOf(f reflect.StructField, t tags) string {
	if t["name"] != "" {
		return t["name"]
	}
	return dashed(f.Name)
}

func newValue(f reflect.StructField, fv reflect.Value, t tags) *Value {
	v := &Value{
		Name: nameOf(f, t), Help: expand(t["help"], t), Enum: t.enum(), hasDefault: t.has("default"), byDefault: t["default"],
		envs: t.list("env"), kind: t["type"], sep: ',', typeName: f.Type.Name(), target: fv,
	}
	if s := t["sep"]; s == "none" {
		v.sep = noSep
	} else if s != "" {
		v.sep = []rune(s)[0]
	}
	v.decode = decoderOf(f.Type, v.kind)
	if v.decode == nil {
		panic(fmt.Sprintf("commandline: field %s: a %s cannot be read from a command line; a verb has the tag cmd", f.Name, f.Type))
	}
	return v
}

// check panics on ambiguous names, and on requirements that no line can satisfy.
func (n *Node) check(above []string) {
	names := slices.Clip(above)
	for _, f := range n.Flags {
		called := []string{"--" + f.Name}
		if f.Short != 0 {
			called = append(called, "-"+string(f.Short))
		}
		for _, c := range called {
			if slices.Contains(names, c) {
				panic("commandline: " + n.path() + " has two flags " + c)
			}
			names = append(names, c)
		}
		if f.Required && len(f.xor) > 0 {
			panic("commandline: --" + f.Name + " is required and excludes others")
		}
	}
	if len(n.Args) > 0 && len(n.Children) > 0 {
		panic("commandline: " + n.path() + " has arguments and verbs")
	}
	for i, a := range n.Args {
		if i > 0 && (a.Required && n.Args[i-1].optional || n.Args[i-1].isSlice()) {
			panic("commandline: " + n.path() + " can never take its argument " + a.Name)
		}
	}
	for i, c := range n.Children {
		if slices.ContainsFunc(n.Children[:i], func(o *Node) bool { return o.Name == c.Name }) {
			panic("commandline: there are two verbs " + c.path())
		}
		c.check(names)
	}
}
