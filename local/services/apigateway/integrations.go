package apigateway

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
)

// integrationAnswer is an integration as returned in responses.
type integrationAnswer struct {
	APIGatewayManaged bool   `json:"ApiGatewayManaged,omitempty"`
	IntegrationID     string `json:"IntegrationId"`
	integrationSettings
	ContentHandlingStrategy                string            `json:",omitempty"`
	IntegrationResponseSelectionExpression string            `json:",omitempty"`
	PassthroughBehavior                    string            `json:",omitempty"`
	RequestTemplates                       map[string]string `json:",omitempty"`
	TemplateSelectionExpression            string            `json:",omitempty"`
}

func (i *integration) shown() *integrationAnswer {
	return &integrationAnswer{
		APIGatewayManaged:   i.Managed,
		IntegrationID:       i.ID,
		integrationSettings: i.integrationSettings,
	}
}

const (
	longestTimeout = 30000 // milliseconds; also the default
	format1        = "1.0"
	format2        = "2.0"
)

// complete sets defaults, and rejects values that are not supported.
func (i *integration) complete() error {
	if i.ConnectionType == "" {
		i.ConnectionType = "INTERNET"
	}
	if i.ConnectionType != "INTERNET" || i.ConnectionID != "" {
		return invalid("VPC links are not served here: ConnectionType is INTERNET")
	}
	if i.TimeoutInMillis == 0 {
		i.TimeoutInMillis = longestTimeout
	}
	switch i.IntegrationType {
	case "AWS_PROXY":
		if i.IntegrationSubtype != "" {
			return i.completeService()
		}
		if _, ok := functionOf(i.IntegrationURI); !ok {
			return invalid("Invalid function ARN or invalid uri")
		}
		if i.PayloadFormatVersion == "" {
			return invalid("PayloadFormatVersion is a required parameter for integration")
		}
		if i.IntegrationMethod == "" {
			i.IntegrationMethod = "POST"
		}
		if i.PayloadFormatVersion != format1 && i.PayloadFormatVersion != format2 {
			return invalid("Invalid PayloadFormatVersion specified. Valid values are: [1.0, 2.0]")
		}
	case "HTTP_PROXY":
		u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(i.IntegrationURI))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return invalid("Invalid HTTP endpoint specified for URI")
		}
		if i.IntegrationMethod == "" {
			return invalid("HttpMethod must be specified for HTTP_PROXY integration")
		}
		if i.PayloadFormatVersion == "" {
			return invalid("PayloadFormatVersion is a required parameter for integration")
		}
		if i.PayloadFormatVersion != format1 {
			return invalid("Invalid PayloadFormatVersion specified. Valid values are: [1.0]")
		}
	default:
		return invalid("HTTP APIs only support AWS_PROXY and HTTP_PROXY integration types")
	}
	return i.checkParameters()
}

// completeService does the same as complete for integrations with other services.
func (i *integration) completeService() error {
	s, ok := subtypes[i.IntegrationSubtype]
	if !ok {
		return invalid("The integration subtype %s is not served here: %s are", i.IntegrationSubtype,
			strings.Join(subtypeNames(), ", "))
	}
	if i.PayloadFormatVersion == "" {
		return invalid("PayloadFormatVersion is a required parameter for integration")
	}
	if i.PayloadFormatVersion != format1 {
		return invalid("Invalid PayloadFormatVersion specified. Valid values are: [1.0]")
	}
	if i.IntegrationURI != "" {
		return invalid("IntegrationUri cannot be specified with IntegrationSubtype")
	}
	for name := range i.RequestParameters {
		if !slices.Contains(s.allowed, name) && !slices.Contains(s.required, name) {
			return invalid("Invalid parameter %s for integration subtype %s", name, i.IntegrationSubtype)
		}
	}
	for _, name := range s.required {
		if i.RequestParameters[name] == "" {
			return invalid("Parameter: %s does not fulfill the required parameters of the integration subtype %s", name,
				i.IntegrationSubtype)
		}
	}
	return nil
}

// functionOf returns the ARN of the function that an integration or an authorizer calls. The URI is that ARN, or the
// path of the function in the API of Lambda.
func functionOf(uri string) (aws.ARN, bool) {
	if a, ok := aws.ParseARN(uri); ok && a.Service == "apigateway" {
		const before, behind = "lambda:path/2015-03-31/functions/", "/invocations"
		_, rest, found := strings.Cut(uri, before)
		if !found {
			return aws.ARN{}, false
		}
		uri = strings.TrimSuffix(rest, behind)
	}
	a, ok := aws.ParseARN(uri)
	return a, ok && a.Service == "lambda" && strings.HasPrefix(a.Resource, "function:")
}

