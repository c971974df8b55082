package apigateway

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/tasks/lambda/invocation"
)

// API calls operations of other services by their names in the models, such as sfn and StartExecution. in is the
// request's document; out is filled from the response's document. If the service rejects the call, the error is a
// smithy.APIError.
type API interface {
	Call(ctx context.Context, service, operation string, in, out any) error
}

// Functions invokes functions.
type Functions interface {
	Invoke(ctx context.Context, scope aws.Scope, r *invocation.Request) (*invocation.Answer, error)
}

// Options are the settings of a Service. Store, Now, Functions and API are required.
type Options struct {
	// Store stores all resources.
	Store *documents.Store
	// Now returns the current time.
	Now func() time.Time
	// Functions invokes the functions of integrations and authorizers.
	Functions Functions
	// API returns a client with which integrations call services in an account and region. role is the ARN of the
	// role to use; it may be empty.
	API func(scope aws.Scope, role string) API
	// Targets decides whether the gateway may call functions; nil allows all calls.
	Targets *delivery.Targets
	// AccessLog writes a line to a stream of the log group with an ARN; nil discards the access logs of stages.
	AccessLog func(group aws.ARN, stream, line string) error
	// Endpoint is the address of the platform, such as http://127.0.0.1:4566.
	Endpoint string
	// Count counts a stage's responses; nil counts nothing.
	Count func(scope aws.Scope, api, stage, metric, unit string, value float64)
	// Proxy sends the requests of HTTP_PROXY integrations; nil is http.DefaultTransport.
	Proxy http.RoundTripper
	// Scope is the account and region for requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Log receives errors of integrations; nil discards them.
	Log *slog.Logger
}

// Service is a local API Gateway. It is safe for concurrent use.
type Service struct {
	o     Options
	table *documents.Table
	port  string // port of Options.Endpoint

	mu   sync.RWMutex
	apis map[string]*api
}

// Open loads the APIs in the store.
func Open(o Options) (*Service, error) {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Proxy == nil {
		o.Proxy = http.DefaultTransport
	}
	s := &Service{o: o, table: o.Store.Table("apigateway"), apis: map[string]*api{}}
	if i := strings.LastIndexByte(o.Endpoint, ':'); i > len("https:") {
		if _, err := strconv.Atoi(o.Endpoint[i+1:]); err == nil {
			s.port = o.Endpoint[i:]
		}
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("what is kept of HTTP APIs: %w", err)
	}
	return s, nil
}

// load reads the store's records. The record of an API sorts before those of its parts.
func (s *Service) load() error {
	return s.table.Scan("", func(key string, text []byte) error {
		id, rest, _ := strings.Cut(key, "/")
		if rest == "" {
			a := newAPI()
			if err := json.Unmarshal(text, a); err != nil {
				return err
			}
			s.apis[id] = a
			return nil
		}
		a := s.apis[id]
		if a == nil {
			return fmt.Errorf("%s belongs to no API", key)
		}
		kind, name, _ := strings.Cut(rest, "/")
		switch kind {
		case "route":
			return read(text, a.routes, name)
		case "integration":
			return read(text, a.integrations, name)
		case "authorizer":
			return read(text, a.authorizers, name)
		case "stage":
			return read(text, a.stages, name)
		case "deployment":
			if err := read(text, a.deployments, name); err != nil {
				return err
			}
			return a.deployments[name].compile()
		}
		return fmt.Errorf("%s is of an unknown kind", key)
	})
}

func newAPI() *api {
	return &api{routes: map[string]*route{}, integrations: map[string]*integration{},
		authorizers: map[string]*authorizer{}, stages: map[string]*stage{}, deployments: map[string]*deployment{}}
}

func read[T any](text []byte, into map[string]*T, name string) error {
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	into[name] = v
	return nil
}

// changes is a change of one API, which is stored completely or not at all.
type changes struct {
	s *Service
	// a is a copy, which replaces the API once everything is stored. The elements of its maps are replaced, not
	// modified.
	a       *api
	b       *documents.Batch
	deleted bool
}

