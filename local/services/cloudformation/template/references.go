package template

import (
	"maps"
	"slices"
	"sort"
	"strings"
)

// Reference is a reference to a resource or a parameter in a value.
type Reference struct {
	// Name is the logical ID, or the name of a parameter.
	Name string
	// Attribute is the attribute of Fn::GetAtt; empty for a Ref.
	Attribute string
	// Substituted is true if the reference is in the text of an Fn::Sub.
	Substituted bool
}

// AnyAttribute represents an attribute that a function computes.
const AnyAttribute = "*"

// References calls found for all references in a value. If conditions is not nil, only the selected branches of
// Fn::If are included.
func References(v any, conditions map[string]bool, found func(Reference)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			References(e, conditions, found)
		}
	case map[string]any:
		if len(v) == 1 {
			for k, arg := range v {
				if referencesOf(k, arg, conditions, found) {
					return
				}
			}
		}
		for _, k := range sortedKeys(v) {
			References(v[k], conditions, found)
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// referencesOf finds the references in a function's argument. It reports whether it has handled the function.
func referencesOf(name string, arg any, conditions map[string]bool, found func(Reference)) bool {
	switch name {
	case "Ref":
		if s, ok := arg.(string); ok {
			found(Reference{Name: s})
		}
		return true
	case "Fn::GetAtt":
		id, attribute := getAtt(arg)
		if id != "" {
			text, ok := attribute.(string)
			if !ok {
				text = AnyAttribute
			}
			found(Reference{Name: id, Attribute: text})
		}
		References(attribute, conditions, found)
		return true
	case "Fn::Sub":
		return referencesOfSub(arg, conditions, found)
	case "Fn::If":
		l, ok := arg.([]any)
		if !ok || len(l) != 3 || conditions == nil {
			return false
		}
		condition, _ := l[0].(string)
		holds, known := conditions[condition]
		if !known {
			return false
		}
		if holds {
			References(l[1], conditions, found)
		} else {
			References(l[2], conditions, found)
		}
		return true
	}
	return false
}

func referencesOfSub(arg any, conditions map[string]bool, found func(Reference)) bool {
	text, variables := arg, map[string]any(nil)
	if l, ok := arg.([]any); ok && len(l) == 2 {
		text = l[0]
		variables, _ = l[1].(map[string]any)
	}
	s, ok := text.(string)
	if !ok {
		return false
	}
	for _, name := range placeholders(s) {
		if _, ok := variables[name]; ok {
			continue
		}
		id, attribute, _ := strings.Cut(name, ".")
		found(Reference{Name: id, Attribute: attribute, Substituted: true})
	}
	References(variables, conditions, found)
	return true
}

// getAtt parses the argument of Fn::GetAtt: [id, attribute], or "id.attribute".
func getAtt(arg any) (id string, attribute any) {
	switch a := arg.(type) {
	case string:
		id, text, ok := strings.Cut(a, ".")
		if ok {
			return id, text
		}
	case []any:
		if len(a) >= 2 {
			id, _ = a[0].(string)
			if len(a) == 2 {
				return id, a[1]
			}
			parts := make([]string, 0, len(a)-1)
			for _, e := range a[1:] {
				s, _ := e.(string)
				parts = append(parts, s)
			}
			return id, strings.Join(parts, ".")
		}
	}
	return "", nil
}

// Pseudo reports whether a name is a pseudo parameter.
func Pseudo(name string) bool { return slices.Contains(pseudo, name) }

var pseudo = []string{"AWS::AccountId", "AWS::NotificationARNs", "AWS::NoValue", "AWS::Partition", "AWS::Region",
	"AWS::StackId", "AWS::StackName", "AWS::URLSuffix"}

// Graph lists the resources whose conditions hold, in the order of the template. Needs maps each resource to the
// resources that it depends on.
type Graph struct {
	IDs   []string
	Needs map[string][]string
}

// GraphOf returns the resources whose conditions hold, and their dependencies. It returns an *Error for a cycle, and
// for a reference to a resource whose condition does not hold.
func (t *Template) GraphOf(conditions map[string]bool) (*Graph, error) {
	g := &Graph{Needs: map[string][]string{}}
	there := map[string]bool{}
	for _, r := range t.Resources {
		if r.Condition == "" || conditions[r.Condition] {
			g.IDs = append(g.IDs, r.ID)
			there[r.ID] = true
		}
	}
	declared := map[string]bool{}
	for _, r := range t.Resources {
		declared[r.ID] = true
	}
	for _, r := range t.Resources {
		if !there[r.ID] {
			continue
		}
		needs := map[string]bool{}
		var missing string
		References(r.Properties, conditions, func(ref Reference) {
			switch {
			case there[ref.Name]:
				needs[ref.Name] = true
			case declared[ref.Name]:
				missing = ref.Name
			}
		})
		if missing != "" {
			return nil, unresolved("Resources", missing)
		}
		for _, d := range r.DependsOn {
			if there[d] { // AWS ignores a DependsOn on a resource excluded by a condition
				needs[d] = true
			}
		}
		list := make([]string, 0, len(needs))
		for n := range needs {
			list = append(list, n)
		}
		sort.Strings(list)
		g.Needs[r.ID] = list
	}
	if cycle := g.cycle(); len(cycle) > 0 {
		sort.Strings(cycle)
		return nil, wrong("Circular dependency between resources: [%s]", strings.Join(cycle, ", "))
	}
	return g, nil
}

// CheckOutputs returns an *Error if an output whose condition holds refers to a resource whose condition does not.
func (t *Template) CheckOutputs(conditions map[string]bool) error {
	missing := map[string]bool{}
	for _, o := range t.Outputs {
		if o.Condition == "" || conditions[o.Condition] {
			References([]any{o.Value, o.Export}, conditions, func(ref Reference) {
				if r := t.Resource(ref.Name); r != nil && r.Condition != "" && !conditions[r.Condition] {
					missing[ref.Name] = true
				}
			})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return unresolved("Outputs", slices.Sorted(maps.Keys(missing))...)
}

// unresolved returns the error for references to resources that the stack does not have.
func unresolved(block string, names ...string) error {
	return wrong("Template format error: Unresolved resource dependencies [%s] in the %s block of the template",
		strings.Join(names, ", "), block)
}

// cycle returns resources that depend on each other in a cycle; nil if there are none.
func (g *Graph) cycle() []string {
	const visiting, done = 1, 2
	state := map[string]int{}
	var path, cycle []string
	var visit func(id string) bool
	visit = func(id string) bool {
		switch state[id] {
		case done:
			return false
		case visiting:
			cycle = slices.Clone(path[slices.Index(path, id):])
			return true
		}
		state[id] = visiting
		path = append(path, id)
		for _, n := range g.Needs[id] {
			if visit(n) {
				return true
			}
		}
		path = path[:len(path)-1]
		state[id] = done
		return false
	}
	for _, id := range g.IDs {
		if visit(id) {
			return cycle
		}
	}
	return nil
}
