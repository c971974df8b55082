package strictyaml

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"stepback/internal/spelling"
)

// Object is an object of the document, with access to its members by name.
type Object struct {
	Value
	members map[string]Value
}

// Object returns the value's members, and reports those that are not in known as problems.
func (v Value) Object(known ...string) Object {
	o := Object{Value: v, members: map[string]Value{}}
	for _, m := range v.Members() {
		if !slices.Contains(known, m.Name) {
			m.key.Problem("there is no member %s here%s; known are %s", quoted(m.Name), suggestion(m.Name, known),
				list(known, "and"))
			continue
		}
		o.members[m.Name] = m.Value
	}
	return o
}

// Get returns a member, which may be absent.
func (o Object) Get(name string) Value {
	if v, ok := o.members[name]; ok {
		return v
	}
	return Value{r: o.r, path: join(o.path, name)}
}

// Need returns a member like Get, and reports a problem if it is missing.
func (o Object) Need(name string) Value {
	v := o.Get(name)
	if !v.Present() {
		o.Problem("the member %s is missing", name)
	}
	return v
}

// Member is one member of an object.
type Member struct {
	Name string
	Value
	key Value
}

// Members returns all members of an object in the order of the text, and reports a duplicate name as a problem.
func (v Value) Members() []Member {
	if v.node == nil {
		return nil
	}
	if v.node.Kind != yaml.MappingNode {
		v.Problem("an object is expected here, not %s", kindOf(v.node))
		return nil
	}
	var members []Member
	seen := map[string]bool{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := v.node.Content[i]
		at := Value{v.r, key, v.path}
		if key.Kind != yaml.ScalarNode {
			at.Problem("a name is expected here, not %s", kindOf(key))
			continue
		}
		if seen[key.Value] {
			at.Problem("the member %s occurs twice", quoted(key.Value))
			continue
		}
		seen[key.Value] = true
		members = append(members, Member{key.Value, Value{v.r, v.node.Content[i+1], join(v.path, key.Value)}, at})
	}
	return members
}

func join(path, name string) string {
	if len(name) > 80 {
		name = name[:80] + "…"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// suggestion returns a hint with the known name that was probably meant, or "".
func suggestion(name string, known []string) string {
	if k := spelling.Nearest(name, known); k != "" {
		return " (did you mean " + k + "?)"
	}
	return ""
}
