package apigateway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/jsonvalue"
)

// routeAnswer is a route as returned in responses.
type routeAnswer struct {
	APIGatewayManaged bool   `json:"ApiGatewayManaged,omitempty"`
	RouteID           string `json:"RouteId"`
	routeSettingsOfAPI
	ModelSelectionExpression         string            `json:",omitempty"`
	RequestModels                    map[string]string `json:",omitempty"`
	RequestParameters                json.RawMessage   `json:",omitempty"`
	RouteResponseSelectionExpression string            `json:",omitempty"`
}

func (r *route) shown() *routeAnswer {
	return &routeAnswer{APIGatewayManaged: r.Managed, RouteID: r.ID, routeSettingsOfAPI: r.routeSettingsOfAPI}
}

// checkRoute rejects a route that is invalid for the API.
func (a *api) checkRoute(r *route) error {
	if _, err := compile(r.RouteKey); err != nil {
		return err
	}
	for id, other := range a.routes {
		if id != r.ID && other.RouteKey == r.RouteKey {
			return conflict("Route with key %s already exists for this API", r.RouteKey)
		}
	}
	if r.APIKeyRequired {
		return invalid("ApiKeyRequired is not currently supported for HTTP APIs")
	}
	if r.Target != "" {
		id, ok := strings.CutPrefix(r.Target, "integrations/")
		if !ok {
			return invalid("Invalid target specified: %s", r.Target)
		}
		if _, ok := a.integrations[id]; !ok {
			return notFound("Invalid Integration identifier specified %s", id)
		}
	}
	switch r.AuthorizationType {
	case "NONE", "AWS_IAM":
		if r.AuthorizerID != "" {
			return invalid("AuthorizerId cannot be specified for authorization type %s", r.AuthorizationType)
		}
	case "CUSTOM":
		if _, err := a.authorizer(r.AuthorizerID); err != nil {
			return err
		}
	default:
		return invalid("AuthorizationType %s is not served here: NONE, AWS_IAM and CUSTOM are", r.AuthorizationType)
	}
	return nil
}

// websocketRoute lists the members of routes that only WebSocket APIs have; AWS rejects them, too.
var websocketRoute = []string{"ModelSelectionExpression", "RequestModels", "RequestParameters",
	"RouteResponseSelectionExpression"}

// merge applies the members of a request to the settings.
func (r *route) merge(in jsonvalue.Value) error {
	for _, name := range websocketRoute {
		if v, ok := in.Get(name); ok && !v.IsNull() {
			return invalid("%s is not supported for HTTP APIs", name)
		}
	}
	r.AuthorizationScopes = slices.Clone(r.AuthorizationScopes)
	if err := merge(&r.routeSettingsOfAPI, []byte(in.JSON())); err != nil {
		return err
	}
	if r.AuthorizationType == "" {
		r.AuthorizationType = "NONE"
	}
	if v, ok := in.Get("AuthorizationType"); ok && (v.Text() == "NONE" || v.Text() == "AWS_IAM") && member(in, "AuthorizerId") == "" {
		r.AuthorizerID = ""
	}
	return nil
}

func (c *changes) keepRoute(r *route) error {
	c.a.routes[r.ID] = r
	return c.put("/route/"+r.ID, r)
}

func (s *Service) createRoute(scope aws.Scope, in jsonvalue.Value) (out *routeAnswer, err error) {
	err = s.change(scope, member(in, "ApiId"), func(c *changes) error {
		r := &route{ID: drawIn(c.a.routes)}
		out, err = c.mergeRoute(r, in)
		return err
	})
	return out, err
}

// mergeRoute applies the members of a request to a route, which is a copy, and stores it.
func (c *changes) mergeRoute(r *route, in jsonvalue.Value) (*routeAnswer, error) {
	if err := r.merge(in); err != nil {
		return nil, err
	}
	if err := c.a.checkRoute(r); err != nil {
		return nil, err
	}
	if err := c.keepRoute(r); err != nil {
		return nil, err
	}
	return r.shown(), c.deploy()
}

func (s *Service) updateRoute(scope aws.Scope, in jsonvalue.Value) (out *routeAnswer, err error) {
	err = s.change(scope, member(in, "ApiId"), func(c *changes) error {
		r, err := c.a.route(member(in, "RouteId"))
		if err != nil {
			return err
		}
		changed := *r
		out, err = c.mergeRoute(&changed, in)
		return err
	})
	return out, err
}

func (a *api) route(id string) (*route, error) {
	if r := a.routes[id]; r != nil {
		return r, nil
	}
	return nil, notFound("Invalid Route identifier specified")
}

type oneRoute struct {
	oneAPI
	RouteID string `json:"RouteId"`
}

func (s *Service) getRoute(_ context.Context, scope aws.Scope, in *oneRoute) (*routeAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	r, err := a.route(in.RouteID)
	if err != nil {
		return nil, err
	}
	return r.shown(), nil
}

type routesAnswer struct {
	Items     []routeAnswer
	NextToken string `json:",omitempty"`
}

func (s *Service) getRoutes(_ context.Context, scope aws.Scope, in *paged) (*routesAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	all := []routeAnswer{}
	for _, r := range a.routes {
		all = append(all, *r.shown())
	}
	part, next, err := page(s, *in, "GetRoutes", scope, all, func(r routeAnswer) string { return r.RouteID })
	return &routesAnswer{part, next}, err
}

func (s *Service) deleteRoute(_ context.Context, scope aws.Scope, in *oneRoute) (*none, error) {
	return &none{}, s.change(scope, in.APIID, func(c *changes) error {
		if _, err := c.a.route(in.RouteID); err != nil {
			return err
		}
		delete(c.a.routes, in.RouteID)
		c.remove("/route/" + in.RouteID)
		return c.deploy()
	})
}
