package functions

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/internal/ownerfs"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/inventory"
	"stepback/local/services/lambda/eventqueue"
	"stepback/local/services/lambda/runner"
	"stepback/local/services/lambda/runtimes"
)

// Objects reads deployment packages from S3.
type Objects interface {
	Get(ctx context.Context, bucket, key, version, expectedOwner string) (io.ReadCloser, int64, error)
}

// Options are the settings of a Service. The zero value has no S3 and discards logs.
type Options struct {
	// Objects reads code from S3. If it is nil, code must come with the request.
	Objects Objects
	// BuiltIn maps names to code that is part of the program.
	BuiltIn map[string]BuiltIn
	// LogSink returns the sink for the logs of the functions in a scope; nil discards them.
	LogSink func(aws.Scope) runner.LogSink
	// Ran, if not nil, is called for each invocation that has ended. It must return quickly.
	Ran func(aws.Scope, runner.Ran)
	// Sample decides whether to trace an invocation of a function whose TracingConfig is Active, if the caller has
	// not decided. nil traces none.
	Sample func(scope aws.Scope, name, arn string) bool
	// Deliver sends a record or a dead letter of an asynchronous invocation to the target with an ARN, as
	// delivery.Targets does. If it is nil, there are no destinations.
	Deliver func(ctx context.Context, arn string, m *delivery.Message) error
	// Env is added to the environment of every function; the function's own variables take precedence.
	Env map[string]string
	// Keys returns the credentials of functions with a role, as environment variables. nil means that they use their
	// account's credentials.
	Keys func(role, function string) (map[string]string, error)
	// Environments is the maximum number of processes per function version; the default is 32.
	Environments int
	// Total is the maximum number of processes of all functions; the default is 256. TotalMemoryMB is the maximum
	// sum of their configured memory; the default is no limit.
	Total, TotalMemoryMB int
	// FetchPackages allows the SDKs that AWS's runtimes include to be fetched from the npm and Python registries
	// when a function first imports one. If it is false, functions that need a missing SDK fail with a hint.
	FetchPackages bool
	// IdleTimeout is the time after which an idle process is stopped; the default is 5 minutes.
	IdleTimeout time.Duration
	// Now returns the current time; the default is time.Now.
	Now func() time.Time
	// Store stores asynchronous invocations until they have ended; the default is a separate store in the directory.
	Store *documents.Store
	// Files is the inventory that the functions' files are in; nil means none.
	Files *inventory.Files
	// Clock is used for the waits of asynchronous invocations; the default is real time.
	Clock *clock.Clock
	// Log receives messages for the operator; the default discards them.
	Log *slog.Logger
}

// Service stores the functions and runs them. It is safe for concurrent use.
type Service struct {
	dir      string
	opts     Options
	runtimes *runtimes.Set
	packages *runtimes.Packages
	capacity *runner.Capacity
	layers   *layers
	events   *eventqueue.Queue
	durable  Durable        // nil if there are no durable functions
	own      []func() error // closes what the options did not provide

	mu    sync.RWMutex
	areas map[aws.Scope]*area
}

const (
	defaultEnvironments = 32
	defaultTotal        = 256
	defaultIdleTimeout  = 5 * time.Minute
)

