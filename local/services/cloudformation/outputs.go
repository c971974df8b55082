package cloudformation

import (
	"maps"
	"slices"

	"stepback/local/services/cloudformation/template"
)

// imports returns the names of the exports that the template imports.
func (d *deployment) imports() []string {
	names := map[string]bool{}
	env := d.env
	env.Import = func(name string) (string, error) { names[name] = true; return "", nil }
	env.Ref = func(string) (any, error) { return "", nil }
	env.Attribute = func(string, string) (any, error) { return "", nil }
	env.Dynamic = nil
	visit := func(v any) {
		importsOf(v, func(arg any) { _, _ = env.Evaluate(map[string]any{"Fn::ImportValue": arg}) })
	}
	for _, id := range d.c.graph.IDs {
		visit(d.c.Resource(id).Properties)
	}
	for _, o := range d.c.Outputs {
		visit(o.Value)
	}
	return slices.Sorted(maps.Keys(names))
}

func importsOf(v any, found func(any)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			importsOf(e, found)
		}
	case map[string]any:
		for k, e := range v {
			if k == "Fn::ImportValue" {
				found(e)
			}
			importsOf(e, found)
		}
	}
}

// outputs evaluates the outputs, and checks the exports against those of other stacks.
func (d *deployment) outputs() ([]output, error) {
	var all []output
	for _, o := range d.c.Outputs {
		if o.Condition != "" && !d.c.conditions[o.Condition] {
			continue
		}
		v, err := d.env.Evaluate(o.Value)
		if err != nil {
			return nil, err
		}
		text, ok := template.TextOf(v)
		if !ok {
			return nil, invalid("Template format error: The Value field of every Outputs member must evaluate to a String (%s).", o.ID)
		}
		made := output{Key: o.ID, Value: text, Description: o.Description}
		if o.Export != nil {
			name, err := d.env.Evaluate(o.Export)
			if err != nil {
				return nil, err
			}
			if made.Export, ok = template.TextOf(name); !ok || made.Export == "" {
				return nil, invalid("Template error: the Name of the export of output %s must be a string", o.ID)
			}
		}
		all = append(all, made)
	}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return all, d.s.checkExports(d.st, all)
}