func (c *changes) keepIntegration(i *integration) error {
	c.a.integrations[i.ID] = i
	return c.put("/integration/"+i.ID, i)
}

func (s *Service) createIntegration(scope aws.Scope, in jsonvalue.Value) (out *integrationAnswer, err error) {
	err = s.change(scope, member(in, "ApiId"), func(c *changes) error {
		i := &integration{ID: drawIn(c.a.integrations)}
		if err := i.merge(in); err != nil {
			return err
		}
		out = i.shown()
		if err := c.keepIntegration(i); err != nil {
			return err
		}
		return c.deploy()
	})
	return out, err
}

// websocketIntegration lists the members of integrations that only WebSocket APIs have; AWS rejects them, too.
var websocketIntegration = []string{"ContentHandlingStrategy", "PassthroughBehavior", "RequestTemplates",
	"TemplateSelectionExpression"}

// merge applies the members of a request to the settings.
func (i *integration) merge(in jsonvalue.Value) error {
	for _, name := range websocketIntegration {
		if v, ok := in.Get(name); ok && !v.IsNull() {
			return invalid("%s is not supported for HTTP APIs", name)
		}
	}
	i.integrationSettings = i.copied()
	if err := merge(&i.integrationSettings, []byte(in.JSON())); err != nil {
		return err
	}
	for name, value := range i.RequestParameters {
		if value == "" {
			delete(i.RequestParameters, name)
		}
	}
	for status, parameters := range i.ResponseParameters {
		if len(parameters) == 0 {
			delete(i.ResponseParameters, status)
		}
	}
	return i.complete()
}

func (s *Service) updateIntegration(scope aws.Scope, in jsonvalue.Value) (out *integrationAnswer, err error) {
	err = s.change(scope, member(in, "ApiId"), func(c *changes) error {
		i, err := c.a.integration(member(in, "IntegrationId"))
		if err != nil {
			return err
		}
		changed := *i
		if err := changed.merge(in); err != nil {
			return err
		}
		out = changed.shown()
		if err := c.keepIntegration(&changed); err != nil {
			return err
		}
		return c.deploy()
	})
	return out, err
}

// integration returns an integration, or a not found error.
func (a *api) integration(id string) (*integration, error) {
	if i := a.integrations[id]; i != nil {
		return i, nil
	}
	return nil, notFound("Invalid Integration identifier specified")
}

type oneIntegration struct {
	oneAPI
	IntegrationID string `json:"IntegrationId"`
}

func (s *Service) getIntegration(_ context.Context, scope aws.Scope, in *oneIntegration) (*integrationAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	i, err := a.integration(in.IntegrationID)
	if err != nil {
		return nil, err
	}
	return i.shown(), nil
}

type integrationsAnswer struct {
	Items     []integrationAnswer
	NextToken string `json:",omitempty"`
}

func (s *Service) getIntegrations(_ context.Context, scope aws.Scope, in *paged) (*integrationsAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	all := []integrationAnswer{}
	for _, i := range a.integrations {
		all = append(all, *i.shown())
	}
	part, next, err := page(
		s,
		*in,
		"GetIntegrations",
		scope,
		all,
		func(i integrationAnswer) string { return i.IntegrationID },
	)
	return &integrationsAnswer{part, next}, err
}

func (s *Service) deleteIntegration(_ context.Context, scope aws.Scope, in *oneIntegration) (*none, error) {
	return &none{}, s.change(scope, in.APIID, func(c *changes) error {
		if _, err := c.a.integration(in.IntegrationID); err != nil {
			return err
		}
		for _, r := range c.a.routes {
			if r.Target == "integrations/"+in.IntegrationID {
				return conflict(
					"Cannot delete Integration '%s' because it is referenced by route '%s'.",
					in.IntegrationID,
					r.RouteKey,
				)
			}
		}
		delete(c.a.integrations, in.IntegrationID)
		c.remove("/integration/" + in.IntegrationID)
		return c.deploy()
	})
}

// authorizerAnswer is an authorizer as returned in responses.
type authorizerAnswer struct {
	AuthorizerID string `json:"AuthorizerId"`
	authorizerSettings
	IdentityValidationExpression string          `json:",omitempty"`
	JWTConfiguration             json.RawMessage `json:"JwtConfiguration,omitempty"`
}

