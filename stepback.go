package stepback

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/tasks/lambda"
)

// Types of other packages that this package uses. They are aliases. So an application can pass these values to the
// packages that read histories (retrymetrics, engine/timeline, engine/graph), and can register an Integration of
// package tasks here.
type (
	// Event is an event in an execution's history.
	Event = history.Event
	// Failure is an error name and a cause, as retriers and catchers receive them. *Failure implements error.
	Failure = history.Failure
	// Status is the status of an execution, as the API of Step Functions spells it.
	Status = history.Status
	// Retry is a state that failed and waits for its retrier's delay.
	Retry = engine.Retry
	// Clock provides the time and timers.
	Clock = clock.Clock
	// Task is a task for an Integration.
	Task = engine.Task
	// Result is the result of a task; engine.TextResult makes one from JSON text.
	Result = engine.Result
	// Integration performs the tasks of a service other than Lambda.
	Integration = engine.Integration
	// Integrations routes tasks to integrations by service and action, as http.ServeMux routes requests.
	Integrations = engine.Integrations
	// Objects stores what distributed Maps read and write.
	Objects = engine.Objects
)

// The statuses of an execution.
const (
	Running   = history.Running
	Succeeded = history.Succeeded
	Failed    = history.Failed
	TimedOut  = history.TimedOut
	Aborted   = history.Aborted
)

// The errors of this package's methods, for errors.Is.
var (
	// ErrClosed: the engine is closed and takes no more work.
	ErrClosed = engine.ErrClosed
	// ErrAlreadyExists: Start was called with the name of an execution that has ended, or that is running with
	// another input.
	ErrAlreadyExists = engine.ErrAlreadyExists
	// ErrName: Step Functions refuses the name of a state machine or an execution.
	ErrName = errors.New("a name has 1 to 80 characters and no blanks, control characters or any of <>{}[]?*\"#%\\^|~`$&,;:/")
	// ErrInput: the input is not JSON, or larger than 256 KiB.
	ErrInput = engine.ErrInput
	// ErrNoExecution: there is no such execution.
	ErrNoExecution = engine.ErrNoExecution
	// ErrInvalidToken: no execution issued this task token.
	ErrInvalidToken = engine.ErrInvalidToken
	// ErrTaskTimedOut: the task with this token has already ended.
	ErrTaskTimedOut = engine.ErrTaskTimedOut
)

// VirtualTime returns a clock on which waiting takes no time: whenever nothing can run, it jumps to the next due
// time. The caller must close it, after the engine.
func VirtualTime(start time.Time) *Clock { return clock.Virtual(start) }

// Config configures an Engine. The zero Config is an engine in memory that calls nothing.
type Config struct {
	// Dir is the data directory, in which executions outlive the program. If it is empty, they are kept in memory.
	// Only one program at a time may have it open. A Dir needs a Journal.
	Dir string
	// Journal opens the journal in Dir. Use OpenDir of package stepback/engine/journal/pebble. It is not the default,
	// because it links a database that a program with executions in memory does not need. The engine closes the
	// journal.
	Journal func(dir string) (journal.Journal, error)
	// Functions performs the tasks that call Lambda functions. Define refuses a definition that calls another function.
	Functions Functions
	// ErrorName returns the name of a function's error for retriers and catchers. If it is nil or returns "", the
	// package's function ErrorName determines the name.
	ErrorName func(error) string
	// Integrations performs all other tasks, by the service and the action of their Resource. If it has a handler for
	// Lambda functions, Functions must be empty. New copies the registrations.
	Integrations *Integrations
	// Objects stores the items and results of distributed Maps; Files is an implementation. nil means no store.
	Objects Objects
	// Clock is the engine's clock; nil means real time.
	Clock *Clock
	// Observe, if not nil, is called with the whole history of every execution that has ended, including child
	// executions. It runs on a worker of the engine and must return quickly. The slice is valid only during the
	// call.
	Observe func(*Execution, []Event)
	// Recovered, if not nil, lets New return before it has read the executions that the previous program left, of which
	// there may be very many. The engine then accepts everything at once, and a call about an execution that has not
	// been recovered recovers it first. Redrive, a List of retries, and calls about the executions of distributed Maps
	// wait for the end of the recovery. Until then, other Lists may lack Retries, and virtual time stands still.
	// Executions that wait only for timers stay in the journal until a timer fires or a call needs them, which takes a
	// tenth of the memory.
	//
	// Recovered is called once, on a goroutine of the engine, with the number of executions that continue. err is not
	// nil if the journal cannot be read: some executions then do not continue until New is called again. It is not
	// called if the engine is closed first, and must not call Close. If Recovered is nil, New returns at the end of the
	// recovery, with its error.
	Recovered func(executions int, err error)
	// Seed makes jitter and other randomness repeatable; 0 means a random seed.
	Seed uint64
	// Log receives messages for the operator; nil discards them.
	Log *slog.Logger
}

