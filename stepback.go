package stepback

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/tasks/lambda"
)

// The types that applications use. Package engine documents them in detail.
type (
	// Execution describes an execution: its ARN and input, its status, and its output or failure.
	Execution = engine.Execution
	// Event is an event in an execution's history.
	Event = engine.Event
	// Failure is an error name and a cause, as retriers and catchers see them.
	Failure = engine.Failure
	// Status is the status of an execution.
	Status = engine.Status
	// Clock provides the time and timers.
	Clock = clock.Clock
	// Task is a task for an Integration.
	Task = engine.Task
	// Result is the result of a task; engine.TextResult makes one from JSON text.
	Result = engine.Result
	// Integration performs the tasks of a service other than Lambda.
	Integration = engine.Integration
	// Objects stores what distributed Maps read and write.
	Objects = engine.Objects
)

// The statuses of an execution.
const (
	Running   = engine.Running
	Succeeded = engine.Succeeded
	Failed    = engine.Failed
	TimedOut  = engine.TimedOut
	Aborted   = engine.Aborted
)

// VirtualTime returns a clock on which waiting takes no time: whenever nothing can run, it jumps to the next due
// time. The caller must close it, after the engine.
func VirtualTime(start time.Time) *Clock { return clock.Virtual(start) }

// Config configures an Engine. The zero Config is an engine in memory that calls nothing.
type Config struct {
	// Dir is the data directory, in which executions outlive the program. If it is empty, they are kept in memory.
	// Only one program at a time may have it open.
	Dir string
	// Functions performs the tasks that call Lambda functions.
	Functions Functions
	// Integrations performs all other tasks, by service and action: "sns:publish", "aws-sdk:dynamodb:putItem". The
	// entry "aws-sdk" applies to every aws-sdk:service without a separate entry.
	Integrations map[string]Integration
	// Objects is where distributed Maps read items and write results, such as Files; nil means that there are none.
	Objects Objects
	// Clock is the engine's clock; nil means real time.
	Clock *Clock
	// Observe, if not nil, is called for every execution that has ended, with its whole history. It runs on a worker
	// of the engine and must return quickly; the slice is only valid during the call.
	Observe func(*Execution, []Event)
	// Seed makes jitter and other randomness repeatable; 0 means a random seed.
	Seed uint64
	// Log receives messages for the operator; nil discards them.
	Log *slog.Logger
}

// Engine runs executions of state machines. It is safe for concurrent use.
type Engine struct {
	core    *engine.Engine
	journal journal.Journal
	clock   *Clock // created here; nil if it belongs to the caller
}

// New starts an engine. With a Dir it resumes the executions that had not ended when the previous program did: tasks
// that were running are performed again, and waits continue for the rest of their time. Call Close to stop it.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	e := &Engine{journal: journal.NewMemory()}
	if cfg.Dir != "" {
		kept, err := pebble.Open(cfg.Dir, pebble.Config{})
		if err != nil {
			return nil, fmt.Errorf("the data directory %s: %w", cfg.Dir, err)
		}
		e.journal = kept
	}
	if cfg.Clock == nil {
		e.clock = clock.Real()
		cfg.Clock = e.clock
	}
	integrations := map[string]Integration{
		"function":      lambda.Function{Invoker: cfg.Functions},
		"lambda:invoke": lambda.Integration{Invoker: cfg.Functions},
	}
	maps.Copy(integrations, cfg.Integrations)
	var err error
	if e.core, err = engine.New(engine.Config{
		Clock: cfg.Clock, Journal: e.journal, Integrations: integrations, Objects: cfg.Objects, Seed: cfg.Seed,
		Observe: cfg.Observe, Log: cfg.Log,
	}); err == nil {
		_, err = e.core.Recover(ctx)
	}
	if err != nil {
		_ = e.Close() // the first error is more important
		return nil, err
	}
	return e, nil
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

// Core returns the underlying engine, for what this package does not offer: stopping, listing and redriving
// executions, examining Map Runs, reporting with task tokens.
func (e *Engine) Core() *engine.Engine { return e.core }

// Machine is a state machine from which executions can be started.
type Machine struct {
	engine   *Engine
	compiled *engine.StateMachine
}

// Define compiles the definition of a STANDARD state machine in Amazon States Language. Defining a name again only
// affects executions started afterwards. The error for a definition that AWS would reject lists everything that is
// wrong with it.
func (e *Engine) Define(name, definition string) (*Machine, error) {
	return e.define(name, definition, false)
}

// DefineExpress is like Define for an EXPRESS state machine, whose executions are stored only when they end.
func (e *Engine) DefineExpress(name, definition string) (*Machine, error) {
	return e.define(name, definition, true)
}

func (e *Engine) define(name, definition string, express bool) (*Machine, error) {
	m, err := e.core.CreateStateMachine(name, definition, "", express)
	if err != nil {
		return nil, err
	}
	return &Machine{e, m}, nil
}

// Start starts an execution and returns once it is stored. The input is encoded as JSON. If an execution with the
// same name and input is already running, Start returns that one; any other reuse of a name is an error. If name is
// empty, Start generates one.
func (m *Machine) Start(ctx context.Context, name string, input any) (*Run, error) {
	if name == "" {
		name = aws.NewID()
	}
	text, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("the input of %s: %w", name, err)
	}
	started, err := m.engine.core.Start(ctx, &engine.Start{
		Machine: m.compiled, Origin: engine.Origin{Name: name, Input: string(text)},
	})
	if err != nil {
		return nil, err
	}
	return &Run{engine: m.engine, arn: started.ARN, started: started}, nil
}

// Run is a started execution.
type Run struct {
	engine  *Engine
	arn     string
	started *engine.Started // nil if returned by Find
}

// Find returns the execution of a STANDARD machine that was started under a name, by this program or an earlier one.
func (m *Machine) Find(name string) *Run {
	return &Run{engine: m.engine, arn: m.compiled.ExecutionARN(name)}
}

// ARN returns the execution's ARN.
func (r *Run) ARN() string { return r.arn }

// Wait waits until the execution has ended and returns it. A failed execution is not an error.
func (r *Run) Wait(ctx context.Context) (*Execution, error) {
	if r.started != nil {
		return r.started.Wait(ctx)
	}
	return r.engine.core.Wait(ctx, r.arn)
}

// Output waits until the execution has ended and decodes its output into the value that out points to. If the
// execution did not succeed, the error is a *Failure.
func (r *Run) Output(ctx context.Context, out any) error {
	x, err := r.Wait(ctx)
	if err != nil {
		return err
	}
	if x.Status != Succeeded {
		f := x.Failure
		return fmt.Errorf("%s %s: %w", r.arn, x.Status, &f)
	}
	return json.Unmarshal([]byte(x.Output), out)
}

// History returns the execution's events so far.
func (r *Run) History(ctx context.Context) ([]Event, error) { return r.engine.core.History(ctx, r.arn) }
