package cloudformation

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"

	"stepback/aws"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/sam"
	"stepback/local/services/cloudformation/template"
)

// compiled is a template that is ready to be deployed.
type compiled struct {
	*template.Template
	env        *template.Env
	conditions map[string]bool
	graph      *template.Graph
	macros     bool
}

// declared parses a template as far as that is possible without parameters.
func declared(text string) (*template.Document, *template.Template, error) {
	d, err := template.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	if err := transforms(d); err != nil {
		return nil, nil, err
	}
	parameters, err := template.ParametersOf(d)
	if err != nil {
		return nil, nil, err
	}
	return d, parameters, nil
}

func transforms(d *template.Document) error {
	for _, name := range template.TransformsOf(d) {
		if name != template.LanguageExtensions && name != sam.Transform && name != template.Include {
			return invalid("No transform named %s found.", name)
		}
	}
	return nil
}

// prepare resolves the parameters of a deployment and checks the template.
func (s *Service) prepare(ctx context.Context, scope aws.Scope, to *deployed, given []parameter, previous *deployed,
) (*compiled, error) {
	_, head, err := declared(to.Template)
	if err != nil {
		return nil, err
	}
	byName := map[string]template.Given{}
	for _, p := range given {
		byName[p.Key] = template.Given{Value: p.Value, Previous: p.Previous}
	}
	var before map[string]string
	if previous != nil {
		before = previous.Values
	}
	if to.Values, err = head.Values(byName, before); err != nil {
		return nil, err
	}
	to.Resolved = map[string]string{}
	var missing []string
	for _, p := range head.Parameters {
		if !p.SSM() {
			continue
		}
		name := to.Values[p.Name]
		api := s.opts.API(scope, s.identity(ctx, scope, to.RoleARN))
		found, err := storedParameter(ctx, api, map[string]any{"Names": []any{name}})
		if err != nil {
			return nil, invalid("%s", why(err))
		}
		if found == nil {
			missing = append(missing, name)
			continue
		}
		to.Resolved[p.Name] = found.Value
	}
	if len(missing) > 0 {
		return nil, invalid("Unable to fetch parameters [%s] from parameter store for this account.",
			strings.Join(missing, ","))
	}
	if err := s.include(ctx, scope, to, head); err != nil {
		return nil, err
	}
	c, err := s.compile(scope, "", "", to)
	if err != nil {
		return nil, err
	}
	if err := s.admissible(c); err != nil {
		return nil, err
	}
	return c, c.CheckRules(c.env)
}

// include reads the snippets that a template includes.
func (s *Service) include(ctx context.Context, scope aws.Scope, to *deployed, head *template.Template) error {
	d, err := template.Parse(to.Template)
	if err != nil {
		return err
	}
	to.Included = map[string]string{}
	api := s.opts.API(scope, s.identity(ctx, scope, to.RoleARN))
	_, err = template.ExpandIncludes(d, environment(scope, "", "", to, d, head), func(location string) (string, error) {
		if text, ok := to.Included[location]; ok {
			return text, nil
		}
		bucket, key, version, err := snippetOf(location)
		if err != nil {
			return "", invalid("Transform AWS::Include failed with: The location parameter is not a valid S3 uri.")
		}
		body, err := api.Object(ctx, bucket, key, version)
		if err != nil {
			return "", invalid("Transform AWS::Include failed with: S3 error: %s", why(err))
		}
		if len(body) > template.MaxBytes {
			return "", invalid("Transform AWS::Include failed with: The content at %s exceeds %d bytes.", location, template.MaxBytes)
		}
		to.Included[location] = string(body)
		return string(body), nil
	})
	return err
}

// snippetOf returns the object that a location names: s3://BUCKET/KEY or a URL of S3.
func snippetOf(location string) (bucket, key, version string, err error) {
	if rest, ok := strings.CutPrefix(location, "s3://"); ok {
		bucket, key, _ = strings.Cut(rest, "/")
		if bucket != "" && key != "" {
			return bucket, key, "", nil
		}
	}
	return objectOf(location)
}

// environment returns the values of a deployment's parameters and the mappings of its template.
func environment(scope aws.Scope, name, id string, to *deployed, d *template.Document, head *template.Template) *template.Env {
	e := &template.Env{Values: map[string]any{}, Zones: zones}
	e.Mappings, _ = d.Root["Mappings"].(map[string]any)
	for _, p := range head.Parameters {
		value := to.Values[p.Name]
		if p.SSM() {
			value = to.Resolved[p.Name]
		}
		e.Values[p.Name] = p.Value(value)
	}
	for k, v := range pseudoParameters(scope, name, id, to.NotificationARNs) {
		e.Values[k] = v
	}
	return e
}