// Engine runs executions of state machines. It is safe for concurrent use.
type Engine struct {
	core      *engine.Engine
	journal   journal.Journal
	clock     *Clock // created here; nil if it belongs to the caller
	errorName func(error) string
	// functions is the set that Define checks definitions against; nil if Integrations has handlers for functions.
	functions Functions
}

// New starts an engine. With a Dir it resumes the executions that had not ended when the previous program did: tasks
// that were running are performed again, and waits continue for the rest of their time. If one of them cannot be read,
// New returns an error and none resumes; see Config.Recovered for many of them. Call Close to stop the engine.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	integrations, err := cfg.integrations()
	if err != nil {
		return nil, err
	}
	e := &Engine{errorName: cfg.errorNamer()}
	if integrations.FunctionHandler() == nil && integrations.Handler("lambda", "invoke") == nil {
		e.functions = cfg.Functions
		if e.functions == nil {
			e.functions = Functions{}
		}
		f := invoker{e.functions, e.errorName}
		integrations.HandleFunctions(lambda.Function{Invoker: f}).
			Handle("lambda", "invoke", lambda.Integration{Invoker: f})
	}
	if e.journal, err = cfg.journal(); err != nil {
		return nil, err
	}
	if cfg.Clock == nil {
		e.clock = clock.Real()
		cfg.Clock = e.clock
	}
	if e.core, err = engine.New(engine.Config{
		Clock: cfg.Clock, Journal: e.journal, Integrations: integrations, Objects: cfg.Objects, Seed: cfg.Seed,
		Observe: cfg.observe(), Log: cfg.Log,
	}); err == nil {
		err = e.recover(ctx, cfg.Recovered)
	}
	if err != nil {
		_ = e.Close() // the first error is more important
		return nil, err
	}
	return e, nil
}

// recover resumes the executions of the previous program: in the background if ended is not nil.
func (e *Engine) recover(ctx context.Context, ended func(int, error)) error {
	if ended == nil {
		_, err := e.core.Recover(ctx)
		return err
	}
	return e.core.RecoverInBackground(func(resumed int, _ *engine.Recovered, err error) { ended(resumed, err) })
}

// integrations returns a copy of Integrations. It returns an error if both it and Functions handle Lambda
// functions.
func (cfg *Config) integrations() (*Integrations, error) {
	own := cfg.Integrations.Clone()
	if len(cfg.Functions) > 0 && (own.FunctionHandler() != nil || own.Handler("lambda", "invoke") != nil) {
		return nil, errors.New("stepback: Config.Functions and Config.Integrations both handle Lambda functions: " +
			"set one of them")
	}
	return own, nil
}

func (cfg *Config) journal() (journal.Journal, error) {
	switch {
	case cfg.Dir == "" && cfg.Journal == nil:
		return journal.NewMemory(), nil
	case cfg.Dir == "":
		return nil, errors.New("stepback: Config.Journal is set but Config.Dir is empty: set Dir to the data directory")
	case cfg.Journal == nil:
		return nil, fmt.Errorf("stepback: Config.Dir is %q but Config.Journal is nil: "+
			`import "stepback/engine/journal/pebble" and set Journal to pebble.OpenDir`, cfg.Dir)
	}
	j, err := cfg.Journal(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("the data directory %s: %w", cfg.Dir, err)
	}
	return j, nil
}

// observe returns Observe in the form that the engine expects.
func (cfg *Config) observe() func(*engine.Execution, []Event) {
	if cfg.Observe == nil {
		return nil
	}
	observe := cfg.Observe
	return func(x *engine.Execution, events []Event) { observe(executionOf(x), events) }
}

// errorNamer returns ErrorName, or its default.
func (cfg *Config) errorNamer() func(error) string {
	if cfg.ErrorName == nil {
		return ErrorName
	}
	hook := cfg.ErrorName
	return func(err error) string {
		if name := hook(err); name != "" {
			return name
		}
		return ErrorName(err)
	}
}

// Close stops the engine and waits for everything it started. Running executions remain in the data directory. It
// returns an error if they cannot be saved.
func (e *Engine) Close() error {
	if e.core != nil {
		e.core.Close()
	}
	if e.clock != nil {
		e.clock.Close()
	}
	return e.journal.Close()
}

// Core returns the underlying engine, for what this package does not offer: Map Runs and their limits, what an
// execution waits for, retries that begin at once, activities, and tests of single states.
func (e *Engine) Core() *engine.Engine { return e.core }
