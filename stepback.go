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

// Types of the packages below. They are aliases, so that what an application gets here can be handed to the packages
// that read histories (retrymetrics, engine/timeline, engine/graph), and so that an Integration of package tasks can be
// registered here.
type (
	// Event is one event of an execution's history.
	Event = history.Event
	// Failure is an error name and a cause, as retriers and catchers see them. As an error it is used by its address.
	Failure = history.Failure
	// Status is the status of an execution, as the API of Step Functions spells it.
	Status = history.Status
	// Retry is a state that failed and waits for its retrier's delay.
	Retry = engine.Retry
	// Clock tells the time and rings timers.
	Clock = clock.Clock
	// Task is a task for an Integration.
	Task = engine.Task
	// Result is the result of a task. engine.TextResult makes one from JSON text.
	Result = engine.Result
	// Integration carries out the tasks of a service other than Lambda.
	Integration = engine.Integration
	// Integrations routes tasks to integrations by service and action, as http.ServeMux routes requests.
	Integrations = engine.Integrations
	// Objects is an object store, where a distributed Map reads its items and writes its results.
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

// Errors of the methods in this package, for errors.Is.
var (
	// ErrClosed: the engine is closed and takes no more work.
	ErrClosed = engine.ErrClosed
	// ErrAlreadyExists: Start was called with a name that was used before, or that is running with another input.
	ErrAlreadyExists = engine.ErrAlreadyExists
	// ErrInput: the input is not JSON, or larger than 256 KiB.
	ErrInput = engine.ErrInput
	// ErrNoExecution: there is no such execution.
	ErrNoExecution = engine.ErrNoExecution
	// ErrInvalidToken: no execution handed out this task token.
	ErrInvalidToken = engine.ErrInvalidToken
	// ErrTaskTimedOut: the task of this token is over.
	ErrTaskTimedOut = engine.ErrTaskTimedOut
)

// VirtualTime returns a clock on which waiting takes no time: whenever nothing can run, it jumps to what is due next.
// Close the clock after the engine.
func VirtualTime(start time.Time) *Clock { return clock.Virtual(start) }

// Config configures an Engine. The zero Config is an engine that keeps executions in memory and calls nothing.
type Config struct {
	// Dir is the data directory, where executions outlive the program. One program at a time may have it open. Empty
	// keeps executions in memory. A Dir needs a Journal.
	Dir string
	// Journal opens the journal in Dir. The project's own is OpenDir of package stepback/engine/journal/pebble. It is
	// not built in, because it links a database that a program with executions in memory does not need. The engine
	// closes the journal.
	Journal func(dir string) (journal.Journal, error)
	// Functions carry out the tasks that call Lambda functions. Define refuses a definition that calls another one.
	Functions Functions
	// ErrorName names the error of a function for retriers and catchers. An empty name stands for the default, which is
	// that of the function ErrorName. nil always means the default.
	ErrorName func(error) string
	// Integrations carry out other tasks, by the service and the action of their Resource. Handlers for Lambda
	// functions in it take the place of Functions, which must be empty then. New copies the registrations.
	Integrations *Integrations
	// Objects is where distributed Maps read items and write results, such as Files; nil if there are none.
	Objects Objects
	// Clock is the engine's clock. nil is the machine's time.
	Clock *Clock
	// Observe is called with every execution that ended, child executions included, and its whole history. It runs on a
	// worker of the engine and must be quick. The slice is only valid during the call.
	Observe func(*Execution, []Event)
	// Seed makes jitter and other randomness repeatable. 0 draws a seed.
	Seed uint64
	// Log gets what the operator should know. nil discards it.
	Log *slog.Logger
}

// Engine runs executions of state machines. It is safe for concurrent use.
type Engine struct {
	core      *engine.Engine
	journal   journal.Journal
	clock     *Clock // made here; nil if it is the caller's
	errorName func(error) string
	// functions are those that Define checks definitions against; nil if Integrations has handlers for functions.
	functions Functions
}

// New starts an engine. With a Dir it continues the executions that had not ended when an earlier program stopped:
// tasks that were under way are carried out once more, waits last for the rest of their time. Close ends the engine.
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
		_, err = e.core.Recover(ctx)
	}
	if err != nil {
		_ = e.Close() // err is the reason
		return nil, err
	}
	return e, nil
}

// integrations returns a copy of the Integrations. The error says that two handle Lambda functions.
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

// observe converts Observe for the engine.
func (cfg *Config) observe() func(*engine.Execution, []Event) {
	if cfg.Observe == nil {
		return nil
	}
	observe := cfg.Observe
	return func(x *engine.Execution, events []Event) { observe(executionOf(x), events) }
}

// errorNamer returns ErrorName with its default.
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

// Close stops the engine and waits for everything that it started. Executions that are under way stay in the data
// directory as they are. The error is the journal's.
func (e *Engine) Close() error {
	if e.core != nil {
		e.core.Close()
	}
	if e.clock != nil {
		e.clock.Close()
	}
	return e.journal.Close()
}

// Core returns the engine underneath, for what this package does not have: Map Runs and their limits, what an execution
// waits for, retries that begin at once, and tests of single states.
func (e *Engine) Core() *engine.Engine { return e.core }
