package cloudformation

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/template"
)

// change is a deployment's change of a resource, as in change sets.
type change struct {
	Action, LogicalID, Physical, Type string
	Replacement                       string   `json:",omitempty"`
	Policy                            string   `json:",omitempty"`
	Scope                             []string `json:",omitempty"`
	Details                           []detail `json:",omitempty"`
	Before, After                     string   `json:",omitempty"` // contexts, as JSON

	wanted *made // the resource to create; nil unless the action is an addition
}

// detail describes a change of one attribute or property of a resource, and its cause.
type detail struct {
	Attribute, Name    string `json:",omitempty"`
	Path               string `json:",omitempty"`
	Recreation         string `json:",omitempty"` // Never, Conditionally, Always
	Before, After      *string
	Kind               string `json:",omitempty"` // Add, Remove, Modify
	Evaluation, Source string
	Cause              string `json:",omitempty"`
	Valued             bool   `json:",omitempty"` // shown only if property values are requested
}

// knownAfterApply stands for a value that is known only after the deployment.
const knownAfterApply = "{{changeSet:KNOWN_AFTER_APPLY}}"

// planner computes what a deployment would do.
type planner struct {
	s    *Service
	st   *stack
	c    *compiled
	to   *deployed
	done map[string]*change // by logical ID; nil for unchanged resources

	settled *settled
}

