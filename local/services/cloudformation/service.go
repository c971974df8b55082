package cloudformation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/internal/budgets"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/template"
	"stepback/local/services/documents"
)

// API is used to create resources: it calls operations of services and reads S3 objects.
type API interface {
	resource.API
	// Object reads an object from S3; version may be empty.
	Object(ctx context.Context, bucket, key, version string) ([]byte, error)
}

// Options are the settings of a Service. Documents, Clock and API are required.
type Options struct {
	// Documents stores the stacks, in a separate table.
	Documents *documents.Store
	// Clock provides the time and ends waits. It must outlive the service.
	Clock *clock.Clock
	// API returns a client for the services of an account and region that acts with the permissions of an identity.
	API func(scope aws.Scope, as resource.Identity) API
	// Caller returns the access key of the client whose request ctx belongs to, or empty if the client may do
	// everything. Nil stands for a function that returns empty.
	Caller func(ctx context.Context, scope aws.Scope) string
	// Endpoint is this platform's address, to which custom resources respond: http://127.0.0.1:4566.
	Endpoint string
	// Scope is the account and region for requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Types are the resource types; nil means resource.All.
	Types resource.Set
	// Stacks is the maximum number of stacks of an account and region, and Nesting the number of stacks around a
	// nested stack. 0 means the budget of package budgets.
	Stacks, Nesting int
	// Parallel is the number of resources of a stack that are processed at a time; 0 means 16.
	Parallel int
	// Log receives rejected requests and errors that cannot be reported to a client; nil discards them.
	Log *slog.Logger
}

// Service is a local CloudFormation. It is safe for concurrent use.
type Service struct {
	opts        Options
	table       *documents.Table
	types       resource.Set
	ctx         context.Context
	stop        context.CancelFunc
	deployments sync.WaitGroup // running deployments

	mu      sync.Mutex
	stacks  map[string]*stack     // by ID
	sets    map[string]*changeSet // by ID
	waiting map[string]*clock.Bell
	drifts  map[string]*driftDetection
	closed  bool
}

// Open loads the stacks of a store. Resume continues interrupted deployments; Close ends the service.
func Open(o Options) (*Service, error) {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Types == nil {
		o.Types = resource.All()
	}
	o.Stacks, o.Nesting = cmp.Or(o.Stacks, budgets.Stacks.Value), cmp.Or(o.Nesting, budgets.StackNesting.Value)
	if o.Caller == nil {
		o.Caller = func(context.Context, aws.Scope) string { return "" }
	}
	if o.Parallel == 0 {
		o.Parallel = 16
	}
	s := &Service{opts: o, table: o.Documents.Table("cloudformation"), types: o.Types, stacks: map[string]*stack{},
		sets: map[string]*changeSet{}, waiting: map[string]*clock.Bell{}, drifts: map[string]*driftDetection{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if err := s.load(); err != nil {
		s.stop()
		return nil, fmt.Errorf("the stacks: %w", err)
	}
	return s, nil
}

// Resume continues the deployments that were running when the store was closed. Call it once, after the services
// that create resources have become available.
func (s *Service) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.stacks {
		if st.Operation != nil && st.Parent == "" { // nested ones are resumed by their parents
			s.launch(st)
		}
	}
}

// Close stops the deployments and waits for them. They continue when the store is opened again.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.deployments.Wait()
	return nil
}

// launch executes a stack's operation on a new goroutine. The caller holds mu.
func (s *Service) launch(st *stack) {
	if s.closed || st.running {
		return
	}
	st.running = true
	s.opts.Clock.Go(s.ctx, &s.deployments, 0, func(ctx context.Context) { s.operate(ctx, st) })
}

type identityKey struct{}

// identity returns with whose permissions ctx calls services: those of the running operation, or for a request those
// of role or its client.
func (s *Service) identity(ctx context.Context, scope aws.Scope, role string) resource.Identity {
	if of, ok := ctx.Value(identityKey{}).(resource.Identity); ok {
		return of
	}
	return resource.Identity{Role: role, Caller: s.opts.Caller(ctx, scope)}
}

