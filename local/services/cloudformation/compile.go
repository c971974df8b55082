package cloudformation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"sort"
	"strings"

	"stepback/aws"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/sam"
	"stepback/local/services/cloudformation/template"
)

// source is the source of a request's template.
type source struct {
	Body     *string `json:"TemplateBody"`
	URL      string  `json:"TemplateURL"`
	Previous bool    `json:"UsePreviousTemplate"`
}

// parameter is a template parameter in a request.
type parameter struct {
	Key      string `json:"ParameterKey"`
	Value    string `json:"ParameterValue,omitempty"`
	Previous bool   `json:"UsePreviousValue,omitempty"`
	Resolved string `json:"ResolvedValue,omitempty"`
}

// read returns the text of a template.
func (s *Service) read(ctx context.Context, scope aws.Scope, from source, st *stack) (string, error) {
	switch {
	case from.Body != nil && from.URL != "" || from.Previous && (from.Body != nil || from.URL != ""):
		return "", invalid("Exactly one of TemplateBody, TemplateURL and UsePreviousTemplate must be given")
	case from.Body != nil:
		if len(*from.Body) > template.MaxBodyBytes {
			return "", invalid(
				"1 validation error detected: Value at 'templateBody' failed to satisfy constraint: Member must have length less than or equal to %d",
				template.MaxBodyBytes,
			)
		}
		return *from.Body, nil
	case from.URL != "":
		return s.fetch(ctx, scope, from.URL)
	case from.Previous && st != nil && st.Template != "":
		return st.Template, nil
	}
	return "", invalid("Either Template URL or Template Body must be specified.")
}

// fetch reads a template from S3, by a URL with bucket and key in the path, or with the bucket in the host.
func (s *Service) fetch(ctx context.Context, scope aws.Scope, address string) (string, error) {
	bucket, key, version, err := objectOf(address)
	if err != nil {
		return "", err
	}
	body, err := s.opts.API(scope, s.identity(ctx, scope, "")).Object(ctx, bucket, key, version)
	if err != nil {
		return "", invalid("S3 error: %s", why(err))
	}
	if len(body) > template.MaxBytes {
		return "", invalid("Template may not exceed %d bytes in size.", template.MaxBytes)
	}
	return string(body), nil
}

func objectOf(address string) (bucket, key, version string, err error) {
	u, e := url.Parse(address)
	if e != nil || u.Host == "" {
		return "", "", "", invalid("TemplateURL must be a supported URL.")
	}
	if u.Scheme == "s3" {
		return "", "", "", invalid("S3 error: Domain name specified in %s is not a valid S3 domain", u.Host)
	}
	if !storage(u) {
		return "", "", "", invalid("TemplateURL must be a supported URL.")
	}
	version = u.Query().Get("versionId")
	path := strings.TrimPrefix(u.Path, "/")
	label, rest, _ := strings.Cut(u.Hostname(), ".")
	if (strings.HasPrefix(rest, "s3.") || strings.HasPrefix(rest, "s3-")) && label != "s3" {
		bucket, _, _ = strings.Cut(u.Hostname(), ".s3")
		key = path
	} else {
		bucket, key, _ = strings.Cut(path, "/")
	}
	if bucket == "" || key == "" {
		return "", "", "", invalid("TemplateURL must reference a valid S3 object to which you have access.")
	}
	return bucket, key, version, nil
}

// storage reports whether a URL may belong to S3: on AWS by its host name, otherwise for any host that is not public.
func storage(u *url.URL) bool {
	host := u.Hostname()
	labels := strings.Split(host, ".")
	if len(labels) == 1 || net.ParseIP(host) != nil ||
		slices.Contains([]string{"localhost", "local", "internal", "test"}, labels[len(labels)-1]) {
		return true
	}
	return slices.ContainsFunc(labels, func(l string) bool { return l == "s3" || strings.HasPrefix(l, "s3-") })
}

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
		delete(d.Root, "Transform")
		to.Processed = template.JSON(d.Root)
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

// allowed rejects resources of types that the request does not allow.
func (c *compiled) allowed(types []string) error {
	if len(types) == 0 {
		return nil
	}
	for _, id := range c.graph.IDs {
		if typ := c.Resource(id).Type; !slices.ContainsFunc(
			types,
			func(pattern string) bool { return aws.Matches(pattern, typ) },
		) {
			return invalid(
				"Resource type %s is not allowed by parameter ResourceTypes [%s]",
				typ,
				strings.Join(types, ", "),
			)
		}
	}
	return nil
}