// Open loads the functions in dir, which it creates if needed. A description or a package that is damaged or missing is
// an error; damaged code is unpacked again from its package. Only one Service may have a directory open at a time.
func Open(ctx context.Context, dir string, opts Options) (*Service, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if opts.Environments <= 0 {
		opts.Environments = defaultEnvironments
	}
	if opts.Total <= 0 {
		opts.Total = defaultTotal
	}
	if opts.IdleTimeout <= 0 {
		opts.IdleTimeout = defaultIdleTimeout
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.RemoveAll(filepath.Join(dir, "tmp")); err != nil { // received by a process that was killed
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), ownerfs.Dir); err != nil {
		return nil, err
	}
	set, err := runtimes.Open(filepath.Join(dir, "runtimes"))
	if err != nil {
		return nil, err
	}
	s := &Service{dir: dir, opts: opts, runtimes: set,
		packages: runtimes.PackagesIn(filepath.Join(dir, "packages"), opts.FetchPackages, func(name string) {
			opts.Log.Warn("fetching a package that AWS's runtime brings along", "package", name)
		}),
		areas:    map[aws.Scope]*area{},
		layers:   &layers{dir: filepath.Join(dir, "layers"), files: opts.Files},
		capacity: runner.NewCapacity(opts.Total, opts.TotalMemoryMB)}
	if err := s.openEvents(); err != nil {
		return nil, errors.Join(err, s.closeOwn())
	}
	if err := errors.Join(s.load(ctx), s.sweepLayers()); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

// openEvents opens the queue of asynchronous invocations.
func (s *Service) openEvents() (err error) {
	if s.opts.Store == nil {
		if s.opts.Store, err = documents.Open(filepath.Join(s.dir, "events"), nil); err != nil {
			return err
		}
		s.own = append(s.own, s.opts.Store.Close)
	}
	if s.opts.Clock == nil {
		s.opts.Clock = clock.Real()
		s.own = append(s.own, func() error { s.opts.Clock.Close(); return nil })
	}
	s.events, err = eventqueue.Open(eventqueue.Options{Store: s.opts.Store, Clock: s.opts.Clock, Invoke: s.invokeEvent,
		Tell: s.tell, Log: s.opts.Log})
	return err
}

// Now returns the service's current time.
func (s *Service) Now() time.Time { return s.opts.Now() }

// Resume continues with the asynchronous invocations that an earlier process left. Call it once, when the services
// that functions and destinations need are available.
func (s *Service) Resume() { s.events.Resume() }

// Closing announces that the services that functions call are about to be closed. An asynchronous invocation that
// fails from now on is repeated by the next process, as if it had not been tried.
func (s *Service) Closing() { s.events.Closing() }

// StopEvents cancels running asynchronous invocations and waits for them. They are kept for the next process, and new
// ones are refused. Call it before the destinations are closed.
func (s *Service) StopEvents() { s.events.Close() }

func (s *Service) closeOwn() error {
	errs := make([]error, 0, len(s.own))
	for _, end := range s.own {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// Close refuses new invocations, cancels running ones together with their processes, and waits for them until ctx
// ends. Asynchronous invocations are kept for the next process.
func (s *Service) Close(ctx context.Context) error {
	s.events.Close()
	s.mu.RLock()
	areas := slices.Collect(maps.Values(s.areas))
	s.mu.RUnlock()
	errs := make([]error, 0, len(areas))
	for _, a := range areas {
		errs = append(errs, a.lambda.Close(ctx))
	}
	return errors.Join(append(errs, s.closeOwn())...)
}

// known returns the area of a scope, or nil if it has never had a function.
func (s *Service) known(scope aws.Scope) *area {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.areas[scope]
}

// area returns the area of a scope and creates it if needed.
func (s *Service) area(scope aws.Scope) (*area, error) {
	if a := s.known(scope); a != nil {
		return a, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.areas[scope]; a != nil {
		return a, nil
	}
	a := newArea(scope, filepath.Join(s.dir, scope.Account, scope.Region), s.opts, s.capacity)
	s.areas[scope] = a
	return a, nil
}

// find returns a function and its area. If there is no such function, it returns Lambda's error for the ARN with
// the given ending.
func (s *Service) find(scope aws.Scope, name, ending string) (*area, *record, error) {
	if a := s.known(scope); a != nil {
		if r := a.record(name); r != nil {
			return a, r, nil
		}
	}
	return nil, nil, notFound("Function not found: %s%s", arnOf(scope, name), ending)
}

// elsewhere logs a hint if a function that was not found exists in another account or region. This happens because
// definitions taken from AWS name functions by the ARNs of their real account.
func (s *Service) elsewhere(scope aws.Scope, name string) {
	s.mu.RLock()
	areas := slices.Collect(maps.Values(s.areas))
	s.mu.RUnlock()
	var found []string
	for _, a := range areas {
		if a.scope != scope && a.record(name) != nil {
			found = append(found, arnOf(a.scope, name))
		}
	}
	if len(found) == 0 {
		return
	}
	slices.Sort(found)
	s.opts.Log.Warn("a function was not found that is there in another account or region; stepback serve --account "+
		"and --region say what requests are for that do not say it themselves",
		"asked", arnOf(scope, name), "there", found[0])
}

func arnOf(scope aws.Scope, name string) string {
	return scope.ARN("lambda", "function:"+name)
}