// compile parses the template to deploy with its parameters, and checks it.
func (s *Service) compile(scope aws.Scope, name, id string, to *deployed) (*compiled, error) {
	d, head, err := declared(to.Template)
	if err != nil {
		return nil, err
	}
	c := &compiled{env: environment(scope, name, id, to, d, head)}
	names := template.TransformsOf(d)
	included, err := template.ExpandIncludes(d, c.env, func(location string) (string, error) {
		text, ok := to.Included[location]
		if !ok {
			return "", invalid("Transform AWS::Include failed with: %s was not read when the deployment began.", location)
		}
		return text, nil
	})
	if err != nil {
		return nil, err
	}
	c.macros = len(names) > 0 || included
	c.env.Extensions = slices.Contains(names, template.LanguageExtensions)
	if err := template.Expand(d, c.env.Values); err != nil {
		return nil, err
	}
	if slices.Contains(names, sam.Transform) {
		if err := sam.Expand(d); err != nil {
			return nil, err
		}
	}
	to.Processed = to.Template
	if c.macros {
		expanded := maps.Clone(d.Root)
		delete(expanded, "Transform")
		to.Processed = template.JSON(expanded)
	}
	if c.Template, err = template.Read(d); err != nil {
		return nil, err
	}
	to.Description = c.Description
	c.env.Mappings = c.Mappings
	if c.conditions, err = c.EvaluateConditions(c.env); err != nil {
		return nil, err
	}
	c.env.Conditions = c.conditions
	if c.graph, err = c.GraphOf(c.conditions); err != nil {
		return nil, err
	}
	if err := c.mapped(); err != nil {
		return nil, err
	}
	return c, s.known(c)
}

// admissible rejects what earlier versions took, in templates that are given now. Stored templates stay as they are.
func (s *Service) admissible(c *compiled) error {
	if err := c.CheckDefaults(c.env.Extensions); err != nil {
		return err
	}
	if err := c.CheckOutputs(c.conditions); err != nil {
		return err
	}
	return s.attributes(c)
}

// attributes rejects Fn::GetAtt of attributes that resources do not have, before anything is created.
func (s *Service) attributes(c *compiled) error {
	values := make([]any, 0, len(c.graph.IDs)+len(c.Outputs))
	for _, id := range c.graph.IDs {
		values = append(values, c.Resource(id).Properties)
	}
	for _, o := range c.Outputs {
		if o.Condition == "" || c.conditions[o.Condition] {
			values = append(values, o.Value, o.Export)
		}
	}
	var wrong error
	template.References(values, c.conditions, func(ref template.Reference) {
		r := c.Resource(ref.Name)
		if wrong != nil || r == nil || ref.Attribute == "" || ref.Attribute == template.AnyAttribute {
			return
		}
		switch known, served := s.typeOf(r.Type).Attribute(ref.Attribute); {
		case !known:
			wrong = noAttribute(r.ID, ref.Attribute)
		case !served:
			wrong = invalid("Template error: the attribute %s of %s is not supported here", ref.Attribute, r.Type)
		}
	})
	return wrong
}

func noAttribute(id, name string) error {
	return invalid("Template error: resource %s does not support attribute type %s in Fn::GetAtt", id, name)
}

// known rejects unknown types and unknown properties before anything is created.
func (s *Service) known(c *compiled) error {
	var unknown []string
	for _, id := range c.graph.IDs {
		r := c.Resource(id)
		if s.typeOf(r.Type) == nil && !slices.Contains(unknown, r.Type) {
			unknown = append(unknown, r.Type)
		}
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return invalid("Template format error: Unrecognized resource types: [%s]", strings.Join(unknown, ", "))
	}
	for _, id := range c.graph.IDs {
		r := c.Resource(id)
		if p, ok := r.CreationPolicy.(map[string]any); ok && p["ResourceSignal"] != nil {
			return invalid("Template format error: the ResourceSignal of the CreationPolicy of %s is not supported", id)
		}
		if isFunction(r.Properties) {
			continue
		}
		given := r.Properties
		if _, ok := given["Fn::Transform"]; ok {
			return invalid("Template error: Fn::Transform in %s is not supported", id)
		}
		if err := s.typeOf(r.Type).Check(id, given); err != nil {
			return err
		}
	}
	return nil
}

// mapped rejects an Fn::FindInMap without a match before anything is created. Branches that Fn::If does not select
// are ignored.
func (c *compiled) mapped() error {
	var look func(v any) error
	look = func(v any) error {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if err := look(e); err != nil {
					return err
				}
			}
		case map[string]any:
			if _, ok := v["Fn::FindInMap"]; ok && len(v) == 1 {
				var wrong *template.Error
				if _, err := c.env.Evaluate(v); errors.As(err, &wrong) && strings.Contains(wrong.Message, "Unable to get mapping for") {
					return err
				}
				return nil
			}
			if _, ok := v["Fn::If"]; ok {
				return nil
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if err := look(v[k]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, id := range c.graph.IDs {
		if err := look(c.Resource(id).Properties); err != nil {
			return err
		}
	}
	for _, o := range c.Outputs {
		if o.Condition != "" && !c.conditions[o.Condition] {
			continue
		}
		if err := look(o.Value); err != nil {
			return err
		}
	}
	return nil
}

func zones(region string) []string {
	return []string{region + "a", region + "b", region + "c"}
}

func pseudoParameters(scope aws.Scope, name, id string, topics []string) map[string]any {
	arns := make([]any, 0, len(topics))
	for _, t := range topics {
		arns = append(arns, t)
	}
	return map[string]any{"AWS::AccountId": scope.Account, "AWS::Region": scope.Region,
		"AWS::Partition": scope.Partition(), "AWS::URLSuffix": aws.Domain(scope.Region), "AWS::StackName": name,
		"AWS::StackId": id, "AWS::NotificationARNs": arns}
}

// typeOf returns a resource type; nil if there is none.
func (s *Service) typeOf(name string) *resource.Type {
	if t := s.types[name]; t != nil {
		return t
	}
	return s.own(name)
}
