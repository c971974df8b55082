package cloudformation

import (
	"context"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/cloudformation/template"
)

type templateRequest struct {
	Stack     string `json:"StackName"`
	ChangeSet string `json:"ChangeSetName"`
	Stage     string `json:"TemplateStage"`
	source
}

type templateAnswer struct {
	Body   string   `json:"TemplateBody"`
	Stages []string `json:"StagesAvailable"`
}

func (s *Service) getTemplate(_ context.Context, scope aws.Scope, in *templateRequest) (*templateAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of *deployed
	if in.ChangeSet != "" {
		if in.Stack == "" && !strings.HasPrefix(in.ChangeSet, "arn:") {
			return nil, invalid("StackName is a required parameter.")
		}
		c, err := s.findSet(scope, in.ChangeSet, in.Stack)
		if err != nil {
			return nil, err
		}
		of = &c.Target
	} else {
		st, err := s.find(scope, in.Stack)
		if err != nil {
			return nil, err
		}
		if of = &st.deployed; of.Template == "" && st.Operation != nil {
			of = &st.Operation.Target
		}
	}
	out := &templateAnswer{Body: of.Template, Stages: []string{"Original", "Processed"}}
	if in.Stage == "Processed" {
		out.Body = of.Processed
	}
	return out, nil
}

type declaredParameter struct {
	Key         string  `json:"ParameterKey"`
	Default     *string `json:"DefaultValue,omitempty"`
	Type        string  `json:"ParameterType,omitempty"`
	NoEcho      bool
	Description string         `json:",omitempty"`
	Constraints map[string]any `json:"ParameterConstraints,omitempty"`
}

type templateSummary struct {
	Parameters         []declaredParameter
	Description        string   `json:",omitempty"`
	Capabilities       []string `json:",omitempty"`
	CapabilitiesReason string   `json:",omitempty"`
	ResourceTypes      []string
	Identifiers        []identifiers `json:"ResourceIdentifierSummaries"`
	Version            string        `json:",omitempty"`
	Metadata           string        `json:",omitempty"`
	DeclaredTransforms []string      `json:",omitempty"`
}

// identifiers lists the resources of a type, and the properties that identify such a resource when it is imported.
type identifiers struct {
	Type       string   `json:"ResourceType"`
	LogicalIDs []string `json:"LogicalResourceIds"`
	Names      []string `json:"ResourceIdentifiers,omitempty"`
}

// summarise parses a template, which may be that of a stack (stored), as far as possible with its parameters' defaults.
func (s *Service) summarise(ctx context.Context, scope aws.Scope, text string, stored bool) (*templateSummary, error) {
	d, head, err := declared(text)
	if err != nil {
		return nil, err
	}
	out := &templateSummary{Parameters: []declaredParameter{}, ResourceTypes: []string{},
		Identifiers: []identifiers{}, DeclaredTransforms: template.TransformsOf(d)}
	values := map[string]string{}
	for _, p := range head.Parameters {
		one := declaredParameter{Key: p.Name, Default: p.Default, Type: p.Type, NoEcho: p.NoEcho,
			Description: p.Description}
		if len(p.AllowedValues) > 0 {
			one.Constraints = map[string]any{"AllowedValues": p.AllowedValues}
		}
		out.Parameters = append(out.Parameters, one)
		if p.Default != nil {
			values[p.Name] = *p.Default
		}
	}
	to := &deployed{Template: text, Values: values, Resolved: values}
	if err := s.include(ctx, scope, to, head); err != nil {
		return nil, err
	}
	c, err := s.compile(scope, "", "", to)
	if err != nil {
		return nil, err
	}
	if !stored {
		if err := s.admissible(c); err != nil {
			return nil, err
		}
	}
	out.Description, out.Version = c.Description, c.Version
	if c.Metadata != nil {
		out.Metadata = template.JSON(c.Metadata)
	}
	for i := range c.Resources {
		r := &c.Resources[i]
		at := slices.Index(out.ResourceTypes, r.Type)
		if at < 0 {
			at = len(out.ResourceTypes)
			out.ResourceTypes = append(out.ResourceTypes, r.Type)
			of := identifiers{Type: r.Type}
			if t := s.typeOf(r.Type); t != nil && t.Read != nil {
				of.Names = t.IdentifiedBy()
			}
			out.Identifiers = append(out.Identifiers, of)
		}
		out.Identifiers[at].LogicalIDs = append(out.Identifiers[at].LogicalIDs, r.ID)
	}
	names, types := c.capabilities()
	out.Capabilities = append(out.Capabilities, names...)
	if c.macros {
		out.Capabilities = append(out.Capabilities, "CAPABILITY_AUTO_EXPAND")
	}
	if len(types) > 0 {
		out.CapabilitiesReason = "The following resource(s) require capabilities: " + template.JSON(types)
	}
	return out, nil
}

func (s *Service) getTemplateSummary(ctx context.Context, scope aws.Scope, in *templateRequest) (*templateSummary, error) {
	if in.Stack != "" {
		_, st, err := s.snapshot(scope, in.Stack)
		if err != nil {
			return nil, err
		}
		if st.Status == "REVIEW_IN_PROGRESS" {
			return nil, invalid("GetTemplateSummary cannot be called on REVIEW_IN_PROGRESS stacks.")
		}
		return s.summarise(ctx, scope, st.Template, true)
	}
	text, err := s.read(ctx, scope, in.source, nil)
	if err != nil {
		return nil, err
	}
	return s.summarise(ctx, scope, text, false)
}

type validated struct {
	Parameters         []declaredParameter
	Description        string   `json:",omitempty"`
	Capabilities       []string `json:",omitempty"`
	CapabilitiesReason string   `json:",omitempty"`
	DeclaredTransforms []string `json:",omitempty"`
}

func (s *Service) validateTemplate(ctx context.Context, scope aws.Scope, in *templateRequest) (*validated, error) {
	text, err := s.read(ctx, scope, in.source, nil)
	if err != nil {
		return nil, err
	}
	sum, err := s.summarise(ctx, scope, text, false)
	if err != nil {
		return nil, err
	}
	for i := range sum.Parameters {
		sum.Parameters[i].Type, sum.Parameters[i].Constraints = "", nil
	}
	return &validated{sum.Parameters, sum.Description, sum.Capabilities, sum.CapabilitiesReason,
		sum.DeclaredTransforms}, nil
}
