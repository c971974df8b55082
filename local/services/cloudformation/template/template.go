package template

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// AWS's limits for templates.
const (
	MaxResources  = 500
	MaxParameters = 200
	MaxOutputs    = 200
	MaxMappings   = 200
)

// Template is a template that has been checked as far as that is possible without its parameters.
type Template struct {
	Version, Description string
	Metadata             any
	Transforms           []string
	Parameters           []Parameter
	Mappings             map[string]any
	Conditions           map[string]any
	Rules                map[string]any
	Resources            []Resource
	Outputs              []Output
}

// Resource is a resource as the template declares it.
type Resource struct {
	ID, Type   string
	Properties map[string]any
	DependsOn  []string
	Condition  string // empty for none
	// DeletionPolicy and UpdateReplacePolicy are Delete, Retain, RetainExceptOnCreate, Snapshot or a function; nil if
	// they are missing.
	DeletionPolicy, UpdateReplacePolicy any
	Metadata                            any
	CreationPolicy, UpdatePolicy        any
	Position                            Position
}

// Output is an output as the template declares it.
type Output struct {
	ID, Description, Condition string
	Value                      any
	Export                     any // its name; nil for none
}

var sections = []string{"AWSTemplateFormatVersion", "Description", "Metadata", "Parameters", "Rules", "Mappings",
	"Conditions", "Transform", "Resources", "Outputs", "Hooks"}

var attributes = []string{"Type", "Properties", "DependsOn", "Condition", "DeletionPolicy", "UpdateReplacePolicy",
	"Metadata", "CreationPolicy", "UpdatePolicy"}

