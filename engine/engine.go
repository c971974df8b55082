// Package engine runs state machines. Around the pure interpreter, it manages the clock, the workers, the journal,
// the tasks in flight and the Map Runs. It knows nothing about individual AWS services; integrations are passed to
// it.
package engine

import (
	"context"
	"errors"
	"fmt"
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

// Config configures an engine. Clock and Journal are required; everything else has defaults.
type Config struct {
	Clock   *clock.Clock
	Journal journal.Journal
	// Integrations run tasks, by the service and the action of their Resource. New copies the registrations. If it
	// is nil, there are none, and every task fails.
	Integrations *Integrations
	// Mocks returns the Interceptor for an execution of the named state machine that is started for a test case.
	// nil means that there are no test cases.
	Mocks func(machine, testCase string) (Interceptor, error)
	// Activity reports whether an activity with the ARN exists; nil means that no activity exists.
	Activity func(arn string) (bool, error)
	// Objects is the store that ItemReaders read and ResultWriters write; nil means that there is none.
	Objects Objects
	// Formats holds readers for item formats that the engine itself does not support, by InputType. For PARQUET,
	// that is itemreader.FormatOf(parquetrows.Open).
	Formats itemreader.Formats
	// TempDir is the directory in which ResultWriters spool; empty means the system's.
	TempDir string
	// Region and Account appear in ARNs; default us-east-1 and 000000000000.
	Region, Account string
	// Workers is the number of goroutines that step executions; default one per CPU.
	Workers int
	// Seed makes all random numbers repeatable. 0 means a random seed.
	Seed uint64
	// Patience limits how long, in real time, a task may take on a virtual clock before it is considered hung, so
	// that its timeout passes at once. The time starts again whenever the task has waited for the clock. It may be
	// shorter or longer than the task's TimeoutSeconds. 0 means the task's TimeoutSeconds, but at least five seconds
	// because the machine may be busy; a task without TimeoutSeconds is then not limited. A negative value means
	// unlimited.
	Patience time.Duration
	// Overran is called when a task on a virtual clock has exceeded Patience, before time continues without it; if the
	// task times out then, it is because it really took so long. It must not block. nil is not called.
	Overran func(Overrun)
	// Observe is called for every execution that has ended, with its whole history, before the end becomes visible
	// elsewhere. It runs on a worker and must be quick; the slice is only valid during the call.
	Observe func(*journal.Execution, []history.Event)
	// Follow is called with the events of every step once they are durable, in order for each execution. It runs on a
	// worker and must be quick; the slice is only valid during the call.
	Follow func(*journal.Execution, []history.Event)
	// Track is called once for each execution that runs in this engine, before its first event here: when it starts,
	// is redriven, or is recovered. past holds the events that it already had. recovered is true if an earlier engine
	// produced them, which may have died before it could count them; it is false for a redrive. The function that Track
	// returns is called like Follow, with the events of every step, and before Follow. It may be nil. Both run on a
	// worker or in a recovery, must be quick, and get slices that are only valid during the call.
	Track func(x *journal.Execution, past []history.Event, recovered bool) func([]history.Event)
	// Recovered is called by Recover with the executions it found, after all of them have been replayed and before
	// any resumes. If it returns an error, none resumes. RecoverInBackground calls it for each group of executions,
	// sometimes from several goroutines.
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

	repeatable bool // a seed was configured
	activities activities
	redrives   redrives
	holds      holds
	limits     callLimits
	retrying   startorder.Set[*run] // executions with a state that waits for a retry

	mu       sync.Mutex
	machines map[string]*StateMachine
	runs     map[string]*run
	mapRuns  map[string]*maprun.Run
	adopted  map[string][]*run // replayed child executions that are waiting for their Map Runs, by ARN
	closed   bool

	recovering *background         // nil once every execution of the earlier engine has been recovered
	restoring  map[string]*claim   // executions that are being restored, by ARN
	dormant    map[string]*dormant // executions that wait in the journal, by ARN
	due        []string            // dormant executions whose timers have fired
	wakers     int                 // goroutines that restore them

	closing atomic.Bool // see Closing

	stopping atomic.Bool // Close has begun: expressions that are being evaluated are interrupted
	// evaluating is a test's hook: it is called from time to time while an expression of the execution is evaluated;
	// nil otherwise.
	evaluating func(arn string)
}

// ErrClosed is returned if the engine accepts no more work.
var ErrClosed = errors.New("engine: closed")

// New starts an engine; Close stops it. It returns an error if cfg has no Clock or no Journal, or negative
// Workers.
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
	if cfg.Workers < 0 {
		return nil, fmt.Errorf("engine: Config.Workers is %d; it must be 0 (one per CPU) or more", cfg.Workers)
	}
	if cfg.Workers == 0 {
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
		adopted: map[string][]*run{}, restoring: map[string]*claim{}, dormant: map[string]*dormant{},
		retrying: startorder.New[*run](),
	}
	e.seeds.random.Seed, e.repeatable = cfg.Seed, repeatable
	e.activities.clock, e.activities.queues = cfg.Clock, map[string]*activityQueue{}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	e.runners.next = make(chan invocation)
	e.queue.start(cfg.Workers, e.work)
	return e, nil
}

// Closing announces that the resources of tasks, and then the engine, are about to shut down. A task that succeeds
// still counts. A task that fails from now on may have failed because of the shutdown, so it stays in flight in the
// journal, and the next engine runs it again, as after a crash.
func (e *Engine) Closing() { e.closing.Store(true) }

// Close stops accepting work, cancels the tasks in flight, and waits for everything the engine started. Executions
// that are still running keep the state that the journal has stored, for Recover to resume. Close does not close
// the clock or the journal, which the caller owns. It may be called more than once.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stopping.Store(true)
	e.queue.stop() // first: workers start tasks, and must not see them fail because they are cancelled below
	e.cancel(ErrClosed)
	e.tasks.Wait()
	e.stopDormant()
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

// seeds generates random numbers, reproducibly for a given engine seed and order of calls. The events of executions
// have their own seeds, see run.seed.
type seeds struct {
	mu     sync.Mutex
	random aws.Random
}

func (s *seeds) next() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Uint64()
}
