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

// What an application speaks of. Package engine says more of each.
type (
	// Execution is what is known of an execution: its ARN and input, its status, and its output or failure.
	Execution = engine.Execution
	// Event is one event of an execution's history.
	Event = engine.Event
	// Failure is an error name and a cause, as retriers and catchers see them.
	Failure = engine.Failure
	// Status is that of an execution.
	Status = engine.Status
	// Clock tells the time and rings timers.
	Clock = clock.Clock
	// Task is a task for an Integration.
	Task = engine.Task
	// Result is what a task comes to; engine.TextResult makes one of JSON text.
	Result = engine.Result
	// Integration carries out the tasks of a service other than Lambda.
	Integration = engine.Integration
	// Objects is where a distributed Map reads its items and writes its results.
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

// VirtualTime returns a clock on which waiting takes no time: whenever nothing can run, it jumps to what is due next.
// Whoever made it closes it, after the engine.
func VirtualTime(start time.Time) *Clock { return clock.Virtual(start) }

// Config is what an Engine is made of. The zero Config is an engine in memory that calls nothing.
type Config struct {
	// Dir is the data directory, where executions outlive the program. Empty keeps them in memory. One program at a
	// time may have it open.
	Dir string
	// Functions carry out the tasks that call Lambda functions.
	Functions Functions
	// Integrations carry out other tasks, by service and action: "sns:publish", "aws-sdk:dynamodb:putItem". The entry
	// "aws-sdk" is for every aws-sdk:service without an entry of its own.
	Integrations map[string]Integration
	// Objects is where distributed Maps read items and write results, such as Files; nil when there are none.
	Objects Objects
	// Clock is the engine's; nil is the machine's time.
	Clock *Clock
	// Observe is told of every execution that ended, with its whole history. It runs on a worker of the engine and must
	// be quick; the slice is only valid during the call.
	Observe func(*Execution, []Event)
	// Seed makes jitter and other randomness repeatable; 0 draws a seed.
	Seed uint64
	// Log is told what the operator should know; nil is not called.
	Log *slog.Logger
}

// Engine runs executions of state machines. It is safe for concurrent use.
type Engine struct {
	core    *engine.Engine
	journal journal.Journal
	clock   *Clock // made here; nil when it is the caller's
}

// New starts an engine. With a Dir it goes on with the executions that had not ended when the program before it did:
// tasks that were under way are carried out once more, waits go on for the rest of their time. Close ends it.
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
		_ = e.Close() // the reason says more
		return nil, err
	}
	return e, nil
}

// Close stops the engine and waits for everything it started. Executions that are under way stay as they are in the
// data directory. The error is that of keeping them.
func (e *Engine) Close() error {
	if e.core != nil {
		e.core.Close()
	}
	if e.clock != nil {
		e.clock.Close()
	}
	return e.journal.Close()
}

// Core returns the engine underneath, for what this package has no word for: to stop, list and redrive executions, to
// look at Map Runs, to report by task tokens.
func (e *Engine) Core() *engine.Engine { return e.core }

// Machine is a state machine that executions can be started of.
type Machine struct {
	engine   *Engine
	compiled *engine.StateMachine
}

// Define compiles the definition, in Amazon States Language, of a STANDARD state machine. Defining a name again changes
// what is started from then on. The error of a definition that AWS would refuse lists everything that is wrong with it.
func (e *Engine) Define(name, definition string) (*Machine, error) {
	return e.define(name, definition, false)
}

// DefineExpress is Define for an EXPRESS state machine, whose executions are kept only when they end.
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

// Start starts an execution and returns when that is kept. The input is encoded as JSON. A name that is running with
// the same input already is the same execution; any other use of it is an error. An empty name draws one.
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

// Run is an execution that was started.
type Run struct {
	engine  *Engine
	arn     string
	started *engine.Started // nil when it was found
}

// Find returns the execution of a STANDARD machine that was started by a name, in this program or in an earlier one.
func (m *Machine) Find(name string) *Run {
	return &Run{engine: m.engine, arn: m.compiled.ExecutionARN(name)}
}

// ARN identifies the execution.
func (r *Run) ARN() string { return r.arn }

// Wait waits for the end of the execution and returns what became of it. A failed execution is no error.
func (r *Run) Wait(ctx context.Context) (*Execution, error) {
	if r.started != nil {
		return r.started.Wait(ctx)
	}
	return r.engine.core.Wait(ctx, r.arn)
}

// Output waits for the end of the execution and decodes its output into the value that out points to. The error of an
// execution that did not succeed is a *Failure.
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

// History returns the events of the execution so far.
func (r *Run) History(ctx context.Context) ([]Event, error) { return r.engine.core.History(ctx, r.arn) }