// isFunction reports whether all properties are the result of a single function, such as Fn::If.
func isFunction(p map[string]any) bool {
	if len(p) != 1 {
		return false
	}
	for k := range p {
		return strings.HasPrefix(k, "Fn::")
	}
	return false
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

// capabilities returns the capabilities that a caller has to acknowledge, and the types that require them.
func (c *compiled) capabilities() (names []string, types []string) {
	kinds := map[string]bool{}
	named := false
	for _, id := range c.graph.IDs {
		r := c.Resource(id)
		if strings.HasPrefix(r.Type, "AWS::IAM::") {
			kinds[r.Type] = true
			for _, p := range []string{"RoleName", "ManagedPolicyName", "UserName", "GroupName", "InstanceProfileName"} {
				if _, ok := r.Properties[p]; ok && r.Type != "AWS::IAM::RolePolicy" {
					named = true
				}
			}
		}
	}
	types = slices.Sorted(maps.Keys(kinds))
	if len(types) > 0 {
		names = append(names, "CAPABILITY_IAM")
		if named {
			names = []string{"CAPABILITY_NAMED_IAM"}
		}
	}
	return names, types
}

// acknowledged returns an error if the caller has not acknowledged the required capabilities.
func (c *compiled) acknowledged(given []string, changeSet bool) error {
	needed, _ := c.capabilities()
	for _, n := range needed {
		if !slices.Contains(given, n) && (n != "CAPABILITY_IAM" || !slices.Contains(given, "CAPABILITY_NAMED_IAM")) {
			return &aws.Error{Code: "InsufficientCapabilitiesException",
				Message: fmt.Sprintf("Requires capabilities : [%s]", n)}
		}
	}
	if c.macros && !changeSet && !slices.Contains(given, "CAPABILITY_AUTO_EXPAND") {
		return &aws.Error{
			Code:    "InsufficientCapabilitiesException",
			Message: "Requires capabilities : [CAPABILITY_AUTO_EXPAND]",
		}
	}
	return nil
}

// dynamicOf returns a function that resolves dynamic references and caches their values.
func (s *Service) dynamicOf(ctx context.Context, scope aws.Scope) func(service, key string) (string, error) {
	known := map[string]string{}
	return func(service, key string) (string, error) {
		if v, ok := known[service+":"+key]; ok {
			return v, nil
		}
		v, err := s.dynamic(ctx, scope, service, key)
		if err == nil {
			known[service+":"+key] = v
		}
		return v, err
	}
}

func (s *Service) dynamic(ctx context.Context, scope aws.Scope, service, key string) (string, error) {
	api := s.opts.API(scope, s.identity(ctx, scope, ""))
	switch service {
	case "ssm", "ssm-secure":
		found, err := storedParameter(ctx, api, map[string]any{"Names": []any{key}, "WithDecryption": true})
		switch {
		case err != nil:
			return "", invalid("Unable to resolve the dynamic reference {{resolve:%s:%s}}: %s", service, key, why(err))
		case found == nil:
			return "", invalid("Unable to resolve the dynamic reference {{resolve:%s:%s}}: the parameter does not exist",
				service, key)
		case service == "ssm" && found.Type == "SecureString":
			return "", invalid("Non-secure ssm prefix was used for secure parameter: %s", key)
		}
		return found.Value, nil
	case "secretsmanager":
		return s.secret(ctx, api, key)
	}
	return "", invalid(
		"Template error: the dynamic reference {{resolve:%s:%s}} names a service that has none",
		service,
		key,
	)
}

// parameterValue is a parameter of Parameter Store.
type parameterValue struct{ Type, Value string }

// storedParameter reads a parameter of Parameter Store by the operation whose permission CloudFormation needs on AWS.
// It returns nil if the parameter does not exist.
func storedParameter(ctx context.Context, api API, in map[string]any) (*parameterValue, error) {
	var out struct{ Parameters []parameterValue }
	if err := api.Call(ctx, "ssm", "GetParameters", in, &out); err != nil || len(out.Parameters) == 0 {
		return nil, err
	}
	return &out.Parameters[0], nil
}

// secret resolves SECRET-ID:SecretString:JSON-KEY:VERSION-STAGE:VERSION-ID; the secret may be an ARN.
func (s *Service) secret(ctx context.Context, api API, key string) (string, error) {
	parts := strings.Split(key, ":")
	id, rest := parts[0], parts[1:]
	const arnParts = 7
	if parts[0] == "arn" && len(parts) >= arnParts {
		id, rest = strings.Join(parts[:arnParts], ":"), parts[arnParts:]
	}
	in := map[string]any{"SecretId": id}
	at := func(i int) string {
		if i < len(rest) {
			return rest[i]
		}
		return ""
	}
	if stage := at(2); stage != "" {
		in["VersionStage"] = stage
	}
	if version := at(3); version != "" {
		in["VersionId"] = version
	}
	var out struct{ SecretString string }
	if err := api.Call(ctx, "secretsmanager", "GetSecretValue", in, &out); err != nil {
		return "", invalid("Unable to resolve the dynamic reference {{resolve:secretsmanager:%s}}: %s", key, why(err))
	}
	name := at(1)
	if name == "" {
		return out.SecretString, nil
	}
	var members map[string]any
	if err := json.Unmarshal([]byte(out.SecretString), &members); err != nil {
		return "", invalid("Could not parse SecretString JSON of %s", id)
	}
	v, ok := members[name]
	if !ok {
		return "", invalid("Could not find a value associated with JSONKey %s in SecretString of %s", name, id)
	}
	text, ok := v.(string)
	if !ok {
		text = template.JSON(v)
	}
	return text, nil
}

// typeOf returns a resource type; nil if there is none.
func (s *Service) typeOf(name string) *resource.Type {
	if t := s.types[name]; t != nil {
		return t
	}
	return s.own(name)
}
