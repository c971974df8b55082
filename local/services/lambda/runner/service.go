package runner

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"stepback/aws"
)

// Options are the settings of a Service; the zero value is usable.
type Options struct {
	// Region and Account appear in ARNs; the defaults are us-east-1 and 000000000000.
	Region, Account string
	// Logs receives the functions' logs. If it is nil, no logs are written and no time is spent on them.
	Logs LogSink
	// IdleTimeout is the time after which an idle execution environment is ended; 0 keeps it until the function is
	// removed or the service closes.
	IdleTimeout time.Duration
	// InitTimeout is the time limit for a process to ask for its first event. This time does not count towards the
	// function's timeout. The default is Lambda's, 10 seconds.
	InitTimeout time.Duration
	// Capacity limits the processes of all functions, and of other services that share it; the default is no limit.
	Capacity *Capacity
	// Ran, if not nil, is called for each invocation that has ended. It must return quickly.
	Ran func(Ran)
	// Sample decides whether to trace an invocation of a function with Traced, if the caller has not decided. nil
	// traces none.
	Sample func(name, arn string) bool
}

// Ran holds the measurements of an invocation.
type Ran struct {
	Function string
	Took     time.Duration
	// Failed is true if the function returned an error, timed out or crashed. Throttled is true if the function was
	// not invoked because too many of its invocations were already running.
	Failed, Throttled bool
	// Active is the number of running invocations of the function, this one included.
	Active int64
	// ARN is the function's ARN. RequestID identifies the invocation.
	ARN, RequestID string
	// Trace is the trace to which the invocation belongs, recorded or not. Segment is the ID of the function's
	// segment, which is the parent of the function's own subsegments.
	Trace   aws.Trace
	Segment string
}

// Service runs the registered functions. It is safe for concurrent use.
type Service struct {
	opts Options

	mu        sync.RWMutex
	functions map[versionKey]*deployed
	limits    map[string]*limit // by function name
	closed    bool

	calls     sync.WaitGroup // invocations
	threads   sync.WaitGroup // goroutines of environments that call handlers
	abandoned atomic.Int64   // timed-out handlers that have not returned
	ctx       context.Context
	stop      context.CancelFunc
	keeper    sync.WaitGroup // ends idle environments
}

// versionKey identifies a version of a function.
type versionKey struct{ name, version string }

// deployed is a registered function with its execution environments.
type deployed struct {
	Function
	arn   string
	lost  string // log stream for lines outside of any execution environment
	limit *limit
	pool  *pool
}

// limit counts and limits the concurrent invocations of all versions of a function.
type limit struct{ most, active atomic.Int64 }

// New returns a Service without functions.
func New(opts Options) *Service {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "000000000000"
	}
	if opts.Capacity == nil {
		opts.Capacity = NewCapacity(0, 0)
	}
	s := &Service{opts: opts, functions: map[versionKey]*deployed{}, limits: map[string]*limit{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if opts.IdleTimeout > 0 {
		s.keeper.Go(s.endIdle)
	}
	return s
}

// begin looks up a function and, if it is known, counts a call that the caller must end with leave. It returns an
// error if the service is closed.
func (s *Service) begin(name, version string) (d *deployed, known bool, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, false, serviceClosed()
	}
	d, known = s.functions[versionKey{name, version}]
	if known {
		s.calls.Add(1)
		d.pool.hold()
	}
	return d, known, nil
}

func (s *Service) leave(d *deployed) {
	d.pool.release()
	s.calls.Done()
}

// endIdle ends environments that have been idle for too long, until the service closes.
func (s *Service) endIdle() {
	tick := time.NewTicker(s.opts.IdleTimeout / 2)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			s.endIdleSince(now.Add(-s.opts.IdleTimeout))
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *Service) endIdleSince(t time.Time) {
	for _, d := range s.all() {
		d.pool.endIdleSince(t)
	}
}

func (s *Service) all() []*deployed {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]*deployed, 0, len(s.functions))
	for _, d := range s.functions {
		list = append(list, d)
	}
	return list
}

// Abandoned returns the number of in-process handlers that ignored the end of their context and are still running.
func (s *Service) Abandoned() int { return int(s.abandoned.Load()) }

// Close refuses new calls, stops running ones (contexts are cancelled, processes killed), and waits until all
// processes are reaped and all handlers have returned, or until ctx ends. A handler that ignores its context cannot
// be stopped; the error reports how many are left behind.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.keeper.Wait()
		s.calls.Wait()
		if first {
			for _, d := range s.all() {
				d.pool.retire()
			}
		}
		s.threads.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	return fmt.Errorf("close the Lambda service: %d handlers ignored the end of their context and still run: %w",
		s.Abandoned(), ctx.Err())
}
