// Package engine runs state machines: around the pure interpreter it owns the clock, the workers, the journal, the
// tasks in flight and the Map Runs. It knows no AWS service by name; integrations are handed to it.
package engine

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/internal/maprun"
	"stepback/engine/internal/startorder"
	"stepback/engine/itemreader"
	"stepback/engine/journal"
)

// Config is what an engine is made of. Clock and Journal are required; the rest has defaults.
type Config struct {
	Clock   *clock.Clock
	Journal journal.Journal
	// Integrations carry out tasks, by the service and the action of their Resource. New copies the registrations. nil
	// has none: every task fails.
	Integrations *Integrations
	// Mocks finds what intercepts the tasks of an execution that is started for a test case, by the name of its state
	// machine; nil when there are no test cases.
	Mocks func(machine, testCase string) (Interceptor, error)
	// Activity reports whether there is an activity of an ARN; nil means that there are none.
	Activity func(arn string) (bool, error)
	// Objects is where ItemReaders read and ResultWriters write; nil when there is no object store.
	Objects Objects
	// Formats reads items in formats that the engine does not read itself, by InputType: PARQUET with
	// itemreader.FormatOf(parquetrows.Open).
	Formats itemreader.Formats
	// TempDir is where ResultWriters spool; empty means the system's.
	TempDir string
	// Region and Account appear in ARNs; default us-east-1 and 000000000000.
	Region, Account string
	// Workers is the number of goroutines that step executions; default one per CPU.
	Workers int
	// Seed makes all randomness repeatable; 0 draws a seed.
	Seed uint64
	// Patience is how long, in real time, a task may take on a virtual clock before it is taken to hang, so that its
	// timeout passes at once. It counts anew whenever the task has waited for the clock. 0 is as long as its
	// TimeoutSeconds, but five seconds at least, since a machine may be busy, and for ever if the task has none; so is
	// a negative time.
	Patience time.Duration
	// Observe is told of every execution that ended, with its whole history, before anybody else learns of the end. It
	// runs on a worker and must be quick; the slice is only valid during the call.
	Observe func(*journal.Execution, []history.Event)
	// Follow is told of the events of every step once they are durable, of each execution in their order. It runs on a
	// worker and must be quick; the slice is only valid during the call.
	Follow func(*journal.Execution, []history.Event)
	// Recovered is told by Recover what it found, when everything is replayed and before anything goes on. An error
	// keeps it from going on.
	Recovered func(context.Context, *Recovered) error
	Log       *slog.Logger
}

// Engine runs executions. It is safe for concurrent use.
type Engine struct {
	cfg   Config
	clock *clock.Clock
	names names
	log   *slog.Logger

	ctx     context.Context // ends when the engine closes; parent of all tasks
	cancel  context.CancelCauseFunc
	tasks   sync.WaitGroup // task invocations and Map Runs
	queue   queue
	runners taskRunners
	seeds   seeds

	repeatable bool // a seed was given
	activities activities
	redrives   redrives
	retrying   startorder.Set[*run] // the executions with a state that waits for a retry

	mu       sync.Mutex
	machines map[string]*StateMachine
	runs     map[string]*run
	mapRuns  map[string]*maprun.Run
	adopted  map[string][]*run // replayed child executions that wait for their Map Runs, by ARN
	closed   bool

	closing atomic.Bool // see Closing
}

// ErrClosed says that the engine takes no more work.
var ErrClosed = errors.New("engine: closed")

// New starts an engine. Close ends it. The error is that of a Config without a Clock or a Journal.
func New(cfg Config) (*Engine, error) {
	if cfg.Clock == nil || cfg.Journal == nil {
		return nil, errors.New("engine: Config needs a Clock and a Journal")
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	if cfg.Account == "" {
		cfg.Account = "000000000000"
	}
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	repeatable := cfg.Seed != 0
	if !repeatable {
		cfg.Seed = rand.Uint64()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Integrations = cfg.Integrations.Clone()
	e := &Engine{
		cfg: cfg, clock: cfg.Clock, log: cfg.Log, names: names{aws.Scope{Account: cfg.Account, Region: cfg.Region}},
		machines: map[string]*StateMachine{}, runs: map[string]*run{}, mapRuns: map[string]*maprun.Run{},
		adopted: map[string][]*run{},
	}
	e.seeds.random.Seed, e.repeatable = cfg.Seed, repeatable
	e.activities.clock, e.activities.queues = cfg.Clock, map[string]*activityQueue{}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.runners.next = make(chan invocation)
	e.queue.start(cfg.Workers, e.work)
	return e, nil
}

// Closing says that what tasks depend on is about to end, and the engine after it. A task that succeeds still does. One
// that fails from now on may have failed for that: it stays as the journal has it, in flight, and the next engine
// carries it out again, as after a crash.
func (e *Engine) Closing() { e.closing.Store(true) }

// Close stops taking work, cancels the tasks in flight, and waits for everything the engine started. Executions that
// are still running stay as the journal has them, for Recover to go on with. It does not close the clock or the
// journal, which the caller owns. It may be called more than once.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.queue.stop() // first: workers start tasks, and must not see them fail because they are cancelled here
	e.cancel(ErrClosed)
	e.tasks.Wait()
	e.mu.Lock()
	runs := make([]*run, 0, len(e.runs))
	for _, r := range e.runs {
		runs = append(runs, r)
	}
	e.mu.Unlock()
	for _, r := range runs {
		r.release()
	}
}

// seeds hands out random numbers, repeatably for one engine seed and one order of asking. The events of executions have
// seeds of their own, see run.seed.
type seeds struct {
	mu     sync.Mutex
	random aws.Random
}

func (s *seeds) next() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Uint64()
}