// plan lists the changes of a deployment of the target, in the order of the template, followed by what it would
// remove.
func (s *Service) plan(ctx context.Context, st *stack, to *deployed) ([]change, *compiled, error) {
	ctx = s.acting(ctx, st.scope(), to.RoleARN)
	c, err := s.compile(st.scope(), st.Name, st.ID, to)
	if err != nil {
		return nil, nil, err
	}
	p := &planner{s: s, st: st, c: c, to: to, done: map[string]*change{}}
	p.settled = &settled{s: s, st: st, c: c, to: to, changes: func(id string) bool { return p.done[id] != nil }}
	c.env.Ref, c.env.Attribute = p.ref, p.attribute
	c.env.Import = func(name string) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		value, _, ok := s.export(st.scope(), name)
		if !ok {
			return "", invalid("No export named %s found.", name)
		}
		return value, nil
	}
	c.env.Dynamic = s.dynamicOf(ctx, st.scope())
	for _, id := range c.order() {
		made, err := p.resource(id)
		if err != nil {
			return nil, nil, err
		}
		p.done[id] = made
	}
	var changes []change
	for _, id := range c.graph.IDs {
		if p.done[id] != nil {
			changes = append(changes, *p.done[id])
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range st.ids() {
		r := st.resources[id]
		if !r.exists() || slices.Contains(c.graph.IDs, id) {
			continue
		}
		policy := "Delete"
		if strings.HasPrefix(r.DeletionPolicy, "Retain") {
			policy = "Retain"
		}
		changes = append(changes, change{Action: "Remove", LogicalID: id, Physical: r.Physical, Type: r.Type, Policy: policy,
			Before: contextOf(r.Properties, r.Metadata)})
	}
	return changes, c, nil
}

// order returns the resources, each after those that it needs.
func (c *compiled) order() []string {
	var order []string
	seen := map[string]bool{}
	var visit func(string)
	visit = func(id string) {
		if seen[id] {
			return
		}
		seen[id] = true
		for _, n := range c.graph.Needs[id] {
			visit(n)
		}
		order = append(order, id)
	}
	for _, id := range c.graph.IDs {
		visit(id)
	}
	return order
}

func (p *planner) record(id string) *record {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if r := p.st.resources[id]; r != nil && r.exists() {
		return r
	}
	return nil
}

func (p *planner) ref(id string) (any, error) {
	r := p.record(id)
	if ch := p.done[id]; r == nil || ch != nil && ch.Replacement == "True" {
		return template.Unknown{Resource: id}, nil
	}
	return r.ref(), nil
}

func (p *planner) attribute(id, name string) (any, error) {
	r := p.record(id)
	ch := p.done[id]
	if r == nil || ch != nil && (ch.Replacement == "True" || !stable(r.Type, name)) {
		return template.Unknown{Resource: id, Attribute: name}, nil
	}
	return r.attribute(name)
}

// stable reports whether an attribute keeps its value when its resource is changed in place.
func stable(typ, name string) bool {
	if isCustom(typ) || typ == stackType {
		return false
	}
	for _, suffix := range []string{"Arn", "Name", "Url", "URL", "Uri", "UUID"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return strings.HasSuffix(name, "Id") && name != "StateMachineRevisionId"
}

func contextOf(properties map[string]any, metadata any) string {
	m := map[string]any{"Properties": shownValue(properties)}
	if metadata != nil {
		m["Metadata"] = metadata
	}
	return template.JSON(m)
}

// shownValue converts all scalars to texts, and replaces values that are not known yet.
func shownValue(v any) any {
	switch v := v.(type) {
	case template.Unknown:
		return knownAfterApply
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = shownValue(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = shownValue(e)
		}
		return l
	}
	if text, ok := template.TextOf(v); ok {
		return text
	}
	return v
}

func (p *planner) resource(id string) (*change, error) {
	t := p.c.Resource(id)
	v, err := p.c.env.Evaluate(t.Properties)
	if err != nil {
		return nil, err
	}
	properties, _ := v.(map[string]any)
	typ := p.s.typeOf(t.Type)
	if err := typ.Check(id, properties); err != nil {
		return nil, err
	}
	r := p.record(id)
	if r != nil && r.Type == t.Type {
		p.settled.keep(id, r.Properties, properties)
	}
	if r == nil {
		policy, _ := t.DeletionPolicy.(string)
		return &change{Action: "Add", LogicalID: id, Type: t.Type, After: contextOf(properties, t.Metadata),
			wanted: &made{Type: t.Type, Properties: properties, DeletionPolicy: policy}}, nil
	}
	ch := &change{Action: "Modify", LogicalID: id, Physical: r.Physical, Type: t.Type, Replacement: "False",
		Before: contextOf(r.Properties, r.Metadata), After: contextOf(properties, t.Metadata)}
	if r.Type != t.Type {
		ch.Replacement, ch.Scope, ch.Policy = "True", []string{"Properties"}, "ReplaceAndDelete"
		return ch, nil
	}
	names := changedProperties(r.Properties, properties)
	for _, name := range names {
		p.details(ch, typ, name, r.Properties, properties, t.Properties[name])
	}
	if _, takes := typ.Properties["Tags"]; takes && typ.Update != nil && !slices.Contains(names, "Tags") &&
		!reflect.DeepEqual(nonNil(r.Tags), nonNil(p.to.Tags)) {
		before, after := template.JSON(tagsIn(r.Tags)), template.JSON(tagsIn(p.to.Tags))
		ch.add("Tags", detail{Attribute: "Tags", Recreation: "Never", Before: &before, After: &after, Kind: "Modify",
			Path: "/Tags", Evaluation: "Static", Source: "DirectModification"})
	}
	if t.Metadata != nil || r.Metadata != nil {
		if m, err := p.c.env.Evaluate(t.Metadata); err == nil && !reflect.DeepEqual(m, r.Metadata) {
			ch.add("Metadata", detail{Attribute: "Metadata", Evaluation: "Static", Source: "DirectModification", Kind: "Modify"})
		}
	}
	for attribute, pair := range map[string][2]any{"DeletionPolicy": {r.DeletionPolicy, t.DeletionPolicy},
		"UpdateReplacePolicy": {r.UpdateReplacePolicy, t.UpdateReplacePolicy}} {
		v, err := p.c.env.Evaluate(pair[1])
		if err != nil {
			return nil, err
		}
		after, _ := v.(string)
		if before, _ := pair[0].(string); before != after {
			ch.add(attribute, detail{Attribute: attribute, Evaluation: "Static", Source: "DirectModification", Kind: "Modify",
				Before: &before, After: &after})
		}
	}
	if len(ch.Details) == 0 {
		return nil, nil //nolint:nilnil // it stays as it is
	}
	if ch.Replacement == "True" {
		ch.Policy = "ReplaceAndDelete"
		if strings.HasPrefix(r.UpdateReplacePolicy, "Retain") {
			ch.Policy = "ReplaceAndRetain"
		}
	}
	return ch, nil
}

func (ch *change) add(scope string, d detail) {
	if !slices.Contains(ch.Scope, scope) {
		ch.Scope = append(ch.Scope, scope)
	}
	ch.Details = append(ch.Details, d)
}

// details adds the details of a property's change: one for the value itself, and one for the resource or parameter
// that causes the change. Their evaluation (Static or Dynamic) and the omission of values match change sets recorded
// on AWS.
func (p *planner) details(ch *change, t *resource.Type, name string, before, after map[string]any, source any) {
	d := detail{Attribute: "Properties", Name: name, Path: "/Properties/" + name, Recreation: "Never", Kind: "Modify",
		Evaluation: "Static", Source: "DirectModification"}
	scope := "Properties"
	if name == "Tags" {
		d.Attribute, d.Name, scope = "Tags", "", "Tags"
	}
	b, had := before[name]
	a, has := after[name]
	switch {
	case !had:
		d.Kind = "Add"
	case !has:
		d.Kind = "Remove"
	}
	if had {
		text := shownText(b)
		d.Before = &text
	}
	if has {
		text := shownText(a)
		d.After = &text
	}
	_, unknown := template.FindUnknown(a)
	if len(t.Replaces([]string{name})) > 0 {
		d.Recreation = "Always"
		if ch.Replacement != "True" {
			ch.Replacement = "True"
			if unknown && !p.replaced(source) {
				ch.Replacement = "Conditional"
			}
		}
	}
	caused := d
	template.References(source, p.c.conditions, func(ref template.Reference) {
		cause := p.done[ref.Name]
		if cause == nil || caused.Cause != "" {
			return
		}
		caused.Source, caused.Cause = "ResourceReference", ref.Name
		if ref.Attribute != "" {
			caused.Source, caused.Cause = "ResourceAttribute", ref.Name+"."+ref.Attribute
		}
		if !certain(cause) {
			caused.Evaluation = "Dynamic"
		}
		d.Valued = true
	})
	template.References(source, p.c.conditions, func(ref template.Reference) {
		now, is := p.to.Values[ref.Name]
		if old := p.st.Values[ref.Name]; is && old != now && caused.Cause == "" {
			caused.Source, caused.Cause = "ParameterReference", ref.Name
		}
	})
	if caused.Cause == "" {
		if unknown {
			d.Evaluation = "Dynamic"
		}
		ch.add(scope, d)
		return
	}
	d.Evaluation = "Dynamic"
	ch.add(scope, d)
	ch.add(scope, caused)
}

func shownText(v any) string {
	shown := shownValue(v)
	if text, ok := shown.(string); ok {
		return text
	}
	return template.JSON(shown)
}

// certain reports whether a resource will certainly be a different one, so that references to it certainly change.
func certain(ch *change) bool { return ch.Replacement == "True" || ch.Action == "Add" }

// replaced reports whether a value will certainly be different, because it refers to a resource that is replaced or
// new.
func (p *planner) replaced(source any) (is bool) {
	template.References(source, p.c.conditions, func(ref template.Reference) {
		if ch := p.done[ref.Name]; ch != nil && certain(ch) {
			is = true
		}
	})
	return is
}

// differs reports whether a deployment would change anything in a stack.
func (s *Service) differs(ctx context.Context, st *stack, to *deployed) (bool, error) {
	changes, c, err := s.plan(ctx, st, to)
	if err != nil || len(changes) > 0 {
		return true, err
	}
	return s.outerDiffers(st, to, c)
}

// outerDiffers reports whether anything other than a resource changes: outputs, tags, description and the like.
func (s *Service) outerDiffers(st *stack, to *deployed, c *compiled) (bool, error) {
	if !reflect.DeepEqual(nonNil(st.Tags), nonNil(to.Tags)) || st.Description != to.Description ||
		!slices.Equal(st.NotificationARNs, to.NotificationARNs) || !reflect.DeepEqual(st.Rollback, to.Rollback) {
		return true, nil
	}
	settled := &settled{s: s, st: st, c: c, to: to, changes: func(string) bool { return false }}
	var now []output
	for _, o := range c.Outputs {
		if o.Condition != "" && !c.conditions[o.Condition] {
			continue
		}
		made := output{Key: o.ID, Description: o.Description}
		for to, v := range map[*string]any{&made.Value: o.Value, &made.Export: o.Export} {
			value, err := c.env.Evaluate(v)
			if err != nil {
				return false, err
			}
			*to, _ = template.TextOf(value)
		}
		now = append(now, settled.output(o, made))
	}
	before := slices.Clone(st.Outputs)
	sortOutputs(before)
	sortOutputs(now)
	return !slices.Equal(before, now), nil
}
