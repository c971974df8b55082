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
	// Logs receives the functions' logs. Without it there are none, and no time is spent on them.
	Logs LogSink
	// IdleTimeout is how long an execution environment may be idle before it is ended; 0 keeps them until the function
	// goes or the service closes.
	IdleTimeout time.Duration
	// InitTimeout is how long a process may take until it asks for its first event, and does not count to the
	// function's time; the default is Lambda's, 10 seconds.
	InitTimeout time.Duration
	// Room bounds the processes of all functions, and of other services that share it; the default has no bounds.
	Room *Room
	// Ran is called for each invocation that has ended, and must be quick; nil is not called.
	Ran func(Ran)
	// Sample decides whether an invocation of a function with Traced is traced that nobody has decided about; nil
	// traces none.
	Sample func(name, arn string) bool
}

// Ran is what there is to measure of an invocation.
type Ran struct {
	Function string
	Took     time.Duration
	// Failed says that the function answered an error, was out of time or crashed; Throttled that it was not invoked
	// because too many of its invocations were under way.
	Failed, Throttled bool
	// Active is how many invocations of the function were under way, this one included.
	Active int64
	// ARN is the function's, RequestID that of the invocation.
	ARN, RequestID string
	// Trace is the trace that the invocation belongs to, recorded or not; Segment is the ID of the function's segment,
	// under which the function itself traces.
	Trace   aws.Trace
	Segment string
}

// Service is the Lambda service of the laptop. It is safe for concurrent use.
type Service struct {
	opts Options

	mu        sync.RWMutex
	functions map[versionKey]*deployed
	limits    map[string]*limit // by function name
	closed    bool

	calls     sync.WaitGroup // invocations
	threads   sync.WaitGroup // goroutines of environments that call handlers
	abandoned atomic.Int64   // handlers whose time was up and that have not returned
	ctx       context.Context
	stop      context.CancelFunc
	keeper    sync.WaitGroup // ends idle environments
}

// versionKey is one version of a function.
type versionKey struct{ name, version string }

// deployed is a registered function with its execution environments.
type deployed struct {
	Function
	arn   string
	lost  string // the stream of what belongs to no execution environment
	limit *limit
	pool  *pool
}

// limit bounds the invocations of all versions of a function at one time.
type limit struct{ most, active atomic.Int64 }

// New makes a Service without functions.
func New(opts Options) *Service {
	if opts.Region == "" {
		opts.Region = "us-east-1"
	}
	if opts.Account == "" {
		opts.Account = "000000000000"
	}
	if opts.Room == nil {
		opts.Room = NewRoom(0, 0)
	}
	s := &Service{opts: opts, functions: map[versionKey]*deployed{}, limits: map[string]*limit{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if opts.IdleTimeout > 0 {
		s.keeper.Go(s.endIdle)
	}
	return s
}

// begin counts a call in, unless the service is closed. What knows the function must leave it again.
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

// endIdle ends the environments that nobody has used for a while, until the service closes.
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

// Abandoned is the number of in-process handlers that ignored the end of their context and still run.
func (s *Service) Abandoned() int { return int(s.abandoned.Load()) }

// Close refuses new calls, ends those under way (contexts are cancelled, processes killed), and waits until all
// processes are reaped and all handlers have returned, at most until ctx ends. A handler that ignores its context
// cannot be stopped; the error says how many are left behind.
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
