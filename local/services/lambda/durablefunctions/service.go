package durablefunctions

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/tasks/lambda/invocation"
)

// Options are the settings of a Service. Journal, Clock and Functions are required.
type Options struct {
	Journal   journal.Journal
	Clock     *clock.Clock
	Functions Functions
	// Changed, if not nil, is called with the events of each step once they are durable. It must return quickly.
	Changed func(*journal.Execution, []history.Event)
	// Track, if not nil, returns the function that receives the events of an execution from now on, after past; see
	// engine.Config.Track and Service.Tracked.
	Track func(x *journal.Execution, past []history.Event) func([]history.Event)
	// Recovered, if not nil, is called once for each unfinished execution of an earlier process, with its events,
	// before it continues. It must be safe for concurrent use.
	Recovered func(x *journal.Execution, past []history.Event)
	// Resumed, if not nil, is called once after Resume, when all of these executions have been recovered, or with the
	// error of a journal that cannot be read. It is not called if the service closes first.
	Resumed func(error)
	// Ended, if not nil, is called with an execution that has ended, its whole history, and the operations and bytes
	// that it used of durable.MaxOperations and durable.MaxWritten, once its end is durable. It must return quickly.
	Ended func(x *journal.Execution, all []history.Event, operations, bytes int)
	// Destinations, if not nil, receives the results of executions that were started asynchronously (invocation.Event).
	Destinations Destinations
	// Tracer, if not nil, decides which executions are traced.
	Tracer Tracer
	// Chained, if not nil, answers the chained invokes of all executions instead of Functions; see Chained.
	Chained Chained
	// AwaitCall, if not nil, is called before each chained invoke, and returns when the execution may call the
	// function. The error is ctx's.
	AwaitCall func(ctx context.Context, execution, function string) error
	// Log receives what goes wrong in the background; nil discards it.
	Log *slog.Logger
}

// Tracer decides which executions are traced by X-Ray, and knows the segments of those that are.
type Tracer interface {
	// Sample reports whether an execution of a version with Traced is recorded, if the request that starts it has not
	// decided that.
	Sample(v Version) bool
	// Segment returns the ID of the segment of an execution, or of one of its operations if operation is not empty.
	Segment(execution, operation string) string
}

// Chained answers the chained invoke o of an execution, whose ARN is given, without its function. It may wait. ctx ends
// when the service closes; the outcome is ignored then. An error fails the chained invoke.
type Chained func(ctx context.Context, execution string, o *durable.Operation) (*durable.Outcome, error)

// Functions are the functions that have durable executions.
type Functions interface {
	// Run invokes a version of a function once, even if it is durable. The error is an *aws.Error, or ctx's.
	Run(ctx context.Context, v Version, r *invocation.Request) (*invocation.Answer, error)
	// Resolve returns the version that a name of a function, or an ARN, stands for. The error is an *aws.Error.
	Resolve(scope aws.Scope, name string) (Version, error)
}

// Destinations sends the results of executions to the on-success and on-failure destinations and the dead-letter queues
// of their functions.
type Destinations interface {
	// Expects reports whether a destination of the version receives the results of executions with a status.
	Expects(v Version, status string) bool
	// Send returns nil once the result is stored by the queue that delivers it, or if no destination expects it any
	// more. After an error, and after a crash, the same result is sent again.
	Send(ctx context.Context, e *Ended) error
}

// Version is a version of a function.
type Version struct {
	Scope    aws.Scope
	Function string
	// Number is the number of the version, or $LATEST. Alias is the alias through which it was named; empty if none.
	Number, Alias string
	// Qualified is true if the name contained a version or an alias.
	Qualified bool
	// Timeout and Retention are the function's DurableConfig: seconds, and days. Timeout is 0 if the function is not
	// durable.
	Timeout, Retention int64
	// Tenants is true if every invocation must name a tenant.
	Tenants bool
	// Traced is true if the function's TracingConfig is Active.
	Traced bool
}

// ARN returns the function's ARN, with the version if it is qualified.
func (v Version) ARN() string { return v.function() + ":" + v.Number }

