package lambda

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Options are the settings of a Service; the zero value is usable.
type Options struct {
	// Region and Account appear in ARNs; the defaults are us-east-1 and
	// 000000000000.
	Region, Account string
	// Logs receives the functions' logs. Without it there are none, and no
	// time is spent on them.
	Logs LogSink
}

// Service is the Lambda service of the laptop. It is safe for concurrent use.
type Service struct {
	opts Options

	mu        sync.RWMutex
	functions map[string]*deployed
	closed    bool

	// calls counts invocations, and handlers that were abandoned when their
	// time was up, until they have returned.
	calls     sync.WaitGroup
	abandoned atomic.Int64
	ctx       context.Context
	stop      context.CancelFunc
}

// deployed is a registered function with its execution environments.
type deployed struct {
	Function
	arn    string
	active atomic.Int64
	pool   *pool
}

// New makes a Service without functions.
func New(opts Options) *Service {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "000000000000"
	}
	s := &Service{opts: opts, functions: map[string]*deployed{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Register makes f known. A name can be registered once.
func (s *Service) Register(f Function) error {
	f = f.withDefaults()
	if err := f.check(); err != nil {
		return err
	}
	d := &deployed{Function: f, arn: s.FunctionARN(f.Name)}
	var r runner = &processRunner{function: d, region: s.opts.Region, logs: s.opts.Logs}
	if f.Handler != nil {
		r = &handlerRunner{handler: f.Handler, calls: &s.calls, abandoned: &s.abandoned}
	}
	d.pool = newPool(r, f.Environments)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.functions[f.Name]; taken {
		return fmt.Errorf("function %s is registered already", f.Name)
	}
	s.functions[f.Name] = d
	return nil
}

// begin counts a call in, unless the service is closed.
func (s *Service) begin(name string) (d *deployed, known bool, err *APIError) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, false, serviceClosed()
	}
	d, known = s.functions[name]
	s.calls.Add(1)
	return d, known, nil
}

// Abandoned is the number of in-process handlers that ignored the end of
// their context and still run.
func (s *Service) Abandoned() int { return int(s.abandoned.Load()) }

// Close refuses new calls, ends those under way (contexts are cancelled,
// processes killed), and waits until all processes are reaped and all handlers
// have returned, at most until ctx ends. A handler that ignores its context
// cannot be stopped; the error says how many are left behind.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.calls.Wait()
		for _, d := range s.functions {
			d.pool.close()
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	return fmt.Errorf("close the Lambda service: %d handlers ignored the end of their context and still run: %w", s.Abandoned(), ctx.Err())
}