var logicalID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]{1,255}$`) })

// Read interprets a document whose transforms have been expanded. The error is an *Error.
func Read(d *Document) (*Template, error) {
	t := &Template{}
	var unknown []string
	for k := range d.Root {
		if !slices.Contains(sections, k) {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return nil, wrong("Invalid template property or properties [%s]", strings.Join(unknown, ", "))
	}
	if v, ok := d.Root["AWSTemplateFormatVersion"]; ok {
		if t.Version, _ = v.(string); t.Version != "2010-09-09" {
			return nil, wrong("Template format error: unsupported value for AWSTemplateFormatVersion.")
		}
	}
	if v, ok := d.Root["Description"]; ok {
		if t.Description, ok = v.(string); !ok {
			return nil, wrong("Template format error: Description must be a string.")
		}
		const longest = 1024
		if len(t.Description) > longest {
			return nil, wrong("Template format error: 'Description' length is greater than %d.", longest)
		}
	}
	if _, ok := d.Root["Hooks"]; ok {
		return nil, wrong("Template format error: Hooks are not supported here.")
	}
	t.Metadata = d.Root["Metadata"]
	t.Transforms = TransformsOf(d)
	for _, section := range []string{"Parameters", "Mappings", "Conditions", "Rules", "Resources", "Outputs"} {
		if v, ok := d.Root[section]; ok {
			if _, ok := v.(map[string]any); !ok {
				return nil, wrong("Template format error: Any %s member must be an object.", section)
			}
		}
	}
	t.Mappings, _ = d.Root["Mappings"].(map[string]any)
	t.Conditions, _ = d.Root["Conditions"].(map[string]any)
	t.Rules, _ = d.Root["Rules"].(map[string]any)
	for _, read := range []func(*Document) error{t.readParameters, t.readResources, t.readOutputs} {
		if err := read(d); err != nil {
			return nil, err
		}
	}
	if err := t.checkMappings(); err != nil {
		return nil, err
	}
	if err := t.checkReferences(); err != nil {
		return nil, err
	}
	return t, t.checkFunctions()
}

// checkMappings rejects mappings that are not two keys deep, or whose values are not texts or lists.
func (t *Template) checkMappings() error {
	if n := len(t.Mappings); n > MaxMappings {
		return wrong("Template format error: Number of mappings, %d, is greater than maximum allowed, %d", n, MaxMappings)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Mappings)) {
		top, ok := t.Mappings[name].(map[string]any)
		if !ok {
			return wrong("Template format error: Every Mappings member %s must be a map", name)
		}
		for _, key := range slices.Sorted(maps.Keys(top)) {
			second, ok := top[key].(map[string]any)
			if !ok {
				return wrong("Template format error: Every Mappings member %s must be a map", key)
			}
			for _, v := range second {
				if _, ok := v.(map[string]any); ok {
					return wrong("Template format error: Every Mappings attribute must be a String or a List.")
				}
			}
		}
	}
	return nil
}

// ParametersOf reads only the parameters and the transforms of a document.
func ParametersOf(d *Document) (*Template, error) {
	t := &Template{Transforms: TransformsOf(d)}
	if v, ok := d.Root["Parameters"]; ok {
		if _, ok := v.(map[string]any); !ok {
			return nil, wrong("Template format error: Any Parameters member must be an object.")
		}
	}
	return t, t.readParameters(d)
}

// TransformsOf returns the transforms of a document in order.
func TransformsOf(d *Document) []string {
	var all []string
	add := func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case map[string]any:
			name, _ := v["Name"].(string)
			all = append(all, name)
		}
	}
	if l, ok := d.Root["Transform"].([]any); ok {
		for _, v := range l {
			add(v)
		}
		return all
	}
	add(d.Root["Transform"])
	return all
}

// Resource returns a resource by its logical ID; nil if there is none.
func (t *Template) Resource(id string) *Resource {
	for i := range t.Resources {
		if t.Resources[i].ID == id {
			return &t.Resources[i]
		}
	}
	return nil
}

func (t *Template) readResources(d *Document) error {
	m, _ := d.Root["Resources"].(map[string]any)
	if len(m) == 0 {
		return wrong("Template format error: At least one Resources member must be defined.")
	}
	if len(m) > MaxResources {
		return wrong("Template format error: Number of resources, %d, is greater than maximum allowed, %d", len(m),
			MaxResources)
	}
	for _, id := range d.Keys("Resources") {
		at := d.Position("Resources", id)
		if !logicalID().MatchString(id) {
			return wrong("Template format error: Resource name %s is non alphanumeric.%s", id, at)
		}
		v, ok := m[id].(map[string]any)
		if !ok {
			return wrong("Template format error: [/Resources/%s] resource definition is malformed%s", id, at)
		}
		r, err := readResource(id, v, at)
		if err != nil {
			return err
		}
		if _, ok := t.Conditions[r.Condition]; r.Condition != "" && !ok {
			return wrong("Template format error: Unresolved condition %s in resource %s%s", r.Condition, id, at)
		}
		t.Resources = append(t.Resources, r)
	}
	return nil
}

// String returns the position in parentheses, preceded by a space; empty if it is unknown.
func (p Position) String() string {
	if p.Line == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d, column %d)", p.Line, p.Column)
}

func readResource(id string, v map[string]any, at Position) (Resource, error) {
	r := Resource{ID: id, Position: at, Metadata: v["Metadata"], CreationPolicy: v["CreationPolicy"],
		UpdatePolicy: v["UpdatePolicy"], DeletionPolicy: v["DeletionPolicy"],
		UpdateReplacePolicy: v["UpdateReplacePolicy"]}
	for k := range v {
		if !slices.Contains(attributes, k) {
			return r, wrong("Invalid template resource property '%s'", k)
		}
	}
	r.Type, _ = v["Type"].(string)
	if r.Type == "" {
		return r, wrong("Template format error: [/Resources/%s] Every Resources object must contain a Type member.", id)
	}
	r.Properties = map[string]any{}
	if p, ok := v["Properties"]; ok && p != nil {
		if r.Properties, ok = p.(map[string]any); !ok {
			return r, wrong("Template format error: [/Resources/%s/Properties] 'Properties' must be an object.%s", id, at)
		}
	}
	switch d := v["DependsOn"].(type) {
	case nil:
	case string:
		r.DependsOn = []string{d}
	case []any:
		for _, e := range d {
			s, ok := e.(string)
			if !ok {
				return r, wrong("Template format error: DependsOn must be a string or list of strings in resource %s%s", id, at)
			}
			r.DependsOn = append(r.DependsOn, s)
		}
	default:
		return r, wrong("Template format error: DependsOn must be a string or list of strings in resource %s%s", id, at)
	}
	if c, ok := v["Condition"]; ok {
		if r.Condition, ok = c.(string); !ok {
			return r, wrong("Template format error: Condition of resource %s must be a string%s", id, at)
		}
	}
	for name, policy := range map[string]any{"DeletionPolicy": r.DeletionPolicy,
		"UpdateReplacePolicy": r.UpdateReplacePolicy} {
		if text, ok := policy.(string); ok && !validPolicy(name, text) {
			return r, wrong("Template error: Unrecognized %s %s for resource %s%s", name, text, id, at)
		}
		if policy == "Snapshot" && !slices.Contains(withSnapshots, r.Type) {
			return r, wrong("Template error: resource type %s does not support deletion policy Snapshot", r.Type)
		}
	}
	return r, nil
}

func validPolicy(name, text string) bool {
	return text == "Delete" || text == "Retain" || text == "Snapshot" ||
		text == "RetainExceptOnCreate" && name == "DeletionPolicy"
}

func (t *Template) readOutputs(d *Document) error {
	m, _ := d.Root["Outputs"].(map[string]any)
	if len(m) > MaxOutputs {
		return wrong("Template format error: Number of outputs, %d, is greater than maximum allowed, %d", len(m), MaxOutputs)
	}
	for _, id := range d.Keys("Outputs") {
		at := d.Position("Outputs", id)
		v, ok := m[id].(map[string]any)
		if !ok {
			return wrong("Template format error: [/Outputs/%s] output is malformed%s", id, at)
		}
		o := Output{ID: id, Value: v["Value"]}
		for k := range v {
			if k != "Value" && k != "Description" && k != "Export" && k != "Condition" {
				return wrong("Invalid template output property '%s' in output %s%s", k, id, at)
			}
		}
		if o.Value == nil {
			return wrong("Template format error: Every Outputs member must contain a Value object")
		}
		o.Description, _ = v["Description"].(string)
		o.Condition, _ = v["Condition"].(string)
		if _, ok := t.Conditions[o.Condition]; o.Condition != "" && !ok {
			return wrong("Template format error: Unresolved condition %s in output %s%s", o.Condition, id, at)
		}
		if e, ok := v["Export"]; ok {
			x, _ := e.(map[string]any)
			if len(x) != 1 || x["Name"] == nil {
				return wrong("Template format error: Export of output %s must have a Name and nothing else%s", id, at)
			}
			o.Export = x["Name"]
		}
		t.Outputs = append(t.Outputs, o)
	}
	return nil
}

// checkReferences rejects references to names that are not in the template.
func (t *Template) checkReferences() error {
	known := map[string]bool{}
	for _, r := range t.Resources {
		known[r.ID] = true
	}
	parameters := map[string]bool{}
	for _, p := range t.Parameters {
		parameters[p.Name] = true
		if known[p.Name] {
			return wrong("Template format error: %s is the name of a parameter and of a resource", p.Name)
		}
	}
	check := func(v any, block string) error {
		missing := map[string]bool{}
		var err error
		References(v, nil, func(r Reference) {
			switch {
			case known[r.Name] || r.Attribute == "" && (parameters[r.Name] || Pseudo(r.Name)):
			case r.Attribute != "" && !r.Substituted:
				if err == nil {
					err = wrong("Template error: instance of Fn::GetAtt references undefined resource %s", r.Name)
				}
			default:
				missing[r.Name] = true
			}
		})
		if err != nil || len(missing) == 0 {
			return err
		}
		return unresolved(block, slices.Sorted(maps.Keys(missing))...)
	}
	for _, r := range t.Resources {
		if err := check(r.Properties, "Resources"); err != nil {
			return err
		}
		for _, d := range r.DependsOn {
			if !known[d] {
				return unresolved("Resources", d)
			}
		}
	}
	for _, o := range t.Outputs {
		if err := check([]any{o.Value, o.Export}, "Outputs"); err != nil {
			return err
		}
	}
	return nil
}