func (v Version) function() string { return v.Scope.ARN("lambda", "function:"+v.Function) }

// Ended is an execution that has ended, with the request that started it.
type Ended struct {
	Version Version
	ARN     string
	Input   string
	Status  string
	Result  *string
	Error   *durable.Error
}

const (
	// patience is the time for which a running invocation holds virtual time.
	patience = 10 * time.Second
	// outsidePatience is the real time after which virtual time advances to the timeout of an execution, if nothing but
	// that timeout is left to happen: the time that the completion of a callback without a timeout may take.
	outsidePatience = 30 * time.Second
	// mostInvocations bounds the invocations that run at the same time; further ones wait for their turn.
	mostInvocations = 1000
)

// Service runs durable executions. It is safe for concurrent use.
type Service struct {
	o       Options
	ctx     context.Context //nolint:containedctx // ends when the service closes
	cancel  context.CancelFunc
	group   sync.WaitGroup
	slots   chan struct{}
	closing atomic.Bool
	holds   holds

	mu       sync.Mutex
	runs     map[string]*run     // of executions that have not ended, by ARN
	starting map[string]struct{} // names that are being started
	freed    chan struct{}       // closed and replaced when a name is no longer being started
	recovery *recovery           // nil once every execution of an earlier process has been recovered
	resumed  bool                // Resume was called
	closed   bool

	stamps  sync.Mutex         // guards what follows
	stamped map[*run]time.Time // the times of commands that are not tracked yet
}

// Open opens the executions that a journal has. Requests about executions of an earlier process are answered at once;
// Resume continues those executions. Until they have been recovered, virtual time stands still. Open returns an error
// if the journal cannot be read.
func Open(ctx context.Context, o Options) (*Service, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Service{o: o, slots: make(chan struct{}, mostInvocations), runs: map[string]*run{},
		starting: map[string]struct{}{}, freed: make(chan struct{}), stamped: map[*run]time.Time{}}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	if s.recovery, err = s.newRecovery(); err != nil {
		s.cancel()
		return nil, err
	}
	if s.recovery != nil {
		o.Clock.Hold()
	}
	return s, nil
}

// Running returns the number of executions that have not ended, by account and region. While executions of an earlier
// process are recovered, it lacks those that have not been reached.
func (s *Service) Running() map[aws.Scope]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := map[aws.Scope]int{}
	for arn := range s.runs {
		a, _ := aws.ParseARN(arn)
		n[a.Scope()]++
	}
	return n
}

// Closing announces that the services that functions call are about to be closed. What fails from now on is repeated by
// the next process.
func (s *Service) Closing() { s.closing.Store(true) }

// Close cancels the running invocations and waits for them. Executions that have not ended stay in the journal.
func (s *Service) Close() {
	s.closing.Store(true)
	s.mu.Lock()
	if b := s.recovery; b != nil && !s.resumed && !s.closed {
		b.stop()
		b.err = closing()
		close(b.done)
		defer s.o.Clock.Release()
	}
	s.closed = true
	runs := make([]*run, 0, len(s.runs))
	for _, r := range s.runs {
		runs = append(runs, r)
	}
	s.mu.Unlock()
	s.cancel()
	for _, r := range runs {
		r.disarm()
	}
	s.group.Wait()
}

// goWork runs f on a goroutine that holds the clock and that Close waits for. Once the service is closed, it does
// nothing and returns false.
func (s *Service) goWork(f func(context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.o.Clock.Go(s.ctx, &s.group, patience, f)
	return true
}

// run returns the running execution with an ARN, or nil.
func (s *Service) run(arn string) *run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[arn]
}

func (s *Service) remove(r *run) {
	s.mu.Lock()
	delete(s.runs, r.arn)
	s.mu.Unlock()
}

// aStatus returns a status of an execution in the API's spelling: Lambda says STOPPED where Step Functions says
// ABORTED.
func aStatus(s history.Status) string {
	if s == history.Aborted {
		return durable.Stopped
	}
	return string(s)
}

func journalStatus(s string) history.Status {
	if s == durable.Stopped {
		return history.Aborted
	}
	return history.Status(s)
}
