package cloudcontrol

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/documents"
)

// Options are the settings of a Service. Store, Clock and API are required.
type Options struct {
	// Store stores the requests and the requested properties of resources.
	Store *documents.Store
	// Clock provides the time and ends waits. It must outlive the service.
	Clock *clock.Clock
	// API calls the services of an account and region with the permissions of an identity.
	API func(scope aws.Scope, as resource.Identity) resource.API
	// Caller returns the access key of the client whose request ctx belongs to, or empty if the client may do
	// everything. Nil stands for a function that returns empty.
	Caller func(ctx context.Context, scope aws.Scope) string
	// Types are the resource types; nil means resource.All.
	Types resource.Set
	// Scope is the account and region for requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Log receives rejected requests; nil discards them.
	Log *slog.Logger
}

// Service is a local Cloud Control API. It is safe for concurrent use.
type Service struct {
	o       Options
	table   *documents.Table
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup // running requests

	mu       sync.Mutex
	requests map[string]*request          // by token
	wanted   map[string]map[string]any    // by resource key
	busy     map[string]string            // tokens of the running requests, by resource key
	byClient map[string]map[string]string // tokens, by client token, by scope
	closed   bool
}

// Open loads the store. Resume continues interrupted requests; Close ends the service.
func Open(o Options) (*Service, error) {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Caller == nil {
		o.Caller = func(context.Context, aws.Scope) string { return "" }
	}
	if o.Types == nil {
		o.Types = resource.All()
	}
	s := &Service{o: o, table: o.Store.Table("cloudcontrol"), requests: map[string]*request{},
		wanted: map[string]map[string]any{}, busy: map[string]string{}, byClient: map[string]map[string]string{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.load(); err != nil {
		s.stop()
		return nil, fmt.Errorf("what is kept of Cloud Control's requests: %w", err)
	}
	return s, nil
}

func (s *Service) load() error {
	if err := s.table.Scan("request/", func(_ string, text []byte) error {
		r := &request{}
		if err := json.Unmarshal(text, r); err != nil {
			return err
		}
		s.enter(r)
		return nil
	}); err != nil {
		return err
	}
	return s.table.Scan("wanted/", func(key string, text []byte) error {
		var p map[string]any
		err := json.Unmarshal(text, &p)
		s.wanted[key] = p
		return err
	})
}

// enter adds a request to the indexes. The caller holds mu or has exclusive access.
func (s *Service) enter(r *request) {
	s.requests[r.Token] = r
	if !r.ended() {
		s.busy[r.key()] = r.Token
	}
	if r.Client != "" {
		of := r.Account + "/" + r.Region
		if s.byClient[of] == nil {
			s.byClient[of] = map[string]string{}
		}
		s.byClient[of][r.Client] = r.Token
	}
}

// Resume continues interrupted requests. It is called once, when the services can be called.
func (s *Service) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if !r.ended() {
			s.launch(r, true)
		}
	}
}

// Close stops running requests and waits for them. They continue when the store is opened again.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.running.Wait()
	return nil
}

// launch executes a request on a new goroutine. The caller holds mu.
func (s *Service) launch(r *request, again bool) {
	if !s.closed {
		s.o.Clock.Go(s.ctx, &s.running, 0, func(ctx context.Context) { s.carryOut(ctx, r, again) })
	}
}

func (s *Service) putRequest(b *documents.Batch, r *request) error {
	text, err := json.Marshal(r)
	if err == nil {
		b.Put(s.table, "request/"+r.Token, text)
	}
	return err
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{Model: "cloudcontrol", Operations: s.operations(), Partly: partly,
		Default: s.o.Scope, Log: s.o.Log})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateResource":           server.Handle(s.createResource),
		"GetResource":              server.Handle(s.getResource),
		"ListResources":            server.Handle(s.listResources),
		"UpdateResource":           server.Handle(s.updateResource),
		"DeleteResource":           server.Handle(s.deleteResource),
		"GetResourceRequestStatus": server.Handle(s.getStatus),
		"ListResourceRequests":     server.Handle(s.listRequests),
		"CancelResourceRequest":    server.Handle(s.cancelRequest),
	}
}

// partly describes what supported operations do not do.
var partly = map[string]string{
	"CreateResource": "only the CloudFormation types here; `RoleArn` is assumed only with `serve --enforce-iam`, hooks are not called",
	"UpdateResource": "as CreateResource",
	"DeleteResource": "as CreateResource",
	"GetResource":    "only types that can be read; others are rejected by name",
	"ListResources":  "only types that can be listed; others are rejected by name",
}

func refusal(code, format string, args ...any) error {
	return &aws.Error{Code: code, Message: fmt.Sprintf(format, args...), Status: http.StatusBadRequest}
}

// typeOf returns a resource type, or a TypeNotFoundException.
func (s *Service) typeOf(name string) (*resource.Type, error) {
	if t := s.o.Types[name]; t != nil && name != "AWS::CDK::Metadata" {
		return t, nil
	}
	return nil, refusal("TypeNotFoundException", "The type '%s' cannot be found.", name)
}
