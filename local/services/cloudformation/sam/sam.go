package sam

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/local/services/cloudformation/template"
)

// Transform is the name of the transform.
const Transform = "AWS::Serverless-2016-10-31"

const prefix = "AWS::Serverless::"

// Expand replaces the resources of the Serverless Application Model by CloudFormation's. The error is a
// *template.Error.
func Expand(d *template.Document) error {
	resources, _ := d.Root["Resources"].(map[string]any)
	x := &expansion{resources: resources}
	if v, ok := d.Root["Globals"]; ok {
		if x.globals, ok = v.(map[string]any); !ok {
			return refuse("Globals must be an object")
		}
		for kind := range x.globals {
			if kind != "Function" && kind != "StateMachine" && kind != "SimpleTable" && kind != "LayerVersion" {
				return refuse("Globals of %s are not supported here", kind)
			}
		}
		delete(d.Root, "Globals")
	}
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		r, _ := resources[id].(map[string]any)
		typ, _ := r["Type"].(string)
		kind, ours := strings.CutPrefix(typ, prefix)
		if !ours {
			continue
		}
		p, ok := r["Properties"].(map[string]any)
		if !ok {
			p = map[string]any{}
		}
		global, _ := x.globals[kind].(map[string]any)
		one := &item{expansion: x, id: id, source: r, p: merged(global, p)}
		var err error
		switch kind {
		case "Function":
			err = one.function()
		case "StateMachine":
			err = one.machine()
		case "SimpleTable":
			err = one.table()
		case "LayerVersion":
			err = one.layer()
		default:
			err = refuse("Resource with id [%s] is invalid: the type %s is not supported here", id, typ)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func refuse(format string, args ...any) error {
	return &template.Error{Message: "Transform AWS::Serverless-2016-10-31 failed with: " + fmt.Sprintf(format, args...)}
}

type expansion struct {
	resources, globals map[string]any
}

// item is a resource that is being expanded.
type item struct {
	*expansion
	id     string
	source map[string]any
	p      map[string]any
}

func (x *item) invalid(format string, args ...any) error {
	return refuse("Resource with id [%s] is invalid. %s", x.id, fmt.Sprintf(format, args...))
}

// merged returns properties merged over those in Globals: objects are merged, lists joined, everything else replaced.
func merged(global, own map[string]any) map[string]any {
	to := maps.Clone(global)
	if to == nil {
		to = map[string]any{}
	}
	for k, v := range own {
		switch mine := v.(type) {
		case map[string]any:
			if g, ok := to[k].(map[string]any); ok {
				to[k] = merged(g, mine)
				continue
			}
		case []any:
			if g, ok := to[k].([]any); ok {
				to[k] = append(slices.Clone(g), mine...)
				continue
			}
		}
		to[k] = v
	}
	return to
}

// known rejects properties that are not supported.
func (x *item) known(names string) error {
	for _, k := range slices.Sorted(maps.Keys(x.p)) {
		if !slices.Contains(strings.Fields(names), k) {
			return x.invalid("The property %s is not supported here.", k)
		}
	}
	return nil
}

// add adds a resource with the attributes of the resource from which it is generated.
func (x *item) add(id, typ string, properties map[string]any) {
	r := map[string]any{"Type": typ, "Properties": properties}
	for _, k := range []string{"Condition", "DependsOn", "Metadata", "DeletionPolicy", "UpdateReplacePolicy"} {
		if v, ok := x.source[k]; ok && (k == "Condition" || id == x.id) {
			r[k] = v
		}
	}
	x.resources[id] = r
}

func copied(from map[string]any, names string) map[string]any {
	to := map[string]any{}
	for _, n := range strings.Fields(names) {
		a, b, renamed := strings.Cut(n, "=")
		if !renamed {
			b = a
		}
		if v, ok := from[a]; ok {
			to[b] = v
		}
	}
	return to
}

func ref(id string) any          { return map[string]any{"Ref": id} }
func getAtt(id, name string) any { return map[string]any{"Fn::GetAtt": []any{id, name}} }
func sub(text string) any        { return map[string]any{"Fn::Sub": text} }
func managed(name string) any    { return sub("arn:${AWS::Partition}:iam::aws:policy/" + name) }
func service(of string) any      { return of + ".amazonaws.com" }

// tags converts SAM's map of tags to CloudFormation's list.
func tags(v any, more ...string) any {
	m, _ := v.(map[string]any)
	list := []any{}
	for i := 0; i+1 < len(more); i += 2 {
		list = append(list, map[string]any{"Key": more[i], "Value": more[i+1]})
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, map[string]any{"Key": k, "Value": m[k]})
	}
	return list
}
