package apigateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"stepback/aws"
)

// authorize calls the function of a route's authorizer. The context that it returns about the client is passed to the
// integration.
func (s *Service) authorize(ctx context.Context, w *answer, q *clientRequest, c *calledAPI, r *route) (context any, ok bool) {
	z := c.deployment.Authorizers[r.AuthorizerID]
	if z == nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, "The authorizer is not there")
		return nil, false
	}
	identity := []string{}
	for _, source := range z.IdentitySource {
		v, found := q.evaluate(source)
		if !found || textOf(v) == "" {
			w.refuse(http.StatusUnauthorized, "Unauthorized", "The identity source "+source+" is missing")
			return nil, false
		}
		identity = append(identity, textOf(v))
	}
	event, err := s.authorizerEvent(q, c, r, z, identity)
	if err != nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, err.Error())
		return nil, false
	}
	payload, err := s.invoke(ctx, z.AuthorizerURI, c.sender("authorizers/"+r.AuthorizerID, z.AuthorizerCredentialsArn), event)
	if err != nil {
		s.o.Log.Warn("the authorizer of an HTTP API failed", "api", c.ID, "authorizer", z.Name, "error", err)
		w.refuse(http.StatusInternalServerError, wordsInternal, err.Error())
		return nil, false
	}
	var said struct {
		IsAuthorized   *bool           `json:"isAuthorized"`
		Context        map[string]any  `json:"context"`
		PrincipalID    string          `json:"principalId"`
		PolicyDocument *policyDocument `json:"policyDocument"`
	}
	if err := json.Unmarshal(payload, &said); err != nil {
		w.refuse(http.StatusInternalServerError, wordsInternal, "The authorizer's answer: "+err.Error())
		return nil, false
	}
	allowed := said.PolicyDocument.allows(executeARN(c, q, r))
	if z.EnableSimpleResponses {
		allowed = said.IsAuthorized != nil && *said.IsAuthorized
	}
	if !allowed {
		w.refuse(http.StatusForbidden, wordsForbidden, "The authorizer has refused the request")
		return nil, false
	}
	if z.AuthorizerPayloadFormatVersion == format1 {
		if said.Context == nil {
			said.Context = map[string]any{}
		}
		said.Context["principalId"] = said.PrincipalID
		return said.Context, true
	}
	return map[string]any{"lambda": said.Context}, true
}

// executeARN returns the ARN to which an authorizer's policy refers.
func executeARN(c *calledAPI, q *clientRequest, r *route) string {
	path := c.path
	if r.RouteKey == defaultRoute {
		return c.scope().ARN("execute-api", c.ID+"/"+c.stage.StageName+"/$default")
	}
	return c.scope().ARN("execute-api", c.ID+"/"+c.stage.StageName+"/"+q.Method+path)
}

// authorizerEvent builds the event for an authorizer's function: the event of an integration, with the caller's
// identity.
func (s *Service) authorizerEvent(q *clientRequest, c *calledAPI, r *route, z *authorizer, identity []string) ([]byte, error) {
	text, err := s.event(q, c, r, z.AuthorizerPayloadFormatVersion, nil)
	if err != nil {
		return nil, err
	}
	var event map[string]any
	if err := json.Unmarshal(text, &event); err != nil {
		return nil, err
	}
	delete(event, "body")
	delete(event, "isBase64Encoded")
	event["type"] = "REQUEST"
	if z.AuthorizerPayloadFormatVersion == format1 {
		event["methodArn"] = executeARN(c, q, r)
		event["identitySource"] = strings.Join(identity, ",")
		event["authorizationToken"] = strings.Join(identity, ",")
	} else {
		event["routeArn"] = executeARN(c, q, r)
		event["identitySource"] = identity
	}
	return json.Marshal(event)
}

// policyDocument is the policy returned by an authorizer.
type policyDocument struct {
	Statement []struct {
		Effect   string
		Action   oneOrMore
		Resource oneOrMore
	}
}

type oneOrMore []string

// UnmarshalJSON implements json.Unmarshaler.
func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}

// allows reports whether a policy allows calling a resource: a statement allows it and none denies it.
func (p *policyDocument) allows(resource string) bool {
	if p == nil {
		return false
	}
	allowed := false
	for _, st := range p.Statement {
		if !st.Action.fit("execute-api:Invoke") || !st.Resource.fit(resource) {
			continue
		}
		if st.Effect != "Allow" {
			return false
		}
		allowed = true
	}
	return allowed
}

func (o oneOrMore) fit(text string) bool {
	for _, pattern := range o {
		if aws.Matches(pattern, text) {
			return true
		}
	}
	return false
}