// acting returns a context in which a request calls services with a role, or without one as its client.
func (s *Service) acting(ctx context.Context, scope aws.Scope, role string) context.Context {
	return context.WithValue(ctx, identityKey{}, s.identity(ctx, scope, role))
}

func (s *Service) now() time.Time { return s.opts.Clock.Now() }

// codeValidation is the code of almost all CloudFormation errors.
const codeValidation = "ValidationError"

func invalid(format string, args ...any) *aws.Error {
	return &aws.Error{Code: codeValidation, Message: fmt.Sprintf(format, args...)}
}

// failure converts errors in a client's template to API errors.
func failure(err error) *aws.Error {
	var t *template.Error
	var p *resource.PropertyError
	switch {
	case errors.As(err, &t):
		return invalid("%s", t.Message)
	case errors.As(err, &p):
		return invalid("%s", p.Error())
	case errors.Is(err, documents.ErrBroken), errors.Is(err, documents.ErrClosed):
		return &aws.Error{Code: "ServiceUnavailable", Status: http.StatusServiceUnavailable,
			Message: "The stacks in the data directory cannot be read or written: " + err.Error()}
	}
	return nil
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{Model: "cloudformation", Invalid: codeValidation, Operations: s.operations(),
		Partly: partly, Accepted: accepted,
		Failure: failure, Default: s.opts.Scope, Log: s.opts.Log})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateStack":                       server.Handle(s.createStack),
		"UpdateStack":                       server.Handle(s.updateStack),
		"DeleteStack":                       server.Handle(s.deleteStack),
		"DescribeStacks":                    server.Handle(s.describeStacks),
		"ListStacks":                        server.Handle(s.listStacks),
		"DescribeStackEvents":               server.Handle(s.describeStackEvents),
		"DescribeStackResource":             server.Handle(s.describeStackResource),
		"DescribeStackResources":            server.Handle(s.describeStackResources),
		"ListStackResources":                server.Handle(s.listStackResources),
		"GetTemplate":                       server.Handle(s.getTemplate),
		"GetTemplateSummary":                server.Handle(s.getTemplateSummary),
		"ValidateTemplate":                  server.Handle(s.validateTemplate),
		"CreateChangeSet":                   server.Handle(s.createChangeSet),
		"DescribeChangeSet":                 server.Handle(s.describeChangeSet),
		"ExecuteChangeSet":                  server.Handle(s.executeChangeSet),
		"DeleteChangeSet":                   server.Handle(s.deleteChangeSet),
		"ListChangeSets":                    server.Handle(s.listChangeSets),
		"ContinueUpdateRollback":            server.Handle(s.continueUpdateRollback),
		"RollbackStack":                     server.Handle(s.rollbackStack),
		"CancelUpdateStack":                 server.Handle(s.cancelUpdateStack),
		"UpdateTerminationProtection":       server.Handle(s.updateTerminationProtection),
		"SetStackPolicy":                    server.Handle(s.setStackPolicy),
		"GetStackPolicy":                    server.Handle(s.getStackPolicy),
		"ListExports":                       server.Handle(s.listExports),
		"ListImports":                       server.Handle(s.listImports),
		"DetectStackDrift":                  server.Handle(s.detectStackDrift),
		"DetectStackResourceDrift":          server.Handle(s.detectStackResourceDrift),
		"DescribeStackDriftDetectionStatus": server.Handle(s.describeDriftDetection),
		"DescribeStackResourceDrifts":       server.Handle(s.describeStackResourceDrifts),
	}
}

// none is the response of operations without output.
type none struct{}

const noValidation = "resources are validated when they are created or changed, and not before"

// accepted lists the members of requests that have no effect, and why.
//
//nolint:gosec // no credentials
var accepted = map[string]map[string]string{
	"CreateStack":     {"DisableValidation": noValidation},
	"UpdateStack":     {"DisableValidation": noValidation},
	"CreateChangeSet": {"DisableValidation": noValidation},
	"CancelUpdateStack": {
		"ClientRequestToken": "a repeated request is rejected because of the status of the stack",
	},
}