// put stores a part of the API; an empty path means the API itself.
func (c *changes) put(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.b.Put(c.s.table, c.a.ID+path, text)
	return nil
}

func (c *changes) remove(path string) { c.b.Delete(c.s.table, c.a.ID+path) }

// change changes an API of a scope, first on disk, then in memory.
func (s *Service) change(scope aws.Scope, id string, f func(*changes) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.find(scope, id)
	if err != nil {
		return err
	}
	return s.commit(a.copied(), f)
}

// commit changes a copy of an API, or a new one. The caller holds mu.
func (s *Service) commit(a *api, f func(*changes) error) error {
	b, err := s.o.Store.Begin()
	if err != nil {
		return err
	}
	c := &changes{s: s, a: a, b: b}
	if err := f(c); err != nil {
		return err
	}
	if err := b.Apply()(); err != nil {
		return err
	}
	if c.deleted {
		delete(s.apis, a.ID)
	} else {
		s.apis[a.ID] = a
	}
	return nil
}

func (a *api) copied() *api {
	c := *a
	c.routes, c.integrations = maps.Clone(a.routes), maps.Clone(a.integrations)
	c.authorizers = maps.Clone(a.authorizers)
	c.stages, c.deployments = maps.Clone(a.stages), maps.Clone(a.deployments)
	return &c
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{Model: "apigatewayv2", Operations: s.operations(), Partly: partly,
		Invalid: "BadRequestException", Default: s.o.Scope, Log: s.o.Log})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateApi": handle(s.createAPI, apiSettings{}, "Tags", "Target", "RouteKey", "CredentialsArn"), "GetApi": server.Handle(s.getAPI), "GetApis": server.Handle(s.getAPIs),
		"UpdateApi": handle(s.updateAPI, apiSettings{}, "ApiId", "Target", "RouteKey", "CredentialsArn"), "DeleteApi": server.Handle(s.deleteAPI),
		"DeleteCorsConfiguration": server.Handle(s.deleteCORS),

		"CreateIntegration": handle(s.createIntegration, integrationSettings{}, append(websocketIntegration, "ApiId")...), "GetIntegration": server.Handle(s.getIntegration),
		"GetIntegrations": server.Handle(s.getIntegrations), "UpdateIntegration": handle(s.updateIntegration, integrationSettings{}, append(websocketIntegration, "ApiId", "IntegrationId")...),
		"DeleteIntegration": server.Handle(s.deleteIntegration),

		"CreateRoute": handle(s.createRoute, routeSettingsOfAPI{}, append(websocketRoute, "ApiId")...), "GetRoute": server.Handle(s.getRoute),
		"GetRoutes": server.Handle(s.getRoutes), "UpdateRoute": handle(s.updateRoute, routeSettingsOfAPI{}, append(websocketRoute, "ApiId", "RouteId")...),
		"DeleteRoute": server.Handle(s.deleteRoute),

		"CreateAuthorizer": handle(s.createAuthorizer, authorizerSettings{}, "ApiId"), "GetAuthorizer": server.Handle(s.getAuthorizer),
		"GetAuthorizers": server.Handle(s.getAuthorizers), "UpdateAuthorizer": handle(s.updateAuthorizer, authorizerSettings{}, "ApiId", "AuthorizerId"),
		"DeleteAuthorizer": server.Handle(s.deleteAuthorizer),

		"CreateStage": handle(s.createStage, stageSettings{}, "ApiId", "Tags"), "GetStage": server.Handle(s.getStage),
		"GetStages": server.Handle(s.getStages), "UpdateStage": handle(s.updateStage, stageSettings{}, "ApiId"),
		"DeleteStage":             server.Handle(s.deleteStage),
		"DeleteAccessLogSettings": server.Handle(s.deleteAccessLogs),
		"DeleteRouteSettings":     server.Handle(s.deleteRouteSettings),

		"CreateDeployment": server.Handle(s.createDeployment), "GetDeployment": server.Handle(s.getDeployment),
		"GetDeployments": server.Handle(s.getDeployments), "UpdateDeployment": server.Handle(s.updateDeployment),
		"DeleteDeployment": server.Handle(s.deleteDeployment),

		"TagResource": server.Handle(s.tagResource), "UntagResource": server.Handle(s.untagResource),
		"GetTags": server.Handle(s.getTags),
	}
}

