package apigateway

import (
	"context"
	"maps"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
)

// apiAnswer is an API as returned in responses.
type apiAnswer struct {
	APIID             string `json:"ApiId"`
	APIEndpoint       string `json:"ApiEndpoint"`
	APIGatewayManaged bool   `json:"ApiGatewayManaged,omitempty"`
	apiSettings
	CreatedDate server.Time
	ImportInfo  []string `json:",omitempty"`
	Tags        map[string]string
	Warnings    []string `json:",omitempty"`
}

func (s *Service) shownAPI(a *api) *apiAnswer {
	tags := maps.Clone(a.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	return &apiAnswer{APIID: a.ID, APIEndpoint: "http://" + s.host(a) + s.port, apiSettings: a.apiSettings,
		CreatedDate: timeOf(a.Created), Tags: tags}
}

// host returns the host name of an API.
func (s *Service) host(a *api) string { return a.ID + hostSuffix }

func (s *Service) createAPI(scope aws.Scope, in jsonvalue.Value) (*apiAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := newAPI()
	a.RouteSelectionExpression = "$request.method $request.path"
	a.APIKeySelection, a.IPAddressType = "$request.header.x-api-key", "ipv4"
	if err := merge(&a.apiSettings, []byte(in.JSON())); err != nil {
		return nil, err
	}
	tags, _ := in.Get("Tags")
	a.Tags = textMap(tags)
	if err := a.check(); err != nil {
		return nil, err
	}
	a.Account, a.Region, a.Created = scope.Account, scope.Region, s.o.Now().UnixMilli()
	a.ID = draw(10, func(id string) bool { return s.apis[id] != nil })
	target, key := member(in, "Target"), member(in, "RouteKey")
	if target == "" && key != "" {
		return nil, invalid("Target must be specified when RouteKey is specified")
	}
	err := s.commit(a, func(c *changes) error {
		if target != "" {
			if err := s.quick(c, target, key, member(in, "CredentialsArn")); err != nil {
				return err
			}
		}
		return c.put("", a)
	})
	if err != nil {
		return nil, err
	}
	return s.shownAPI(a), nil
}

// quick creates the route, the integration and the stage that CreateApi's Target asks for.
func (s *Service) quick(c *changes, target, key, credentials string) error {
	i := &integration{ID: drawIn(c.a.integrations), Managed: true}
	i.IntegrationType, i.IntegrationURI, i.CredentialsArn = "HTTP_PROXY", target, credentials
	if strings.HasPrefix(target, "arn:") {
		i.IntegrationType, i.PayloadFormatVersion = "AWS_PROXY", "2.0"
	} else {
		i.IntegrationMethod, i.PayloadFormatVersion = "ANY", "1.0"
	}
	if err := i.complete(); err != nil {
		return err
	}
	if key == "" {
		key = defaultRoute
	}
	r := &route{ID: drawIn(c.a.routes), Managed: true}
	r.RouteKey, r.Target, r.AuthorizationType = key, "integrations/"+i.ID, "NONE"
	c.a.integrations[i.ID] = i
	if err := c.a.checkRoute(r); err != nil {
		return err
	}
	c.a.Quick = i.ID
	now := s.o.Now().UnixMilli()
	c.a.stages[defaultStage] = &stage{Managed: true, Created: now, Updated: now,
		stageSettings: stageSettings{StageName: defaultStage, AutoDeploy: true}}
	if err := c.keepIntegration(i); err != nil {
		return err
	}
	if err := c.keepRoute(r); err != nil {
		return err
	}
	return c.deploy()
}

// check returns an error if the API is not an HTTP API.
func (a *api) check() error {
	if a.ProtocolType != "HTTP" {
		return invalid("ProtocolType %s is not served here: HTTP is", a.ProtocolType)
	}
	if a.RouteSelectionExpression != "$request.method $request.path" &&
		a.RouteSelectionExpression != "${request.method} ${request.path}" {
		return invalid("Invalid routeSelectionExpression. HTTP protocol APIs only support ${request.method} ${request.path} route selection expression")
	}
	if c := a.CorsConfiguration; c != nil {
		if c.AllowCredentials != nil && *c.AllowCredentials && slices.Contains(c.AllowOrigins, "*") {
			return invalid("'*' cannot be specified for allowOrigins when allowCredentials is true")
		}
	}
	return nil
}

func textMap(v jsonvalue.Value) map[string]string {
	if v.Kind() != jsonvalue.Object {
		return nil
	}
	m := map[string]string{}
	for i, name := range v.Keys() {
		m[name] = v.At(i).Text()
	}
	return m
}

func (s *Service) updateAPI(scope aws.Scope, in jsonvalue.Value) (out *apiAnswer, err error) {
	err = s.change(scope, member(in, "ApiId"), func(c *changes) error {
		if _, ok := in.Get("CorsConfiguration"); ok {
			c.a.CorsConfiguration = nil // a new configuration replaces the old one entirely
		}
		if err := merge(&c.a.apiSettings, []byte(in.JSON())); err != nil {
			return err
		}
		if err := c.a.check(); err != nil {
			return err
		}
		out = s.shownAPI(c.a)
		target, key, credentials := member(in, "Target"), member(in, "RouteKey"), member(in, "CredentialsArn")
		if err := c.put("", c.a); err != nil || target == "" && key == "" && credentials == "" {
			return err
		}
		if c.a.Quick == "" {
			return invalid("Target, RouteKey and CredentialsArn can be updated only for APIs that were created with a Target")
		}
		return s.requick(c, target, key, credentials)
	})
	return out, err
}

// requick changes the route and the integration that CreateApi's Target created.
func (s *Service) requick(c *changes, target, key, credentials string) error {
	i, ok := c.a.integrations[c.a.Quick]
	if !ok {
		return invalid("The integration that was created with the API is not there any more")
	}
	changed := *i
	if target != "" {
		changed.IntegrationURI = target
	}
	if credentials != "" {
		changed.CredentialsArn = credentials
	}
	if err := c.keepIntegration(&changed); err != nil {
		return err
	}
	for _, r := range c.a.routes {
		if r.Managed && key != "" {
			moved := *r
			moved.RouteKey = key
			if err := c.a.checkRoute(&moved); err != nil {
				return err
			}
			if err := c.keepRoute(&moved); err != nil {
				return err
			}
		}
	}
	return c.deploy()
}

type oneAPI struct {
	APIID string `json:"ApiId"`
}

func (s *Service) getAPI(_ context.Context, scope aws.Scope, in *oneAPI) (*apiAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	return s.shownAPI(a), nil
}

type apisAnswer struct {
	Items     []apiAnswer
	NextToken string `json:",omitempty"`
}

func (s *Service) getAPIs(_ context.Context, scope aws.Scope, in *paged) (*apisAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := []apiAnswer{}
	for _, a := range s.apis {
		if a.scope() == scope {
			all = append(all, *s.shownAPI(a))
		}
	}
	part, next, err := page(s, *in, "GetApis", scope, all, func(a apiAnswer) string { return a.APIID })
	return &apisAnswer{part, next}, err
}

func (s *Service) deleteAPI(_ context.Context, scope aws.Scope, in *oneAPI) (*none, error) {
	return &none{}, s.change(scope, in.APIID, func(c *changes) error {
		c.deleted = true
		c.remove("")
		for kind, names := range map[string][]string{
			"route": slices.Collect(maps.Keys(c.a.routes)), "integration": slices.Collect(maps.Keys(c.a.integrations)),
			"authorizer": slices.Collect(maps.Keys(c.a.authorizers)), "stage": slices.Collect(maps.Keys(c.a.stages)),
			"deployment": slices.Collect(maps.Keys(c.a.deployments))} {
			for _, name := range names {
				c.remove("/" + kind + "/" + name)
			}
		}
		return nil
	})
}

func (s *Service) deleteCORS(_ context.Context, scope aws.Scope, in *oneAPI) (*none, error) {
	return &none{}, s.change(scope, in.APIID, func(c *changes) error {
		c.a.CorsConfiguration = nil
		return c.put("", c.a)
	})
}

type tagRequest struct {
	ARN     string `json:"ResourceArn"`
	Tags    map[string]string
	TagKeys []string
}

type tagsAnswer struct {
	Tags map[string]string
}

// tagged returns the IDs of the API and, if there is one, of the stage that an ARN names.
func tagged(arn string) (id, stage string, err error) {
	parsed, ok := aws.ParseARN(arn)
	rest, is := strings.CutPrefix(parsed.Resource, "/apis/")
	if !ok || !is || parsed.Service != "apigateway" {
		return "", "", invalid("Invalid resource identifier specified %s", arn)
	}
	id, rest, _ = strings.Cut(rest, "/")
	stage, is = strings.CutPrefix(rest, "stages/")
	if rest != "" && !is {
		return "", "", invalid("Invalid resource identifier specified %s", arn)
	}
	return id, stage, nil
}

// retag changes the tags of an API or of a stage.
func (s *Service) retag(scope aws.Scope, arn string, edit func(map[string]string)) error {
	id, stageName, err := tagged(arn)
	if err != nil {
		return err
	}
	edited := func(tags map[string]string) map[string]string {
		tags = maps.Clone(tags)
		if tags == nil {
			tags = map[string]string{}
		}
		edit(tags)
		return tags
	}
	return s.change(scope, id, func(c *changes) error {
		if stageName == "" {
			c.a.Tags = edited(c.a.Tags)
			return c.put("", c.a)
		}
		st, err := c.a.stage(stageName)
		if err != nil {
			return err
		}
		changed := *st
		changed.Tags = edited(st.Tags)
		return c.keepStage(&changed)
	})
}

func (s *Service) tagResource(_ context.Context, scope aws.Scope, in *tagRequest) (*none, error) {
	return &none{}, s.retag(scope, in.ARN, func(tags map[string]string) { maps.Copy(tags, in.Tags) })
}

func (s *Service) untagResource(_ context.Context, scope aws.Scope, in *tagRequest) (*none, error) {
	return &none{}, s.retag(scope, in.ARN, func(tags map[string]string) {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
	})
}

func (s *Service) getTags(_ context.Context, scope aws.Scope, in *tagRequest) (*tagsAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	id, stageName, err := tagged(in.ARN)
	if err != nil {
		return nil, err
	}
	a, err := s.find(scope, id)
	if err != nil {
		return nil, err
	}
	tags := a.Tags
	if stageName != "" {
		st, err := a.stage(stageName)
		if err != nil {
			return nil, err
		}
		tags = st.Tags
	}
	if tags == nil {
		tags = map[string]string{}
	}
	return &tagsAnswer{maps.Clone(tags)}, nil
}