func (z *authorizer) shown() *authorizerAnswer {
	return &authorizerAnswer{AuthorizerID: z.ID, authorizerSettings: z.authorizerSettings}
}

// merge applies the members of a request to the settings.
func (z *authorizer) merge(in jsonvalue.Value) error {
	z.IdentitySource, z.AuthorizerResultTTLInSeconds = slices.Clone(
		z.IdentitySource,
	), clone(
		z.AuthorizerResultTTLInSeconds,
	)
	if err := merge(&z.authorizerSettings, []byte(in.JSON())); err != nil {
		return err
	}
	if z.AuthorizerType != "REQUEST" {
		return invalid("AuthorizerType %s is not served here: REQUEST is", z.AuthorizerType)
	}
	if _, ok := functionOf(z.AuthorizerURI); !ok {
		return invalid(
			"Invalid Authorizer URI: %s. Authorizer URI should be a valid API Gateway ARN that represents a Lambda function invocation.",
			z.AuthorizerURI,
		)
	}
	if z.AuthorizerPayloadFormatVersion != format1 && z.AuthorizerPayloadFormatVersion != format2 {
		return invalid("AuthorizerPayloadFormatVersion is a required parameter for REQUEST authorizer")
	}
	if z.EnableSimpleResponses && z.AuthorizerPayloadFormatVersion == format1 {
		return invalid("EnableSimpleResponses flag is not supported for payload format version 1.0")
	}
	return nil
}

func (s *Service) createAuthorizer(scope aws.Scope, in jsonvalue.Value) (out *authorizerAnswer, err error) {
	err = s.change(scope, member(in, "ApiId"), func(c *changes) error {
		z := &authorizer{ID: drawIn(c.a.authorizers)}
		if err := z.merge(in); err != nil {
			return err
		}
		out = z.shown()
		c.a.authorizers[z.ID] = z
		return c.put("/authorizer/"+z.ID, z)
	})
	return out, err
}

func (a *api) authorizer(id string) (*authorizer, error) {
	if z := a.authorizers[id]; z != nil {
		return z, nil
	}
	return nil, notFound("Invalid Authorizer identifier specified")
}

func (s *Service) updateAuthorizer(scope aws.Scope, in jsonvalue.Value) (out *authorizerAnswer, err error) {
	err = s.change(scope, member(in, "ApiId"), func(c *changes) error {
		z, err := c.a.authorizer(member(in, "AuthorizerId"))
		if err != nil {
			return err
		}
		changed := *z
		if err := changed.merge(in); err != nil {
			return err
		}
		out = changed.shown()
		c.a.authorizers[z.ID] = &changed
		if err := c.put("/authorizer/"+z.ID, &changed); err != nil {
			return err
		}
		return c.deploy()
	})
	return out, err
}

type oneAuthorizer struct {
	oneAPI
	AuthorizerID string `json:"AuthorizerId"`
}

func (s *Service) getAuthorizer(_ context.Context, scope aws.Scope, in *oneAuthorizer) (*authorizerAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	z, err := a.authorizer(in.AuthorizerID)
	if err != nil {
		return nil, err
	}
	return z.shown(), nil
}

type authorizersAnswer struct {
	Items     []authorizerAnswer
	NextToken string `json:",omitempty"`
}

func (s *Service) getAuthorizers(_ context.Context, scope aws.Scope, in *paged) (*authorizersAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	all := []authorizerAnswer{}
	for _, z := range a.authorizers {
		all = append(all, *z.shown())
	}
	part, next, err := page(
		s,
		*in,
		"GetAuthorizers",
		scope,
		all,
		func(z authorizerAnswer) string { return z.AuthorizerID },
	)
	return &authorizersAnswer{part, next}, err
}

func (s *Service) deleteAuthorizer(_ context.Context, scope aws.Scope, in *oneAuthorizer) (*none, error) {
	return &none{}, s.change(scope, in.APIID, func(c *changes) error {
		if _, err := c.a.authorizer(in.AuthorizerID); err != nil {
			return err
		}
		for _, r := range c.a.routes {
			if r.AuthorizerID == in.AuthorizerID {
				return conflict(
					"Cannot delete authorizer '%s', is referenced in route: %s",
					in.AuthorizerID,
					r.RouteKey,
				)
			}
		}
		delete(c.a.authorizers, in.AuthorizerID)
		c.remove("/authorizer/" + in.AuthorizerID)
		return nil
	})
}