// partly describes what supported operations do not do.
var partly = map[string]string{
	"CreateApi":         "only HTTP APIs",
	"CreateAuthorizer":  "only REQUEST (functions); results are not cached",
	"CreateIntegration": "no VPC links; roles (CredentialsArn) are assumed only with `serve --enforce-iam`",
	"CreateRoute":       "no JWT authorizers",
	"CreateStage":       "throttling is stored without effect",
	"UpdateAuthorizer":  "as CreateAuthorizer",
	"UpdateIntegration": "as CreateIntegration",
	"UpdateRoute":       "as CreateRoute",
	"UpdateStage":       "as CreateStage",
}

// handle returns an operation that receives the whole document of its request. settings is a zero value of the
// settings that f merges; more lists the other members that f reads.
func handle[Out any](f func(aws.Scope, jsonvalue.Value) (*Out, error), settings any, more ...string) server.Operation {
	call := func(_ context.Context, r *server.Request) (*server.Answer, error) {
		out, err := f(r.Scope, r.Input)
		if err != nil {
			return nil, err
		}
		return &server.Answer{Output: out}, nil
	}
	return server.Operation{Answer: *new(Out), Call: call, Reads: server.Together{settings, server.Members(more)}}
}

// none is the response of operations without output.
type none struct{}

func refusal(code string, status int, format string, args ...any) error {
	return &aws.Error{Code: code, Message: fmt.Sprintf(format, args...), Status: status}
}

func notFound(format string, args ...any) error {
	return refusal("NotFoundException", http.StatusNotFound, format, args...)
}

func conflict(format string, args ...any) error {
	return refusal("ConflictException", http.StatusConflict, format, args...)
}

func invalid(format string, args ...any) error {
	return refusal("BadRequestException", http.StatusBadRequest, format, args...)
}

// member returns a string member of a document; empty if it is missing.
func member(document jsonvalue.Value, name string) string {
	v, _ := document.Get(name)
	if v.Kind() != jsonvalue.String {
		return ""
	}
	return v.Text()
}

// find returns an API of a scope, or a not found error. The caller holds mu.
func (s *Service) find(scope aws.Scope, id string) (*api, error) {
	a := s.apis[id]
	if a == nil || a.scope() != scope {
		return nil, notFound("Invalid API identifier specified %s:%s", scope.Account, id)
	}
	return a, nil
}

// draw generates an ID of letters and digits that is not in use, as reported by has.
func draw(length int, has func(string) bool) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for {
		id := make([]byte, length)
		for i := range id {
			id[i] = letters[rand.IntN(len(letters))]
		}
		id[0] = letters[int(id[0])%26] // host names start with a letter
		if !has(string(id)) {
			return string(id)
		}
	}
}

func drawIn[T any](m map[string]*T) string {
	return draw(7, func(id string) bool { _, ok := m[id]; return ok })
}

// paged holds the paging members of a list request.
type paged struct {
	APIID      string `json:"ApiId"`
	MaxResults string
	NextToken  string
}

const usualPage = 100

// page returns one page of a list.
func page[T any](s *Service, p paged, of string, scope aws.Scope, list []T, name func(T) string) ([]T, string, error) {
	size := usualPage
	if p.MaxResults != "" {
		n, err := strconv.Atoi(p.MaxResults)
		if err != nil || n < 1 {
			return nil, "", invalid("Invalid value for maxResults")
		}
		size = n
	}
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	listing := aws.NewListing(s.o.Now(), of, scope.Account, scope.Region, p.APIID)
	part, next, ok := aws.Page(listing, p.NextToken, size, list,
		name)
	if !ok {
		return nil, "", invalid("Invalid nextToken")
	}
	return part, next, nil
}
